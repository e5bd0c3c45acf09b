# So is a store with any bit flipped.
printf 'user,item,rating\nann,dune,1\nbob,solaris,2.5\n' >in.csv
dpmf import -q in.csv -o r.dpr
size=$(stat -c %s r.dpr)
for ((n = 8; n < size; n += 3)); do
    byte=$(od -An -tu1 -j "$n" -N 1 r.dpr)
    cp r.dpr flipped.dpr
    # shellcheck disable=SC2059
    printf "\\x$(printf %x $((byte ^ (1 << n % 8))))" |
        dd of=flipped.dpr bs=1 seek="$n" conv=notrunc status=none
    dpmf describe flipped.dpr >/dev/null 2>error
    status=$?
    [[ $status == 3 ]] || echo "flipped at $n: status $status"
    grep -q '^dpmf: error: flipped.dpr: ' error || { echo "flipped at $n:"; cat error; }
done
