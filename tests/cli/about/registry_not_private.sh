for kind in insecure research; do
    cp "$CLI_TESTS/fixtures/$kind.safetensors" .
    dpmf privacy show $kind.safetensors --registry
    echo "status $?"
done
