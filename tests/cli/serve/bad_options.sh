cp "$CLI_TESTS/fixtures/release.safetensors" .
for options in "--port 65536" "--port -1" "--port http" "--address example.org" \
    "--address 127.0.0.1:80" "--address ''" \
    "--host a:80" "--host ''" "--host a/b" "--host [::1" "--timeout 0" "--connections 7" \
    "--connections 100001" \
    "--name ''" "--memory 1k"; do
    eval "dpmf serve release.safetensors $options" 2>&1 | sed 's/takes .*,/takes SIZE,/'
    echo "status ${PIPESTATUS[0]}"
done
