# One bit of a vector: the digest does not fit.
cp "$CLI_TESTS/fixtures/release.safetensors" .
size=$(stat -c %s release.safetensors)
printf '\x01' | dd of=release.safetensors bs=1 seek=$((size - 40)) conv=notrunc status=none
dpmf serve release.safetensors --port 0
