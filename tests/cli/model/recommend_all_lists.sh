# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
# For everyone at once: include, exclude and what was seen, together.
tiny_history history.csv
printf 'dune\nsolaris\nalien\n' >shelf.txt
printf 'solaris\n' >sold.txt
dpmf recommend m.safetensors --all-users --include shelf.txt --exclude sold.txt \
    --history history.csv
