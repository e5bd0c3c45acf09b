# The fewer items people like, the fewer events; spreads that make no sense are refused
events() {
    dpmf synth -q --users 200 --items 100 --ratings 5000 --events "$@" -o likes.dpr
    dpmf describe likes.dpr --json | grep -o '"ratings":[0-9]*'
}
events
events --average-rating 0.65 --item-spread 0.5 --taste-spread 0.6
events --average-rating 0.2
dpmf synth --average-rating 1.5 -o no.dpr
dpmf synth --item-spread -1 -o no.dpr
dpmf synth --taste-spread 1e7 -o no.dpr
