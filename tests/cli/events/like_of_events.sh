# Events are not turned into likes: --like 4 of a store of events is refused wherever it is read,
# and --like any, which changes nothing, trains the same model or is refused with what to do
ls() { command ls "$@" 2>/dev/null | sort; }
printf '%s\n' user,item,plays 1,a,3 1,b,2 2,a,1 2,c,7 3,c,1 3,b,1 >plays.csv
printf '%s\n' item a b c >items.csv
dpmf import -q plays.csv --on-error skip -o plays.dpr
for input in plays.dpr plays.csv; do
    dpmf train -q $input -k 2 --epochs 2 --deterministic -o plain.m
    dpmf train -q $input -k 2 --epochs 2 --deterministic --like any -o any.m
    cmp <(dpmf similar plain.m --item a --json) <(dpmf similar any.m --item a --json)
    dpmf train -q $input -k 2 --epochs 2 --like 4 -o x.m
    echo "status $?"
    for like in any 4; do
        dpmf train -q $input --epsilon 1 --catalogue items.csv --like $like \
            --insecure-noise-seed 1 -o x.m
        echo "status $?"
        dpmf import -q $input --like $like -o x.dpr
        echo "status $?"
    done
done
ls x.*
