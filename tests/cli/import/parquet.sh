# Parquet files of four writers, in all encodings and compressions: the same records as from CSV.
# What is refused, and that nothing is written then. A seed of the fuzzer has a byte of options
# before the file.
seeds=$CLI_TESTS/../fuzz/corpus/parquet
cat >rows.csv <<'END'
user,item,rating,timestamp
ann,10,5,1000000000
bob,10,3.5,
ann,20,1,1000000002
someone with a longer name,20,2,1000000003
bob,30,4,
ann,30,4.5,1000000005
eve,10,3,1000000006
END
dpmf import rows.csv -o rows.dpr -q
dpmf export rows.dpr --csv - -q >rows.out
for name in delta duckdb gaps groups gzip lengths lz4 nested pages polars snappy zstd; do
    tail -c +2 "$seeds/$name" >"$name.parquet"
    dpmf import "$name.parquet" -o "$name.dpr" -q
    dpmf export "$name.dpr" --csv - -q | cmp - rows.out && echo "$name: the same"
done
for name in fastparquet types; do
    tail -c +2 "$seeds/$name" >"$name.parquet"
    dpmf import "$name.parquet" -o "$name.dpr" -q
    dpmf export "$name.dpr" --csv - -q
done
# No rows at all: refused alone, and read as a part of a folder.
mkdir parts
tail -c +2 "$seeds/empty" >parts/1.parquet
cp zstd.parquet parts/2.parquet
cp parts/1.parquet parts/3.parquet
dpmf import parts/1.parquet -o never.dpr
dpmf import parts -o parts.dpr -q
dpmf export parts.dpr --csv - -q | cmp - rows.out && echo "parts: the same"
dpmf import - --format parquet -o never.dpr <zstd.parquet
cat zstd.parquet | dpmf import - -o never.dpr
tail -c +2 "$seeds/nulls" >nulls.parquet
dpmf import nulls.parquet -o never.dpr
dpmf import nulls.parquet --on-error skip -o nulls.dpr -q && dpmf describe nulls.dpr | head -1
tail -c +2 "$seeds/brotli" >brotli.parquet
dpmf import brotli.parquet -o never.dpr
dpmf import nested.parquet --item-column note -o never.dpr
dpmf import zstd.parquet --rating-column user --user-column item --item-column rating -o never.dpr
dpmf import zstd.parquet --user-column who -o never.dpr
# By their places, where their names say otherwise; by their names all is possible.
dpmf import zstd.parquet --columns item,user,rating,timestamp -o never.dpr
dpmf import zstd.parquet --columns user,item,timestamp,rating -o never.dpr
dpmf import zstd.parquet --columns user,item,count,timestamp -o never.dpr
dpmf import zstd.parquet --columns user,item,rating,_ -o places.dpr -q
dpmf import zstd.parquet --user-column item --item-column user -o named.dpr -q
dpmf describe named.dpr | head -1
# Cut off, damaged in a page with a checksum, two in one, a footer of something else.
head -c 600 zstd.parquet >cut.parquet
dpmf import cut.parquet -o never.dpr
cp zstd.parquet flipped.parquet
printf '\252' | dd of=flipped.parquet bs=1 seek=80 conv=notrunc status=none
dpmf import flipped.parquet --on-error skip -o never.dpr
cat zstd.parquet zstd.parquet >two.parquet
dpmf import two.parquet --on-error skip -o never.dpr
{ head -c -4 zstd.parquet; printf PARE; } >secret.parquet
dpmf import secret.parquet -o never.dpr
printf PAR1 >short.parquet
dpmf import short.parquet -o never.dpr
ls never.dpr 2>/dev/null
exit 0
