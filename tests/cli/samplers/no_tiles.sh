# Gibbs has no tiles: what is about them would be ignored.
dpmf synth -q --users 50 --items 20 --ratings 500 -o r.dpr
for option in '--lanes 2' '--prefetch 7' '--tiers 10,20'; do
    # shellcheck disable=SC2086
    dpmf train -q r.dpr --solver gibbs -k 2 --epochs 2 $option -o g.st
    echo $?
done
