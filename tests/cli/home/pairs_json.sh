cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'item,title\nalien,"Alien, the first"\nsolaris,Solaris\ndune,Dune\n' >items.csv
dpmf recommend release.safetensors --ratings dune:5,brazil:2 --json --catalogue items.csv
dpmf predict release.safetensors --ratings dune:5,brazil:2 --json --catalogue items.csv
dpmf similar release.safetensors --item dune --ratings dune:5,brazil:2 --json --catalogue items.csv
dpmf explain release.safetensors --item solaris --ratings dune:5,brazil:2 --json \
    --catalogue items.csv
