# Numbers at both ends of what a double holds, as people can read them.
printf 'user,item,rating\n1,1,1e300\n1,2,3e300\n2,1,4.123456789e299\n' >huge.csv
printf 'user,item,rating\n1,1,1e-300\n1,2,3e-300\n2,1,4.123456789e-299\n' >tiny.csv
printf 'user,item,rating\n1,1,100000000\n1,2,100000003.5\n2,1,100000001\n' >far.csv
for file in huge tiny far; do dpmf describe $file.csv | grep -E 'scale|mean'; done
