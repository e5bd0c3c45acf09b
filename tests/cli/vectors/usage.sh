# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'ann,dune,4\n' >in.csv
printf 'item,title\na,b\n' >other.csv
for options in "release.safetensors --npy a --csv b" "release.safetensors" \
    "release.safetensors --npy -" \
    "release.safetensors --csv -" "release.safetensors --libmf -" "release.safetensors --sqlite -" \
    "release.safetensors --pgvector -" "release.safetensors --npy a --catalogue in.csv" \
    "release.safetensors --npy a --replace" "release.safetensors --npy a --format csv" \
    "release.safetensors --csv a --on-error skip" "in.csv --csv a --not-private" \
    "in.csv --csv a --users" \
    "release.safetensors --web a --users" "in.csv --npy a" "in.csv --sqlite a" "none --npy a" \
    "release.safetensors --sqlite release.safetensors --replace" \
    "release.safetensors --libmf ./release.safetensors" \
    "release.safetensors --sqlite a --catalogue other.csv" \
    "release.safetensors --pgvector somewhere" \
    "release.safetensors --pgvector sqlite:a" \
    "release.safetensors --pgvector postgres://localhost/x?query=SELECT" \
    "release.safetensors --pgvector postgres://me:secret@localhost/x"; do
    # shellcheck disable=SC2086 # words they are
    dpmf export $options
    echo "status $?"
done
ls -A
