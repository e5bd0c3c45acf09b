# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
for way in "--npy a" "--csv b --users" "--libmf c" "--sqlite d --users"; do
    # shellcheck disable=SC2086 # words they are
    dpmf export m.safetensors $way --not-private --json -q |
        sed -E 's/"bytes_written":[0-9]+/"bytes_written":N/; s/"seconds":[0-9.e-]+/"seconds":S/'
done
