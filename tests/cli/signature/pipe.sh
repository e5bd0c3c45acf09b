# A signature is a regular file: a pipe of that name is not waited for
# shellcheck source=/dev/null
. "$CLI_TESTS/signed_release.sh"
signed_release
rm release.safetensors.sig && mkfifo release.safetensors.sig
timeout 100 dpmf privacy verify release.safetensors --key curator.pub
echo "exit $?"
# nor is one of keys
rm release.safetensors.sig && touch release.safetensors.sig && mkfifo keys
timeout 100 dpmf privacy verify release.safetensors --key keys
echo "exit $?"
timeout 100 dpmf privacy verify release.safetensors --key keys --identity curator
echo "exit $?"
