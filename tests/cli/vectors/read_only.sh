# Someone else's directory: root may write anywhere, so someone else tries.
[[ $(id -u) != 0 ]] || command -v setpriv >/dev/null || { echo "no setpriv here"; exit 77; }
mkdir -p shut/inner
chmod 555 shut shut/inner
as=()
[[ $(id -u) == 0 ]] && as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
cp "$CLI_TESTS/fixtures/release.safetensors" .
for way in "--npy shut/out" "--npy shut/inner" "--libmf shut/out" "--sqlite shut/out"; do
    # shellcheck disable=SC2086 # words they are
    "${as[@]}" dpmf export -q release.safetensors $way
    echo "status $?"
done
ls -A shut shut/inner
