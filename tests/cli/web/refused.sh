# What may not be published makes no directory.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model checkpoint.safetensors
for name in insecure research false_claim; do cp "$CLI_TESTS/fixtures/$name.safetensors" .; done
for name in checkpoint insecure research false_claim; do
    dpmf export $name.safetensors --web site
    echo "status $?"
done
ls -A
