# Only what is proven passes, unless the kind that it is was accepted.
cp "$CLI_TESTS"/fixtures/{release,biases,research,insecure,false_claim}.safetensors .
for release in release biases research insecure false_claim; do
    for accept in '' '--accept conditional' '--accept partial' '--accept both'; do
        dpmf privacy verify $accept $release.safetensors >/dev/null 2>&1
        echo "$release $accept $?"
    done
done
dpmf privacy verify --accept partial --json biases.safetensors
dpmf privacy verify --accept proven biases.safetensors
