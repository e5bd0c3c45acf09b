# Pairs with something else than commas between them are no item that nobody knows; ids with colons
# and blanks stay ids.
cp "$CLI_TESTS/fixtures/release.safetensors" .
for mine in 'dune:5;brazil:2' 'dune:5 brazil:2' 'dune:5|brazil:2' 'Alien: Covenant:5,dune:5'; do
    dpmf predict release.safetensors --ratings "$mine"
    echo $?
done
