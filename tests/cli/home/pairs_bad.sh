# Each of them is refused as it is, and says why.
cp "$CLI_TESTS/fixtures/release.safetensors" .
for mine in dune:x dune:5,brazil "dune:5,," :5 dune: dune:nan dune:1e300 dune:0x5 "C:mine.csv" \
    "dune: 5"; do
    dpmf recommend release.safetensors --ratings "$mine"
    echo $?
done
