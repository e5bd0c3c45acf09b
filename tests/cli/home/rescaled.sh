# The options for reading ratings hold for one's own, of every kind.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'dune,100\nbrazil,25\n' >mine.csv
printf 'me,dune,100\nme,brazil,25\n' >users.csv
dpmf predict release.safetensors --ratings dune:5,brazil:2 >expected
for mine in mine.csv users.csv dune:100,brazil:25; do
    dpmf predict release.safetensors --ratings "$mine" --rescale 0:100=1:5 | cmp - expected
    dpmf predict release.safetensors --ratings "$mine" --rating-range 1:99
    echo $?
    dpmf predict -v release.safetensors --ratings "$mine" --rating-range 1:99 --on-error skip
done
# What was read from a copy is called by its own name.
dpmf predict -q release.safetensors --ratings - --rating-range 1:99 <users.csv
dpmf predict release.safetensors --ratings - --rating-range 1:30 --on-error skip <users.csv | wc -l
