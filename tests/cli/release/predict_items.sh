# Items alone are someone's, and a release knows nobody.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'dune\nalien\n' >items.csv
dpmf predict release.safetensors items.csv
