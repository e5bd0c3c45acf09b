# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'dune,5\n' >mine.csv
printf 'dune\nbrazil\nsolaris\n' >shelf.txt
printf 'solaris\n' >sold.txt
dpmf recommend m.safetensors --ratings mine.csv --include shelf.txt
dpmf recommend m.safetensors --ratings mine.csv --include shelf.txt --exclude sold.txt
dpmf recommend m.safetensors --ratings mine.csv --include sold.txt --exclude sold.txt
