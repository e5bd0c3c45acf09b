cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf serve release.safetensors --port 0 --json -q --address ::1 >line &
server=$!
until [[ -s line || -z $(jobs -r) ]]; do sleep 0.05; done
if [[ ! -s line ]]; then
    echo "no IPv6 here"
    exit 77
fi
sed -E 's/:[0-9]+\//:PORT\//; s/"(port|page_bytes)":[0-9]+/"\1":N/g' line
kill $server
wait $server
echo "status $?"
