# One id that makes a record batch larger than the memory allows is a bad record, and decides
# neither whether there is a store nor whether there is a release; the curator is warned. Where bad
# records are not dropped the bound of memory holds.
dpmf ledger init -q l
printf 'item\n1\n2\n' >items.csv
python3 "$CLI_TESTS/import/lengthen_arrow.py" "$CLI_TESTS/../fuzz/corpus/arrow_ipc/stream" \
    long.arrows 40000000
dpmf import -q long.arrows --memory 64MiB -o strict.dpr
echo "strict: $?"
dpmf import long.arrows --on-error skip --memory 64MiB -o r.dpr 2>err
echo "import: $?"
grep -o 'the ids and.*' err | sed 's/took [0-9]* MiB/took N MiB/'
dpmf export r.dpr --csv - -q
dpmf train long.arrows --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l \
    --memory 64MiB -o x.safetensors 2>err
echo "train: $?"
grep -o 'the ids and.*' err | sed 's/took [0-9]* MiB/took N MiB/'
