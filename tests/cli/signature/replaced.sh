# The file is replaced while its signature is checked: what is verified is what was signed, here a
# release with a false claim, and not the sound one that has its name by then.
source "$CLI_TESTS/signed_release.sh"
signed_release
mv release.safetensors sound.safetensors
cp "$CLI_TESTS/fixtures/false_claim.safetensors" release.safetensors
ssh-keygen -q -Y sign -n dpmf-release -f curator <release.safetensors >release.safetensors.sig
mkdir bin
real=$(command -v ssh-keygen)
printf '#!/bin/sh\nmv sound.safetensors release.safetensors\nexec %s "$@"\n' "$real" >bin/ssh-keygen
chmod +x bin/ssh-keygen
PATH=$PWD/bin:$PATH dpmf privacy verify release.safetensors --key curator.pub | head -n 1
echo "exit ${PIPESTATUS[0]}"
[[ ! -e sound.safetensors ]] && echo "it was replaced"
