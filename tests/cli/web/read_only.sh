# Someone else's directory: root may write anywhere, so someone else tries.
[[ $(id -u) != 0 ]] || command -v setpriv >/dev/null || { echo "no setpriv here"; exit 77; }
mkdir -m 555 site
as=()
[[ $(id -u) == 0 ]] && as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
cp "$CLI_TESTS/fixtures/release.safetensors" .
"${as[@]}" dpmf export -q release.safetensors --web site
