# 0.1.0 wrote no list of assumptions, and called itself proven: it is judged by what it records.
cp "$CLI_TESTS"/fixtures/biases_format_1.safetensors old.safetensors
grep -ao '"kind\\":\\"[a-z]*' old.safetensors
dpmf privacy verify -q old.safetensors >/dev/null 2>&1 || echo "verify: $?"
dpmf privacy verify -q --accept partial old.safetensors >/dev/null && echo accepted
dpmf privacy show old.safetensors | sed -n 3,9p
dpmf privacy show --json old.safetensors |
    grep -o '"format":.\|"kind":"[a-z]*"\|"assumptions":.*\],"unit'
dpmf describe --json old.safetensors | grep -o '"claim":"[a-z]*"'
dpmf export --csv vectors -q old.safetensors 2>&1
grep -ho '"claim":"[a-z]*"\|"kind":"partial"' vectors/*.json
