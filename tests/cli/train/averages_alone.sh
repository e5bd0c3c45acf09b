# Vectors that do not help are 0, not the small numbers that they began as: nothing to compare.
dpmf synth --users 400 --items 80 --ratings 4000 --rank 1 --noise 3 -o r.dpr -q
dpmf train r.dpr -k 8 --deterministic -j 1 -o one --progress never 2>&1 |
    grep -o 'vectors did not.*'
dpmf similar one --item 5
echo "$?"
dpmf export one --csv v --not-private -q
cut -d, -f3- v/items.csv | tail -n +2 | sort -u | tail -n 1
# It is the same for any number of threads, and where a run goes on.
dpmf train r.dpr -k 8 --deterministic -j 3 -o three -q
cmp one three
dpmf train r.dpr -k 8 --deterministic --snapshot s --snapshot-every 5 -o whole -q
dpmf train r.dpr -k 8 --deterministic --resume s -o resumed -q
cmp whole resumed
dpmf train r.dpr -k 8 -o free -q && dpmf similar free --item 5
