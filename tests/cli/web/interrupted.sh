# SIGTERM while a large catalogue is read: nothing is written.
cp "$CLI_TESTS/fixtures/release.safetensors" .
mkfifo items
exec 9<>items
echo 'dune,Dune' >items
timeout --foreground --preserve-status -s TERM 0.3 dpmf export -q release.safetensors --web site \
    --catalogue items
status=$?
ls -A
exit $status
