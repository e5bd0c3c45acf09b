# SIGINT in the middle of training: where the run is kept, and how to go on; and so it goes on.
dpmf synth -q --users 2000 --items 300 --ratings 100000 -o r.dpr
interrupted() {
    mkfifo said
    env --default-signal=INT dpmf train r.dpr -k 16 --epochs 10000 --snapshot run.safetensors \
        --snapshot-every 10000 -o m.safetensors "$@" 2>said &
    local pid=$!
    {
        read -r _ # the first epoch is done
        kill -INT "$pid"
        grep -v '^epoch'
    } <said
    wait "$pid"
    echo "status $?"
    rm said
}
interrupted
interrupted --resume run.safetensors
cp run.safetensors old.safetensors
interrupted --resume old.safetensors
ls
