# One byte of an item's vector is another.
cp "$CLI_TESTS/fixtures/release.safetensors" damaged.safetensors
size=$(stat -c %s damaged.safetensors)
printf 'x' | dd of=damaged.safetensors bs=1 seek=$((size - 40)) conv=notrunc status=none
dpmf privacy verify damaged.safetensors
