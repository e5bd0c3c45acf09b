cp "$CLI_TESTS/fixtures/release.safetensors" .
# shellcheck disable=SC2046 # words they are
dpmf serve release.safetensors --port 0 $(yes -- --host x | head -n 33)
