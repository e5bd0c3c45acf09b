# What a ranking does not measure is reported, and zeros of nobody are not taken for a bad model
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf '%s\n' user,item,rating ann,solaris,4 bob,dune,3 eve,dune,3 eve,alien,5 fay,alien,5 >some.csv
printf '%s\n' user,item,rating eve,dune,3 eve,alien,5 >strangers.csv
printf '%s\n' user,item,rating ann,dune,5 bob,alien,4 eve,dune,1 >had.csv
printf '%s\n' user,item,rating ann,dune,5 bob,alien,4 >known.csv
ranked() {
    dpmf evaluate m.safetensors "$@" --ranking -n 2 >page
    echo "$?: $(grep '^users ranked' page)"
}
ranked some.csv
ranked strangers.csv
ranked known.csv --history known.csv
ranked known.csv --like 9
ranked known.csv
dpmf evaluate m.safetensors strangers.csv --ranking --json | grep -o '"ranked_users":0'
# A model that ranks predicts no ratings, and says what it leaves out all the same
printf '%s\n' user,item ann,a ann,b bob,a bob,c cleo,b cleo,c >plays.csv
printf '%s\n' user,item ann,c eve,a eve,b >later.csv
dpmf train -q plays.csv -k 2 --epochs 2 -o e.safetensors
dpmf evaluate e.safetensors later.csv --history plays.csv -n 1 | grep '^users ranked'
