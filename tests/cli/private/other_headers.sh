# Files that were put one after the other into one: a header with the columns in another order is a
# bad record, as anyone might have written it, and decides nothing. But the curator is warned before
# anything is spent, also with -q: users below it were read as items, and their wishes are lost.
XDG_STATE_HOME=$PWD/state
export XDG_STATE_HOME
seq -f 'i%g' 9 >items.txt
dpmf ledger init -q
header() {
    printf '%s\nbob,i1,3\nann,i2,5\n%s\ni3,ann,4\n' "$1" "$2" >ratings.csv
}
private() {
    dpmf train ratings.csv -o r.safetensors --epsilon 1 --rating-range 1:5 --catalogue items.txt \
        --population p --delta 1e-5 --insecure-noise-seed 1 "$@" 2>&1 >json |
        grep 'contradict the header'
    rm -f r.safetensors
}
for second in item,user,rating 'Movie ID,userId,stars' '"item","user","rating"' user,item,rating; do
    header user,item,rating "$second"
    echo "$second"
    private -q
    dpmf describe ratings.csv
done
echo with a byte order mark
for second in item,user,rating '"item","user","rating"'; do
    header user,item,rating $'\xef\xbb\xbf'"$second"
    private -q
done
echo other names
header kunde,artikel,note artikel,kunde,note
private -q --columns user,item,rating --format csv --separator ,
echo other columns
printf 'user,item,rating\nbob,i1,3\nuser,item,rating,time\nann,i2,5,1\n' >ratings.csv
private -q --json
grep -o '"other_headers":1' json
echo events
printf 'user,item,time\nbob,i1,3\ntime,user,item\n4,ann,i2\n' >ratings.csv
dpmf import ratings.csv -q --on-error skip -o e.dpr 2>&1
printf 'user,item,genre\nbob,i1,b\ngenre,user,item\na,ann,i2\n' >ratings.csv
dpmf import ratings.csv -q --events --on-error skip -o e.dpr 2>&1
dpmf export -q e.dpr --csv -
echo "other ways to a store"
header user,item,rating item,user,rating
dpmf shard ratings.csv -q --on-error skip --parts 2 -o shards 2>&1 | cut -c1-80
dpmf split ratings.csv -q --on-error skip --test-fraction 0.5 --seed 1 \
    --train a.dpr --test b.dpr 2>&1 | cut -c1-80
echo "another type of ids"
printf 'user_id:token\titem_id:token\trating:float\n7\ti1\t3\nuser_id:float\titem_id:token\trating:float\n7.0\ti2\t3\n' >r.inter
dpmf import r.inter -q --on-error skip -o i.dpr 2>&1 | cut -c1-80
