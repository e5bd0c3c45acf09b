# shellcheck source=/dev/null
. "$CLI_TESTS/signed_release.sh"
signed_release
umask 022
dpmf privacy sign release.safetensors --key eve --json
dpmf privacy verify release.safetensors --key eve.pub -q >/dev/null && echo "signed again"
stat -c %a release.safetensors.sig
ls -- *.sig*
