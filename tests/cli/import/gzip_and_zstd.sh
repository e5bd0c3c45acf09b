printf 'user,item,rating\nann,dune,4.5\n' | gzip >in.csv.gz
dpmf import -q in.csv.gz -o r.dpr && dpmf export -q r.dpr --csv -
command -v zstd >/dev/null || exit 0
printf 'user,item,rating\nann,dune,4.5\n' | zstd -q >in.csv.zst
dpmf import -q in.csv.zst -o z.dpr && cmp r.dpr z.dpr
