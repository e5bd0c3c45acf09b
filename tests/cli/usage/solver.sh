# There is one, by whatever road one comes to it; the others are said not to be there.
dpmf synth -q --users 50 --items 20 --ratings 500 -o ratings.dpr
dpmf train -q ratings.dpr -k 2 --epochs 1 --solver sgd -o m.safetensors && echo trained
for solver in sgld sghmc gibbs als adam; do
    dpmf train ratings.dpr --solver $solver -o n.safetensors
    echo "status $?"
done
ls
