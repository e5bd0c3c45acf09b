# Wishes mean whom the ratings mean: of a format whose ids are whole numbers, 0001 is 1, and what is
# no number is no one's id.
printf 'item\n1\n2\n3\n4\n' >items
dpmf ledger init -q l
for u in $(seq 1 60); do for i in 1 2 3; do echo "$u $i $((1 + (u + i) % 5))"; done; done >r.libmf
{ printf '%%%%MatrixMarket matrix coordinate real general\n60 4 180\n'; cat r.libmf; } >r.mtx
{ echo user,epsilon; for u in $(seq 1 50); do printf '%04d,0\n' "$u"; done; } >wishes
try() {
    dpmf train --replace \
        -q "$1" --format "$2" --user-privacy wishes --epsilon 1 --rating-range 1:5 \
        --catalogue items --ledger l -o x.safetensors --json |
        grep -o '"users":[0-9]*\|"users_left_out":[0-9]*\|"wishes[a-z_]*":[0-9]*' | paste -sd ' '
}
try r.libmf libmf
try r.mtx matrixmarket
dpmf import -q r.libmf --format libmf --on-error skip -o r.dpr
try r.dpr dpr
