# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'rating\titem\tuser\n1\tdune\tann\n2\talien\tzoe\n3\tstalker\tcleo\n' |
    dpmf predict m.safetensors - --json
