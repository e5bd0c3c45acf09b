# shellcheck source=/dev/null
. "$CLI_TESTS/signed_release.sh"
signed_release
umask 022
dpmf privacy sign release.safetensors --key eve
echo "exit $?"
dpmf privacy verify release.safetensors --key curator.pub -q >/dev/null && echo "as it was"
dpmf privacy sign release.safetensors --key eve --replace --json
dpmf privacy verify release.safetensors --key eve.pub -q >/dev/null && echo "signed again"
stat -c %a release.safetensors.sig
ls -- *.sig*
