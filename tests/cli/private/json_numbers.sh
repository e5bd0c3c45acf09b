# One number is one person, however JSON writes it: the wish for 1, or for 1.0, is for all of it
dpmf ledger init -q l
printf 'item\n1\n2\n3\n' >items
printf '{"user":%s,"item":%s,"rating":3}\n' 1 1 1.0 2 1e0 3 2 1.0 >r.jsonl
for id in 1 1.0; do
    printf 'user,epsilon\n%s,0\n' $id >wishes
    dpmf train --replace \
        -q r.jsonl --format jsonl --epsilon 1 --rating-range 1:5 --catalogue items \
        --user-privacy wishes --ledger l \
        -o x.safetensors --json | grep -o '"users":[^w]*'
done
# also where it is not whole
printf '{"user":%s,"item":%s,"rating":3}\n' 1.5 1 1.50 2 15e-1 3 2 1.0 >r.jsonl
for id in 1.5 1.50 15e-1; do
    printf 'user,epsilon\n%s,0\n' $id >wishes
    dpmf train --replace \
        -q r.jsonl --format jsonl --epsilon 1 --rating-range 1:5 --catalogue items \
        --user-privacy wishes --ledger l \
        -o x.safetensors --json | grep -o '"users":[^w]*'
done
