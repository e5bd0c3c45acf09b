# What a file is said to be, it is.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'dune;me;5\nbrazil;me;2\n' >mine.csv
dpmf predict release.safetensors --ratings mine.csv --columns item,user,rating
dpmf predict release.safetensors --ratings mine.csv --format csv
