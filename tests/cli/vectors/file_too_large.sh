# The limit of the shell on file sizes stands in for a full disk.
trap '' XFSZ
dpmf synth -q --users 500 --items 400 --ratings 20000 -o all.dpr
dpmf train -q all.dpr -k 64 --epochs 1 -o m.safetensors
for way in "--npy out" "--csv out" "--libmf out" "--sqlite out"; do
    # shellcheck disable=SC2086 # words they are
    (ulimit -f 48; dpmf export -q m.safetensors $way --not-private)
    echo "status $?"
done
ls -A
