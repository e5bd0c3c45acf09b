# shellcheck source=/dev/null
. "$CLI_TESTS/signed_release.sh"
signed_release
rm release.safetensors.sig
try() {
    dpmf privacy sign "$@"
    echo "status $?"
}
cp "$CLI_TESTS/fixtures/insecure.safetensors" "$CLI_TESTS/fixtures/false_claim.safetensors" .
try insecure.safetensors --key curator
try false_claim.safetensors --key curator
try release.safetensors --key missing 2>&1 | grep -v '^Couldn'
try missing.safetensors --key curator
ls -- *.sig* 2>/dev/null || echo "nothing was written"
