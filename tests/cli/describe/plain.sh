printf 'user,item,rating,timestamp\nann,dune,4.5,1000000000\nann,solaris,3,1000000100\nbob,dune,5,1100000000\ncleo,dune,4.5,1200000000\n' >in.csv
# Without UTF-8 the bars are of #.
LC_ALL=C dpmf describe in.csv | tail -n 5
