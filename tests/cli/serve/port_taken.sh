cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf serve release.safetensors -q --port 0 --json >first &
server=$!
until [[ -s first ]]; do sleep 0.05; done
port=$(sed -E 's/.*"port":([0-9]+).*/\1/' first)
dpmf serve release.safetensors -q --port "$port" 2>&1 | sed "s/$port/PORT/"
echo "status ${PIPESTATUS[0]}"
kill $server
wait $server
echo "status $?"
