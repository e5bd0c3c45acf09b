# A name that ends in .csv is a file, never a directory
printf 'user,item,rating\nann,dune,4.5\nbob,dune,5\n' >in.csv
dpmf export -q in.csv --csv ex.csv
stat -c '%F %n' ex.csv
cat ex.csv
dpmf export in.csv --csv ./in.csv
echo "exit $?"
mkdir folder.csv
dpmf export in.csv --csv folder.csv
echo "exit $?"
dpmf export "$CLI_TESTS/fixtures/release.safetensors" --csv vectors.csv
echo "exit $?"
ls
# in letters of any case
dpmf export -q in.csv --csv UP.Csv && stat -c "%F %n" UP.Csv
