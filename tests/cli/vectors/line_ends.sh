# An id with a line's end in it cannot be a line of text; tables and databases can hold it.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
sed -i 's/annbobcleo\(.*\)alien/annbobcleo\1al\nen/; s/ann/a\rn/' m.safetensors
/usr/bin/python3 "$CLI_TESTS/seal_checkpoint.py" m.safetensors
for way in "--npy a" "--libmf b" "--npy a --users" "--csv c --users" "--sqlite d --users"; do
    # shellcheck disable=SC2086 # words they are
    dpmf export -q m.safetensors $way --not-private
    echo "status $?"
done
cat c/items.csv
ls -A
