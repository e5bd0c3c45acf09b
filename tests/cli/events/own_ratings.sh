# To a model of events a rating is one event, however high: in a history and in a table that names
# it; two columns without names are an item and its count
printf '%s\n' user,item,plays ann,a,3 ann,b,1 bob,a,2 bob,c,1 cleo,b,9 cleo,c,1 dan,a,1 dan,d,1 \
    >plays.csv
dpmf train -q plays.csv -k 2 --count-weight 0.5 --deterministic -o w
once() { cmp - <(dpmf recommend -q w --ratings a,b | sed 's/^/ /') && echo "$1"; }
recommend() { dpmf recommend -q w "$@" | sed 's/^/ /'; }
printf '%s\n' item,rating a,5 b,4.5 >mine.csv
recommend --ratings mine.csv | once table
printf '%s\n' user,item,rating me,a,5 me,b,4.5 >history.csv
recommend --ratings history.csv | once 'table of one user'
recommend --user me --history history.csv | once history
printf '%s\n' '{"item":"a","rating":5}' '{"item":"b","rating":4}' |
    sed 's/{/{"user":"me",/' >mine.jsonl
recommend --ratings mine.jsonl | once 'JSON lines'
printf '%s\n' a,2 b,300 >pairs.csv
recommend --ratings pairs.csv | cmp - <(recommend --ratings a:2,b:300) && echo counts
printf '%s\n' a,2 b,0 >pairs.csv
recommend --ratings pairs.csv
most=9007199254740991
printf '%s\n' a,$most a,$most b,1 >most.csv
recommend --ratings most.csv | cmp - <(recommend --ratings a:$most,b:1) && echo 'the most'
