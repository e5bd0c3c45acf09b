# A real full disk, where one may make one.
unshare -rm true 2>/dev/null || { echo "no name spaces here"; exit 77; }
mkdir small
# shellcheck disable=SC2016
unshare -rm bash -c '
    mount -t tmpfs -o size=256k none small || { echo "no tmpfs here"; exit 77; }
    dpmf synth -q --users 20000 --items 500 --ratings 500000 -o small/r.dpr
    status=$?
    ls -A small
    exit $status'
