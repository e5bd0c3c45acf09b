# One record does not decide whether there is a release: without any that is usable it is one of
# noise, from whatever is read record by record. Everything else still refuses to begin with
# nothing.
dpmf ledger init -q l
printf 'item\na\nb\nc\n' >items
printf 'user,item,rating\n' >header.csv
printf 'user,item,rating\nx,y\n,a,3\n' >bad.csv
: >nothing
try() {
    dpmf train --replace -q "$@" --epsilon 1 --rating-range 1:5 --catalogue items --ledger l \
        -o x.safetensors 2>&1
    echo "exit $?"
}
try header.csv
dpmf privacy verify -q x.safetensors >/dev/null; echo "verified $?"
try bad.csv
try bad.csv --mechanism posterior
for format in movielens u.data libmf jsonl; do try nothing --format $format; done
try nothing --format csv --separator , --columns user,item,rating
try nothing
dpmf import -q bad.csv --on-error skip -o r.dpr 2>&1
try r.dpr
for solver in sgd gibbs sgld ials; do dpmf train --replace \
    -q r.dpr --solver $solver -o m.safetensors 2>&1
echo "$solver exit $?"; done
dpmf train --replace -q bad.csv --on-error skip -o m.safetensors 2>&1; echo "exit $?"
dpmf import -q header.csv -o s.dpr 2>&1; echo "exit $?"
dpmf import -q nothing --format movielens -o s.dpr 2>&1; echo "exit $?"
dpmf evaluate x.safetensors r.dpr 2>&1; echo "exit $?"
