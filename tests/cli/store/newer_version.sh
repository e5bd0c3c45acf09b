# The version stands in the four bytes after the magic.
printf 'user,item,rating\nann,dune,1\n' >in.csv
dpmf import -q in.csv -o r.dpr
printf '\x63' | dd of=r.dpr bs=1 seek=8 conv=notrunc status=none
dpmf describe r.dpr
