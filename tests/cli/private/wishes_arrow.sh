# Where a column of Arrow holds numbers, a wish for an id that is none is refused: nobody can have
# it. One that is spelled in another way means the same user. Texts are what they are.
dpmf ledger init -q l
tail -c +2 "$CLI_TESTS/../fuzz/corpus/arrow_ipc/file" >file.arrow
printf 'item\nann\nbob\n' >items.csv
dpmf import -q file.arrow --user-column item --item-column user --on-error skip -o numbers.dpr
dpmf import -q file.arrow --on-error skip -o texts.dpr
for input in numbers texts; do
    for id in ann 1.5 +01 -1; do
        printf 'user,epsilon\n%s,0.5\n' "$id" >wishes.csv
        dpmf train --replace $input.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv \
            --user-privacy wishes.csv --ledger l \
            -o x.safetensors >/dev/null 2>err
        echo "$input $id: $?"
        grep -E '^dpmf: error|wish' err
    done
done
dpmf train --replace \
    file.arrow --user-column item --item-column user --epsilon 1 --rating-range 1:5 \
    --catalogue items.csv \
    --user-privacy <(printf 'user,epsilon\nann,0.5\n') --ledger l -o x.safetensors 2>/dev/null
echo "file: $?"
