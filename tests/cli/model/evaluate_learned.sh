# The error on what a model was trained on is not that on new ratings, which is said: of all of the
# training set, of a set that holds it, in another order and format, and of continued models.
dpmf synth -q --users 300 --items 60 --ratings 12000 -o all.dpr
dpmf split -q all.dpr --train old.dpr --test rest.dpr --test-fraction 0.4
dpmf split -q rest.dpr --train more.dpr --test new.dpr --test-fraction 0.5 --seed 2
{ echo user,item,rating && dpmf export -q old.dpr --csv - | tail -n +2 | sort -r; } >sorted.csv
look() { dpmf evaluate "$@" --json 2>err | grep -o '"learned_share":[^,]*' && grep warning err; }
for solver in sgd gibbs sgld sghmc; do
    dpmf train -q old.dpr --solver $solver -k 4 --epochs 2 \
        $([[ $solver == sgd ]] && echo --no-adapt) -o $solver.m
    echo "$solver" && look $solver.m old.dpr && look $solver.m all.dpr
    look $solver.m new.dpr
done
look sgd.m sorted.csv
dpmf train -q old.dpr --goal ranking -k 4 --epochs 2 -o ranks.m
echo ranks && look ranks.m old.dpr && look ranks.m all.dpr
look ranks.m new.dpr
dpmf train -q more.dpr --continue sgd.m --epochs 2 -o continued.m
echo continued && look continued.m old.dpr && look continued.m more.dpr && look continued.m all.dpr
look continued.m new.dpr
true
