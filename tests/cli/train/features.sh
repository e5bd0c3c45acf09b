# What is known about items and users: rows with few ratings are drawn to those like them, and what
# has no ratings is placed when a model is used. People like their own kind of items.
awk 'BEGIN { print "user,item,rating"
  for (u = 0; u < 60; u++) for (i = 0; i < 40; i++) if ((7 * u + 3 * i) % 5)
    print "u" u ",i" i "," (u % 2 == i % 2 ? 5 : 1) }' >ratings.csv
awk 'BEGIN { print "user,item,rating"
  for (u = 50; u < 70; u++) for (i = 30; i < 50; i++) if ((7 * u + 3 * i) % 5)
    print "u" u ",i" i "," (u % 2 == i % 2 ? 5 : 1) }' >test.csv
kinds='{ print $1 "," ($2 % 2 ? "odd" : "even") }'
{ echo item,kind && seq 0 49 | awk '{ print "i" $1, $1 }' | awk "$kinds"; } >items.csv
{ echo user,kind && seq 0 69 | awk '{ print "u" $1, $1 }' | awk "$kinds"; } >users.csv
dpmf train ratings.csv -k 4 --no-adapt --deterministic -o plain.safetensors -q
dpmf train ratings.csv -k 4 --no-adapt --deterministic --item-features items.csv \
    --user-features users.csv -o m.safetensors -q
cmp -s plain.safetensors m.safetensors || echo "features change the model"
dpmf describe m.safetensors --json | grep -o 'item_features[^,]*true,[^,]*user_features[^,}]*true'
echo "without the tables:"
dpmf evaluate m.safetensors test.csv | cut -d. -f1
echo "with them:"
dpmf evaluate m.safetensors test.csv --item-features items.csv --user-features users.csv >with
cut -d. -f1 with
echo "in JSON:"
dpmf evaluate m.safetensors test.csv --item-features items.csv --json -q |
    grep -o '"cold":[0-9]*,"cold_rmse"'
echo "a new item, an odd one, for an odd user and an even one:"
dpmf predict m.safetensors --user u1 --item i45 --item-features items.csv -q | tail -1 | cut -d. -f1
dpmf predict m.safetensors --user u2 --item i45 --item-features items.csv -q | tail -1 | cut -d. -f1
echo "a new user:"
dpmf recommend m.safetensors --user u61 --user-features users.csv -n 20 -q |
    grep -c 'i[0-9]*[13579]\b'
echo "models that rank, and means of samples:"
dpmf train ratings.csv --goal ranking --like 4 -k 4 -o rank.safetensors -q
dpmf recommend rank.safetensors --user u61 --user-features users.csv -n 20 -q |
    grep -c 'i[0-9]*[13579]\b'
dpmf train ratings.csv --solver gibbs --average -k 2 --epochs 40 -o mean.safetensors -q 2>/dev/null
dpmf evaluate mean.safetensors test.csv --item-features items.csv --user-features users.csv -q |
    grep -o 'RMSE cold *0'
dpmf predict mean.safetensors --user u1 --item i45 --item-features items.csv --intervals -q |
    tail -1 | grep -o ',,$'
echo "refused:"
refuse() { "$@" >out 2>&1; echo "status $?"; grep -v '^ *$' out; }
refuse dpmf train ratings.csv --solver gibbs --item-features items.csv -o x.safetensors -q
refuse dpmf train ratings.csv --goal ranking --user-features users.csv -o x.safetensors -q
refuse dpmf train test.csv --continue m.safetensors --item-features items.csv -o x.safetensors -q
refuse dpmf train ratings.csv --item-features users.csv -o x.safetensors -q
refuse dpmf train ratings.csv --user-features items.csv -o x.safetensors -q
refuse dpmf train ratings.csv --item-features ratings.csv -o x.safetensors -q
refuse dpmf train ratings.csv --item-features missing.csv -o x.safetensors -q
printf 'item,size\ni1,1\ni2,nan\ni3,7\ni4,2\n' >nan.csv
refuse dpmf train ratings.csv --item-features nan.csv -o x.safetensors -q
printf 'item,kind\na,x\nb,y\nc,x\nd,y\ne,x\nf,y\n' >strangers.csv
refuse dpmf train ratings.csv --item-features strangers.csv -o x.safetensors -q
refuse dpmf evaluate m.safetensors test.csv --item-features strangers.csv -q
refuse dpmf predict m.safetensors --user u61 --item i1 --user-features users.csv \
    --history test.csv -q
refuse dpmf train ratings.csv --epsilon 1 --rating-range 1:5 --catalogue items.csv \
    --user-features users.csv -o x.safetensors -q
test ! -e x.safetensors
