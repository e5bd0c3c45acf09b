# SIGINT, and no room for the snapshot any more: that is said as well.
dpmf synth -q --users 2000 --items 300 --ratings 100000 -o r.dpr
mkdir kept
mkfifo said
env --default-signal=INT dpmf train r.dpr -k 16 --epochs 10000 --snapshot kept/run.safetensors \
    --snapshot-every 10000 -o m.safetensors 2>said &
pid=$!
{
    read -r _ # the first epoch is done
    rm -r kept
    kill -INT "$pid"
    grep -v '^epoch'
} <said
wait "$pid"
echo "status $?"
ls
