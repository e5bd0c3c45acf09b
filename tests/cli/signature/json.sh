# An object is printed also when the signature is what fails: none, someone else's, a changed file.
source "$CLI_TESTS/signed_release.sh"
signed_release
verify() {
    dpmf privacy verify release.safetensors --key "$1" --json 2>/dev/null | without_fingerprints |
        grep -o '"verified":[a-z]*\|"fault":"[^"(]*\|"signature":.*'
    echo "exit ${PIPESTATUS[0]}"
}
verify curator.pub
verify eve.pub
printf x >>release.safetensors
verify curator.pub
rm release.safetensors.sig
verify curator.pub
