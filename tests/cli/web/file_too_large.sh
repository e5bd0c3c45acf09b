# The limit of the shell on file sizes stands in for a full disk; the directory was there before,
# and stays.
trap '' XFSZ
mkdir site
(ulimit -f 64; dpmf export -q "$CLI_TESTS/fixtures/release.safetensors" --web site)
status=$?
ls -A . site
exit $status
