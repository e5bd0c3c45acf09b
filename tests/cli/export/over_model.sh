# A name that does not end in .csv is a directory's: over a file, the message says what is there.
printf 'user,item,rating\n1,a,3\n' >r.csv
cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf import -q r.csv -o r.dpr
dpmf ledger init -q l
for output in release.safetensors r.dpr l r.csv; do
    dpmf export -q r.csv --csv $output --replace
    echo $?
done
cmp release.safetensors "$CLI_TESTS/fixtures/release.safetensors" && echo "still a release"
