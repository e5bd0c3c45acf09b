# A real full disk, where one may make one: nothing stays.
unshare -rm true 2>/dev/null || { echo "no name spaces here"; exit 77; }
mkdir small
# shellcheck disable=SC2016
unshare -rm bash -c '
    mount -t tmpfs -o size=64k none small || { echo "no tmpfs here"; exit 77; }
    dpmf export -q "$CLI_TESTS/fixtures/release.safetensors" --web small/site
    status=$?
    ls -A small
    exit $status'
