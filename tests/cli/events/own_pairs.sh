# Pairs for a model of events are an item and its count, or an item alone
printf '%s\n' user,item,plays ann,a,3 ann,b:x,1 bob,a,2 bob,c,1 cleo,b:x,9 cleo,c,1 dan,a,1 \
    dan,d:2,1 >plays.csv
dpmf train -q plays.csv -k 2 --count-weight 0.5 -o w.safetensors
try() {
    dpmf recommend w.safetensors --ratings "$@" -n 1 >list
    echo "exit $?"
    awk 'NR > 1 { print $NF }' list
}
for value in nan abc 0 -3 0.5 1e300 ''; do
    try "c,a:$value"
done
try a:1:2,a:x:1
try 'a:1;c:2'
try c,a:0 --on-error skip
try c,a:5 --rescale 1:5=1:10
printf '%s\n' item,plays a,2 >mine.csv
try mine.csv --rating-range 1:5
# What the model knows is an item, whatever it looks like
for id in b:x d:2; do
    printf '%s\n' item "$id" >mine.csv
    dpmf recommend w.safetensors --ratings mine.csv >file
    dpmf recommend w.safetensors --ratings "$id" | cmp - file
    dpmf recommend w.safetensors --ratings "$id:1" | cmp - file && echo "$id"
done
# Ratings may be anything on their scale, and are numbers
printf '%s\n' user,item,rating ann,a,0.5 ann,b,-1 bob,a,0 bob,c,2 >rated.csv
dpmf train -q rated.csv --goal ranking -k 2 -o r.safetensors
dpmf recommend r.safetensors --ratings a:0,b:-1 | awk 'NR > 1 { print $NF }'
dpmf recommend r.safetensors --ratings a:abc
echo "exit $?"
