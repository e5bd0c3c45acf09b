# A release has no users: those of a history are fitted to what they rated, each in turn.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'user,item,rating\nann,dune,5\nann,brazil,2\n"b,ob",stalker,4\ncleo,alien,1\n' >train.csv
printf 'solaris,Solaris\n' >items.csv
dpmf recommend release.safetensors --history train.csv
dpmf recommend -q release.safetensors --all-users --history train.csv -n 1 --catalogue items.csv
dpmf recommend -q release.safetensors --history train.csv -n 1 --json
dpmf import -q train.csv -o train.dpr
dpmf recommend -q release.safetensors --history train.dpr |
    cmp - <(dpmf recommend -q release.safetensors --history train.csv)
# As each of them alone.
dpmf recommend -q release.safetensors --ratings dune:5,brazil:2 --json | sed 's/null/"ann"/' >ann
dpmf recommend -q release.safetensors --history train.csv --json | grep '"ann"' | cmp - ann
