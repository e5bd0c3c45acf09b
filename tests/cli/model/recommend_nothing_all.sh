# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'item\ndune\nsolaris\nalien\nbrazil\n' >sold.txt
dpmf recommend m.safetensors --all-users --exclude sold.txt --json
