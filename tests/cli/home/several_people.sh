# --ratings is one person's; whose would be a guess.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'user,item,rating\nann,dune,5\nbob,brazil,2\n' >all.csv
dpmf recommend release.safetensors --ratings all.csv
echo $?
dpmf import -q all.csv -o all.dpr
dpmf explain release.safetensors --item dune --ratings all.dpr
echo $?
# A name for each row, and not one that the model knows as an item.
printf 'ann,dune,5\nbob,brazil,2\n' | dpmf recommend release.safetensors --ratings -
