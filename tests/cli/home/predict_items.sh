# Some items, in the order they are asked for.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'brazil\nstalker\ndune\n' >items.txt
dpmf predict release.safetensors items.txt --ratings dune:5
printf 'title,item\nA,alien\n' | dpmf predict release.safetensors - --ratings dune:5
printf 'stalker\n' | dpmf predict -q release.safetensors - --ratings dune:5 --json
