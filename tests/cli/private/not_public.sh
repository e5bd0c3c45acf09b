# Tables about people are no public tables of items: not under their own names, not through links,
# and not when their header gives them away
dpmf ledger init -q l
printf 'item,kind\ni1,a\ni2,a\ni3,a\ni4,b\ni5,b\ni6,b\n' >items
{ echo user,item,rating; for u in 1 2 3; do for i in 1 2 3 4 5 6; do echo "u$u,i$i,$u"; done
done; } >r.csv
tail -n +2 r.csv >rows.csv
printf 'user,epsilon\nu1,0\n' >wishes
printf 'u1,0\n' >bare
try() {
    dpmf train --replace -q --epsilon 1 --rating-range 1:5 --ledger l -o x.safetensors "$@" 2>&1
    echo "exit $?"
}
echo 1. ratings as features
try r.csv --catalogue items --item-features r.csv
printf 'item,year,user_id\ni1,1990,u1\n' >features
try r.csv --catalogue items --item-features features
echo 2. ratings as catalogue
ln -s r.csv soft
ln r.csv hard
try r.csv --catalogue soft
try r.csv --catalogue hard
cp r.csv copy.csv
try r.csv --catalogue copy.csv
declared=(--format csv --separator , --columns user,item,rating)
try rows.csv "${declared[@]}" --catalogue rows.csv
try - "${declared[@]}" --catalogue /dev/stdin <rows.csv
printf 'item,rating\ni1,3\n' >rated
try r.csv --catalogue rated
echo 3. wishes as catalogue
try r.csv --catalogue wishes
try r.csv --catalogue bare --user-privacy bare
printf 'epsilon\n1\n' >epsilons
try r.csv --catalogue epsilons
echo 4. tables of items
try r.csv --catalogue items --item-features items --user-privacy wishes
echo 5. other names of people, and copies without a header
for name in username Rater e-mail memberNo user:token; do
    sed "1s/.*/item,$name/" items >features
    try r.csv --catalogue items --item-features features | sed "s/^/$name: /"
done
try r.csv --catalogue features
{ echo '# of the shop'; cat items; } >commented
try r.csv --catalogue commented
cp rows.csv other
try r.csv --catalogue other
cut -d, -f1 rows.csv >users
try r.csv --catalogue users
echo 6. a column that nobody knows is declared
sed '1s/kind/x/' items >features
try r.csv --catalogue items --item-features features
sed '1s/kind/public:x/' items >features
try r.csv --catalogue items --item-features features
