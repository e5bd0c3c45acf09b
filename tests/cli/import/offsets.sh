# Times as psql writes them: the same store as in seconds
cat >offsets.csv <<'END'
user,item,rating,timestamp
1,1,1,2005-09-06 12:34:56+00
1,2,1,2005-09-06 12:34:56+00:00
1,3,1,2005-09-06 12:34:56+02:00
1,4,1,2005-09-06T12:34:56-0330
1,5,1,2005-09-06 12:34:56.789+02
1,6,1,1969-12-31 23:59:59.5Z
END
cat >seconds.csv <<'END'
user,item,rating,timestamp
1,1,1,1126010096
1,2,1,1126010096
1,3,1,1126002896
1,4,1,1126022696
1,5,1,1126002896
1,6,1,-1
END
dpmf import -q offsets.csv -o offsets.dpr && dpmf import -q seconds.csv -o seconds.dpr &&
    cmp offsets.dpr seconds.dpr
echo "exit $?"
for offset in +16 +2 +02:60 +02:00Z; do
    printf 'user,item,rating,timestamp\n1,1,1,2005-09-06 12:34:56%s\n' "$offset" >bad.csv
    dpmf import bad.csv -o bad.dpr
    echo "exit $?"
done
