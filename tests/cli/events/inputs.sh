# Events as files have them: with counts, without, with times, declared and not
printf 'user,item,plays\nann,x,3\nbob,x,2\nann,x,4\n' >plays.csv
printf '1,10\n1,20\n2,10\n' >pairs.csv
printf 'kim;a;7\nlee;a;9\n' >times.csv
printf 'user_id:token\titem_id:token\tsession:token\n1\t2\t9\n' >a.inter
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2\n' >a.mtx
printf '{"user":1,"item":2}\n{"user":1,"item":3,"clicks":4}\n' >a.jsonl
show() {
    dpmf import -q "$@" -o e.dpr && dpmf export -q e.dpr --csv -
}
show plays.csv
show pairs.csv
show times.csv --format csv --separator ';' --columns user,item,timestamp
show a.inter --events
show a.mtx
show - <a.jsonl
show plays.csv pairs.csv
