printf 'user,item,rating\n7,1,1\n8,1,2\n' >in.csv
dpmf shard in.csv --parts 3 -o shards
status=$?
ls
exit $status
