cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'ann,dune,4\n' >in.csv
for options in "release.safetensors --web a --csv b" "in.csv --csv b --name x" \
    "in.csv --csv b --catalogue in.csv" \
    "release.safetensors --web a --format csv" "release.safetensors --web a --on-error skip" \
    "in.csv --web a"; do
    # shellcheck disable=SC2086 # words they are
    dpmf export $options
    echo "status $?"
done
ls -A
