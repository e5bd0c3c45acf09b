# What has no colon can only be a file.
cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf recommend release.safetensors --ratings mine.csv
