printf 'user,item,rating\n7,1,1\n8,1,2\n' >in.csv
mkdir shards
dpmf shard in.csv --parts 2 -o shards
status=$?
ls shards
exit $status
