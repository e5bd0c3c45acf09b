cp "$CLI_TESTS/fixtures/release.safetensors" .
touch release.safetensors.sig
echo "ssh-ed25519 AAAA" >curator.pub
mkdir bin && cp -P "$(command -v dpmf)" bin/ 2>/dev/null
PATH=$PWD/bin dpmf privacy sign release.safetensors --key curator --replace
echo "status $?"
PATH=$PWD/bin dpmf privacy verify release.safetensors --key curator.pub
echo "status $?"
