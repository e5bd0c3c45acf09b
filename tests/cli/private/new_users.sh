# Releases of new users: who takes part, what the statement and the ledger say, what is refused.
dpmf ledger init -q l
# A user every other day from 2025 on; each has 12 records, 20 days apart. Every fortieth has one
# without a time.
awk 'BEGIN {
    print "user,item,rating,timestamp"
    for (u = 0; u < 300; u++)
        for (r = 0; r < 12; r++) {
            t = 1735689600 + u * 172800 + r * 1728000
            if (u % 40 == 7 && r == 3) t = ""
            printf "u%d,i%d,%d,%s\n", u, (u + 3 * r) % 39, 1 + (u + r) % 5, t
        }
}' >r.csv
{
    echo item
    for i in {0..39}; do echo "i$i"; done
} >items.csv
make() {
    dpmf train "$1" --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l \
        --mechanism biases --replace -o x.safetensors "${@:2}" 2>errors
    echo "status $?"
    sed 's/ in [0-9.]* s,/ in TIME,/' errors
}
ids() { sed 's/[0-9a-f]\{32\}  [-0-9]* [:0-9]* UTC/ID  TIME/'; }
echo "in full, unless histories are declared complete"
make r.csv --users-before 2025-07-01
make r.csv --users-since 2025-07-01
dpmf ledger show --ledger l | ids
dpmf describe x.safetensors | grep users
dpmf privacy show x.safetensors | sed -n '/^Who took part/,$p'
dpmf privacy show x.safetensors --registry | grep -o 'Only users whose.*'
dpmf privacy verify x.safetensors | head -1
echo "declared complete"
make r.csv --population p -q --users-since 2025-07-01 --users-before 2026-01-01 --complete-histories
make r.csv --population p -q --users-since 2026-01-01 --complete-histories \
    --ledger-budget 1@1e-5 --json |
    grep -o '"users":.*,"wishes":\|"spent_mu[a-z_]*":[^,]*\|"spent_kind":[^,]*\|status.*'
dpmf ledger show --ledger l --population p | ids
dpmf ledger show --ledger l --population p --json |
    sed 's/"release":"[0-9a-f]*"/ID/; s/"time":[0-9]*/TIME/'
dpmf privacy show x.safetensors | sed -n '/^  The curator declares/,$p'
echo "the day of overlap is over budget, and so is everyone"
make r.csv --population p --users-since 2026-01-01 --users-before 2026-01-02 --complete-histories
make r.csv --population p --users-since 2026-01-01
make r.csv --population p
echo "refused"
make r.csv --users-since 2026-13-01
make r.csv --users-since 2026-01-01 --users-before 2026-01-01
make r.csv --complete-histories
cut -d, -f1-3 r.csv >untimed.csv
make untimed.csv --users-since 2026-01-01
dpmf import -q r.csv --on-error skip -o r.dpr
dpmf split -q r.dpr --train half.dpr --test other.dpr
make half.dpr --users-since 2026-01-01 --complete-histories
head -2 r.csv >one.csv
dpmf import -q half.dpr one.csv --on-error skip -o among.dpr
make among.dpr --users-since 2026-01-01 --complete-histories
dpmf import -q r.csv --on-error skip --rating-range 1:5 -o ranged.dpr # nobody is outside of it
make ranged.dpr --users-since 2026-01-01 --complete-histories
dpmf import -q ranged.dpr one.csv --on-error skip -o among.dpr
make among.dpr --users-since 2026-01-01 --complete-histories
dpmf import -q r.csv --on-error skip --like any -o likes.dpr
for likes in likes.dpr 'r.csv --goal ranking --like 4'; do
    # shellcheck disable=SC2086
    dpmf train $likes --epsilon 1 --catalogue items.csv --ledger l --users-since 2026-01-01 \
        --complete-histories -o y.safetensors
    echo "status $?"
done
dpmf train r.csv --epsilon 1 --rating-range 1:5 --catalogue-from-ratings --ledger l \
    --users-since 2026-01-01 -o y.safetensors
echo "status $?"
echo "milliseconds"
awk -F, -v OFS=, 'NR > 1 && $4 { $4 = $4 "000" } { print }' r.csv >ms.csv
make ms.csv --population q --users-since 2026-01-01
