# shellcheck source=/dev/null
. "$CLI_TESTS/signed_release.sh"
signed_release
dpmf privacy verify release.safetensors --key curator.pub | tail -n 1 | without_fingerprints
{ echo "# who may sign"; echo "curator@example.org $(cat curator.pub)"
echo "eve@example.org $(cat eve.pub)"; } >allowed
dpmf privacy verify release.safetensors --key allowed --identity curator@example.org | tail -n 1 |
    without_fingerprints
dpmf privacy verify release.safetensors --key allowed --identity curator@example.org --json |
    without_fingerprints | grep -o '"signature":.*'
dpmf privacy verify release.safetensors --json | grep -o '"signature":.*'
# Whoever has no dpmf checks the same file with ssh-keygen alone.
ssh-keygen -Y verify -f allowed -I curator@example.org -n dpmf-release -s release.safetensors.sig \
    <release.safetensors | without_fingerprints
