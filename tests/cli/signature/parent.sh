# The signature of a release holds for the parent that is made again from what extends it.
. "$CLI_TESTS/signed_release.sh"
signed_release
printf 'item\ngattaca\n' >new.csv
printf 'item,kind\ndune,a\nsolaris,a\nalien,a\nbrazil,b\ngattaca,a\n' >features.csv
dpmf release extend -q release.safetensors --catalogue new.csv --item-features features.csv \
    -o extended.safetensors
dpmf release parent extended.safetensors -o parent.safetensors
cp release.safetensors.sig parent.safetensors.sig
cp release.safetensors.sig extended.safetensors.sig
dpmf privacy verify parent.safetensors --key curator.pub >/dev/null && echo "signed by the curator"
dpmf privacy verify extended.safetensors --key curator.pub >/dev/null 2>&1 ||
    echo "not signed itself"
