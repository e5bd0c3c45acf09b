# A folder of Parquet files, and patterns: all of them in the order of their names, the last rating
# of a pair wins; what does not belong there is refused by its name, and nothing is written.
seeds=$CLI_TESTS/../fuzz/corpus/parquet
mkdir -p ratings/day=1 ratings/day=2
for i in $(seq 1 100); do
    tail -c +2 "$seeds/zstd" >"ratings/day=$((i % 2 + 1))/part-$i.parquet"
done
tail -c +2 "$seeds/duckdb" >ratings/.hidden.parquet
touch ratings/_SUCCESS
dpmf import ratings -o folder.dpr -q
dpmf import 'ratings/*/*.parquet' -o pattern.dpr -q
dpmf import ratings/*/*.parquet -o files.dpr -q
cmp folder.dpr files.dpr && cmp pattern.dpr files.dpr && echo "the same"
dpmf describe ratings -q | grep '^ratings'
dpmf train 'ratings/*' -o model.safetensors -q -k 2 --epochs 1 && echo "trained"
dpmf import 'ratings/*.csv' -o never.dpr
touch ratings/notes.txt
dpmf import ratings -o never.dpr
rm ratings/notes.txt
mkdir ratings/rating=5
mv ratings/day=1 ratings/rating=5/day=1
dpmf import ratings -o never.dpr
mv ratings/rating=5/day=1 ratings/day=1
rmdir ratings/rating=5
for log in _delta_log .hoodie day=1/_delta_log; do
    mkdir "ratings/$log"
    dpmf import ratings -o never.dpr
    dpmf import 'rating*' -o never.dpr
    rmdir "ratings/$log"
done
# A pipe would be waited for.
mkfifo ratings/pipe.parquet
timeout -s KILL 20 dpmf import ratings -o never.dpr
rm ratings/pipe.parquet
# A link to a file is as good as the file, one to nowhere is not.
ln -s day=1/part-2.parquet ratings/link.parquet
mv ratings/day=1/part-2.parquet part-2.parquet
dpmf import ratings -o never.dpr
mv part-2.parquet ratings/day=1/part-2.parquet
dpmf import ratings -o linked.dpr -q && cmp linked.dpr folder.dpr && echo "with a link: the same"
mkdir empty
dpmf import empty -o never.dpr
ls never.dpr 2>/dev/null
exit 0
