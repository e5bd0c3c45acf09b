# The counts of one's own table weigh as much without a column of users as with one
printf '%s\n' user,item,plays ann,a,3 ann,b,1 bob,a,2 bob,c,1 cleo,b,9 cleo,c,1 dan,a,1 dan,d,1 \
    >plays.csv
dpmf train -q plays.csv -k 2 --count-weight 0.5 -o w.safetensors
recommend() {
    dpmf recommend w.safetensors --ratings "$@" -n 5
}
recommend a:2,b:300 >pairs
printf '%s\n' user,item,plays me,a,2 me,b,300 >users.csv
recommend users.csv | cmp - pairs && echo 'with users'
for header in item,plays item,count; do
    printf '%s\n' "$header" a,2 b,300 >mine.csv
    recommend mine.csv | cmp - pairs && echo "$header"
done
printf '%s\n' plays,rating,item 2,5,a 300,1,b >mine.csv
recommend mine.csv --events | cmp - pairs && echo 'counts, not ratings, of events'
printf '%s\n' item a b >items.csv
recommend items.csv | cmp -s - pairs || echo 'once is less'
# What is no count is said, as of a table with users
for count in abc 0 -4 1.7 nan 1e300 ''; do
    printf '%s\n' item,plays a,2 "b,$count" >mine.csv
    recommend mine.csv
    echo "exit $?"
done
recommend mine.csv --on-error skip >skipped
recommend a:2 | cmp - skipped && echo 'skipped'
# To a model of likes an event is a like, however seldom
printf '%s\n' user,item,rating ann,a,5 ann,b,4 bob,a,5 bob,c,2 cleo,b,5 cleo,d,4 >rated.csv
dpmf train -q rated.csv --goal ranking --like 4 -k 2 -o likes.safetensors
printf '%s\n' item,plays a,1 b,2 >mine.csv
dpmf recommend likes.safetensors --ratings mine.csv -n 2 >counts
dpmf recommend likes.safetensors --ratings a:5,b:5 -n 2 | cmp - counts && echo 'likes'
