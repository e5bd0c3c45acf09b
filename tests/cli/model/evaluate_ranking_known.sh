# What is in the history of a user is not looked for, also where the model does not know it
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf '%s\n' user,item,rating ann,unheard,3 ann,solaris,4 bob,unheard,2 bob,unseen,2 bob,dune,4 \
    cleo,unheard,3 >test.csv
printf '%s\n' user,item,rating ann,unheard,3 ann,dune,5 bob,alien,4 cleo,unheard,3 cleo,other,1 \
    >history.csv
# ann's one item is found, of bob's three one is, and cleo has none: (1 + 1/3) / 2
dpmf evaluate m.safetensors test.csv --ranking -n 2 --history history.csv -q |
    grep -E '^(recall@2|users ranked) +[0-9.]+$'
# Without the history there are ann's one of two, bob's one of three, and cleo's none: 5/18
dpmf evaluate m.safetensors test.csv --ranking -n 4 -q |
    grep -E '^(recall@4|users ranked) +[0-9.]+$'
