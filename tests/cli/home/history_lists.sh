cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'user,item,rating\nann,dune,5\nann,brazil,2\ncleo,alien,1\n' >train.csv
printf 'dune\nalien\n' >shelf.txt
printf 'alien\n' >sold.txt
dpmf recommend release.safetensors --history train.csv --include shelf.txt
dpmf recommend release.safetensors --history train.csv --exclude sold.txt
dpmf recommend release.safetensors --history train.csv --include shelf.txt --exclude sold.txt
dpmf recommend release.safetensors --history train.csv --include sold.txt --exclude sold.txt
