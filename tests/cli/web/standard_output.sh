cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf export release.safetensors --web -
echo $?
ls
