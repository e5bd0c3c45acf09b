# What is not proven to be private goes nowhere without --not-private, and users nowhere without
# --users. shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model checkpoint.safetensors
for name in release insecure research false_claim
do cp "$CLI_TESTS/fixtures/$name.safetensors" .; done
for name in checkpoint insecure research false_claim; do
    for way in "--npy out" "--csv out" "--libmf out" "--sqlite out" \
        "--pgvector postgres://localhost:1/none"; do
        # shellcheck disable=SC2086 # words they are
        dpmf export $name.safetensors $way 2>error
        echo "$name $way: status $?"
    done
    cat error
done
ls -A
for name in checkpoint insecure research false_claim; do
    dpmf export $name.safetensors --npy $name --not-private 2>&1 |
        sed -E 's/\([0-9.]+ [kb][^)]*\) in .*/(SIZE) in TIME/'
    grep -o '"not_private":[a-z]*' $name/model.json
    stat -c '%a %n' $name
    ls $name
done
dpmf export release.safetensors --npy out --not-private
echo "status $?"
dpmf export release.safetensors --npy out --users
echo "status $?"
ls -A
