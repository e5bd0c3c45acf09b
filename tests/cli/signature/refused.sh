# shellcheck source=/dev/null
. "$CLI_TESTS/signed_release.sh"
signed_release
try() {
    dpmf privacy verify "$@" >said 2>&1
    local status=$?
    sed -E 's/\(ssh-keygen: .+\)/(ssh-keygen: ...)/' said # in the words of its version
    echo "status $status"
}
echo "curator@example.org $(cat curator.pub)" >allowed
echo "- another key"
try release.safetensors --key eve.pub
echo "- another identity"
try release.safetensors --key allowed --identity eve@example.org
echo "- a changed file"
printf x >>release.safetensors
try release.safetensors --key curator.pub
echo "- no signature"
cp "$CLI_TESTS/fixtures/release.safetensors" other.safetensors
try other.safetensors --key curator.pub
echo "- a signature for another purpose"
ssh-keygen -q -Y sign -f curator -n file <other.safetensors >other.safetensors.sig
try other.safetensors --key curator.pub
echo "- no signature at all"
echo "not one" >other.safetensors.sig
try other.safetensors --key curator.pub
echo "- two keys in one file, of which either would do"
cat curator.pub eve.pub >both.pub
try release.safetensors --key both.pub
