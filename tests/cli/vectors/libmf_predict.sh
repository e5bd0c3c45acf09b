# LIBMF itself predicts what we predict: LIBMF=PATH/mf-train, beside which mf-predict is.
# shellcheck source=/dev/null
. "$CLI_TESTS/exported_vectors.sh"
predict=mf-predict
[[ -n ${LIBMF-} ]] && predict=$(dirname "$LIBMF")/mf-predict
command -v "$predict" >/dev/null ||
    { echo "no mf-predict here: LIBMF=PATH/mf-train names its neighbour"; exit 77; }
dpmf synth -q --users 300 --items 80 --ratings 6000 -o all.dpr
dpmf train -q all.dpr -k 8 --epochs 5 -o m.safetensors
dpmf export m.safetensors --libmf m.txt --not-private --users -q
paste -d ' ' <(seq 0 299) <(shuf -r -n 300 -i 0-79 --random-source=all.dpr) >pairs
awk '{ print $1, $2, 0 }' pairs >pairs.txt
while read -r user item; do
    echo "$(sed -n $((user + 1))p m.txt.users.txt),$(sed -n $((item + 1))p m.txt.items.txt)"
done <pairs >pairs.csv
"$predict" pairs.txt m.txt theirs >/dev/null
dpmf predict m.safetensors pairs.csv -q | tail -n +2 >ours
paste -d, ours theirs | awk -F, '{ d = $3 - $4; if (d < 0) d = -d; if (d > worst) worst = d } END {
    print NR, "pairs,", worst < 1e-5 ? "the same to what is printed" : "off by " worst }'
