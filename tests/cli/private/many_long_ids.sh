# One person with more ids than the memory holds, none of them in the catalogue, decides neither
# whether there is a store nor whether there is a release; the curator is warned. Where bad records
# are not dropped there is no such promise, and the bound of memory holds.
dpmf ledger init -q l
printf 'item\na\nb\nc\nd\n' >items.csv
{
    echo user,item,rating
    for u in 1 2 3 4 5 6; do
        for i in a b c d; do echo "u$u,$i,$((u % 5 + 1))"; done
    done
    s=$(head -c 60000 /dev/zero | tr '\0' x)
    for ((i = 0; i < 600; i++)); do echo "mallory,$s$i,3"; done
    echo u7,a,4
} >r.csv
dpmf import -q r.csv --memory 64MiB -o strict.dpr 2>/dev/null
echo "strict: $?"
dpmf import r.csv --on-error skip --memory 64MiB -o r.dpr 2>err
echo "import: $?"
grep -o 'the ids took.*' err | sed 's/took [0-9]* MiB/took N MiB/'
for input in r.csv r.dpr; do
    dpmf train --replace "$input" --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l \
        --memory 64MiB -o x.safetensors \
        2>err
    echo "train $input: $?"
    grep -o 'the ids took.*' err | sed 's/took [0-9]* MiB/took N MiB/'
    grep -o '[0-9]* of [0-9]* ratings.*' err
done
