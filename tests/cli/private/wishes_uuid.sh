# A column of UUIDs holds them in small letters: a wish in capitals means the same user, and what is
# no UUID is nobody's id.
dpmf ledger init -q l
tail -c +2 "$CLI_TESTS/../fuzz/corpus/parquet/types" >file.parquet
python3 - <<'PYTHON' # an id with letters
from pathlib import Path
file = Path("file.parquet")
file.write_bytes(file.read_bytes().replace(b"fedcba9876543210",
                                           bytes.fromhex("abcdef0123456789abcdefabcdefabcd")))
PYTHON
printf 'item\n1\n2\n3\n' >items
dpmf import -q file.parquet --on-error skip -o r.dpr
for input in file.parquet r.dpr; do
    for id in 30313233-3435-3637-3839-616263646566 abcdef01-2345-6789-abcd-efabcdefabcd \
        {abcdef01-2345-6789-abcd-efabcdefabcd} abcdef0123456789abcdefabcdefabcd \
        abcdef01-2345-6789-abcd-efabcdefabce 30313233-3435-3637-3839-61626364656 7; do
        id=${id^^}
        printf 'user,epsilon\n%s,0\n' "$id" >wishes.csv
        dpmf train -q --replace $input --epsilon 1 --rating-range -5:5 --catalogue items \
            --user-privacy wishes.csv --ledger l -o x.safetensors --json >said 2>err
        echo "$input $id: $?" \
            "$(grep -o '"users_left_out":[0-9]*\|"wishes[a-z_]*":[0-9]*' said | paste -sd ' ')"
        grep '^dpmf: error' err
    done
done
