# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'ann,solaris,dune\n' >headless.csv
printf 'user,item,negatives\nann,solaris\n' >short.csv
printf 'user,item,negatives\nann,solaris,dune,\n' >empty_id.csv
printf 'user,item,negatives\n' >none.csv
for rows in headless short empty_id none missing; do
    dpmf evaluate m.safetensors --candidates $rows.csv
    echo "exit status $?"
done
dpmf evaluate m.safetensors --candidates short.csv --ranking
