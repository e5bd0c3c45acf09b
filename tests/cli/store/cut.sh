# A store cut at any byte is refused with status 3.
printf 'user,item,rating\nann,dune,1\nbob,solaris,2.5\n' >in.csv
dpmf import -q in.csv -o r.dpr
size=$(stat -c %s r.dpr)
for ((n = 8; n < size; n += 3)); do
    head -c "$n" r.dpr >cut.dpr
    dpmf describe cut.dpr >/dev/null 2>error
    status=$?
    [[ $status == 3 ]] || echo "cut at $n: status $status"
    grep -q '^dpmf: error: cut.dpr: ' error || { echo "cut at $n:"; cat error; }
done
head -c $((size / 2)) r.dpr >half.dpr
dpmf describe half.dpr
