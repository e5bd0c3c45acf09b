# Without any rating that counts there are the biases, and that is said.
cp "$CLI_TESTS/fixtures/release.safetensors" .
: >empty
printf 'item,rating\n' >header
printf 'user,item,rating\n' >users
for mine in empty header users stalker:5; do
    dpmf recommend release.safetensors --ratings "$mine" -n 2
done
dpmf recommend -q release.safetensors --ratings empty -n 1 --json
dpmf predict release.safetensors --ratings empty --json
dpmf similar release.safetensors --item dune --ratings empty
dpmf explain release.safetensors --item dune --ratings empty
dpmf explain release.safetensors --item dune --ratings empty --json
