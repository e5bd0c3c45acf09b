# A server that is not there, and a password where none belongs: nothing of it is shown.
cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf export release.safetensors --pgvector 'postgres://127.0.0.1:1/films?table=items'
echo "status $?"
dpmf export release.safetensors --pgvector 'postgres://me:hunter2@127.0.0.1:1/films' 2>&1 |
    sed 's/hunter2/SHOWN/'
