# Those there are, each by its name; others are said not to be there.
dpmf synth -q --users 50 --items 20 --ratings 500 -o ratings.dpr
for solver in sgd sgld sghmc sgnht gibbs; do
    dpmf train -q ratings.dpr -k 2 --epochs 3 --solver $solver -o $solver.safetensors 2>/dev/null \
        && echo $solver trained
done
for solver in als adam; do
    dpmf train ratings.dpr --solver $solver -o n.safetensors
    echo "status $?"
done
ls
