# shellcheck source=/dev/null
. "$CLI_TESTS/signed_release.sh"
signed_release
command -v ssh-agent >/dev/null || { echo "there is no ssh-agent"; exit 77; }
eval "$(ssh-agent -s)" >/dev/null
trap 'ssh-agent -k >/dev/null' EXIT
ssh-add -q curator
rm curator release.safetensors.sig
dpmf privacy sign -q release.safetensors --key curator.pub &&
    dpmf privacy verify release.safetensors --key curator.pub |
    tail -n 1 | without_fingerprints
