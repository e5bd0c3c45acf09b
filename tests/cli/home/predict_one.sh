# One pair without a file; and one item for someone with ratings of their own.
dpmf synth -q --users 40 --items 12 --ratings 300 -o r.dpr
dpmf train -q r.dpr -k 2 --epochs 2 --deterministic -o m.safetensors
printf '7,3\n' >pair.csv
dpmf predict m.safetensors pair.csv >file.csv
dpmf predict m.safetensors --user 7 --item 3 >named.csv
cmp file.csv named.csv && echo same
dpmf predict m.safetensors --user 7 --item 3 --json >named.json
dpmf predict m.safetensors pair.csv --json | cmp - named.json && echo same
dpmf predict m.safetensors --ratings 1:5,2:1 --item 3 >mine.csv
dpmf predict m.safetensors --ratings 1:5,2:1 | grep -E '^(item|3),' | cmp - mine.csv && echo same
for wrong in '--user 7' '--item 3' 'pair.csv --user 7 --item 3' '--ratings 1:5 --user 7 --item 3'
do
    # shellcheck disable=SC2086
    dpmf predict m.safetensors $wrong
    echo "status $?" >&2
done
dpmf predict m.safetensors --user nobody --item 3 >/dev/null
dpmf predict m.safetensors --user 7 --item nothing >/dev/null
