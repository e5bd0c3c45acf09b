# A real full disk, where one may make one: nothing stays, and what was there is as it was.
unshare -rm true 2>/dev/null || { echo "no name spaces here"; exit 77; }
dpmf synth -q --users 500 --items 400 --ratings 20000 -o all.dpr
dpmf train -q all.dpr -k 64 --no-adapt --epochs 1 -o m.safetensors
mkdir small
# shellcheck disable=SC2016
unshare -rm bash -c '
    mount -t tmpfs -o size=64k none small || { echo "no tmpfs here"; exit 77; }
    echo mine >small/old
    for way in "--npy small/out" "--csv small/out" "--libmf small/out" "--sqlite small/out" \
        "--libmf small/old --replace" "--sqlite small/old --replace"; do
        dpmf export -q m.safetensors $way --not-private
        echo "status $?"
        ls -A small
    done
    cat small/old'
