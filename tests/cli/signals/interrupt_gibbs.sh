# SIGINT while one round of Gibbs takes minutes, and a row seconds: it does not wait for either.
dpmf synth -q --users 200 --items 300 --ratings 9000 -o r.dpr
SECONDS=0
timeout --foreground --preserve-status -s INT 2 \
    dpmf train r.dpr -q --solver gibbs -k 2000 --epochs 3 -j 2 -o m.safetensors
status=$?
((SECONDS < 12)) || echo "ended after $SECONDS seconds"
ls -A
exit $status
