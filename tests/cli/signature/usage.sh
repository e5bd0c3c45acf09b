# shellcheck source=/dev/null
. "$CLI_TESTS/signed_release.sh"
signed_release
try() {
    dpmf privacy "$@"
    echo "status $?"
}
echo "curator@example.org $(cat curator.pub)" >allowed
try verify release.safetensors --identity curator@example.org
try verify release.safetensors --key allowed
try verify release.safetensors --key curator.pub --identity curator@example.org
try verify release.safetensors --key curator
try verify release.safetensors --key missing.pub
try verify release.safetensors --key release.safetensors
try sign release.safetensors
