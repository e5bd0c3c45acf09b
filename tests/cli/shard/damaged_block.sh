# Damage is told with the file that has it, and with the block as that file counts them.
dpmf synth -q --users 9000 --items 80 --ratings 90000 -o r.dpr
dpmf shard -q r.dpr --parts 3 -o shards
printf 'x' | dd of=shards/00001.dpr bs=1 seek=300 conv=notrunc status=none
for verb in "describe shards" "import shards -o x.dpr" "train shards -o m" \
    "split shards --train a --test b" "export shards --csv -" "shard shards --parts 2 -o again"; do
    # shellcheck disable=SC2086 # words they are
    dpmf $verb -q >/dev/null
    echo "status $?"
done
truncate -s -1000 shards/00002.dpr
dpmf describe shards
