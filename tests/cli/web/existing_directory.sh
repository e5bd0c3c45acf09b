# An empty directory will do, this one too, and keeps its mode; one with something in it is left
# alone.
mkdir -m 750 site full
echo mine >full/index.html
dpmf export -q "$CLI_TESTS/fixtures/release.safetensors" --web site && stat -c %a site && ls -A site
(mkdir here && cd here && dpmf export -q "$CLI_TESTS/fixtures/release.safetensors" --web . && ls -A)
dpmf export -q "$CLI_TESTS/fixtures/release.safetensors" --web full
echo "status $?"
ls -A full
cat full/index.html
