# Dates written as numbers are seconds of 1970, and so are row numbers: said wherever times are
# read, and of a store too before a release of a period is made.
dpmf ledger init -q l
awk 'BEGIN {
    print "user,item,rating,timestamp"
    for (u = 0; u < 60; u++)
        for (r = 0; r < 6; r++)
            printf "u%d,i%d,%d,%d\n", u, (u + 3 * r) % 20, 1 + (u + r) % 5,
                20250101 + 10000 * (u % 2) + 100 * r + u / 4
}' >days.csv
awk -F, -v OFS=, 'NR > 1 { $4 = NR * 97 } { print }' days.csv >rows.csv
awk -F, -v OFS=, 'NR > 1 { $4 = NR % 2 ? 1600000000 : NR % 3 ? 1600000000000 : 16 "00000000000000" }
    { print }' days.csv >units.csv
{
    echo item
    for i in {0..20}; do echo "i$i"; done
} >items.csv
make() {
    dpmf train "$1" --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l \
        --mechanism biases --replace -o x.safetensors "${@:2}" 2>&1 | grep warning:
}
# A twelfth of the records, of which most people have one: their first record would be in 1970.
awk -F, -v OFS=, 'NR > 1 { $4 = NR % 12 ? 1760000000 + NR : 0 } { print }' days.csv >zeros.csv
for name in days rows units zeros; do
    echo "$name"
    dpmf import "$name.csv" --on-error skip --progress never -o "$name.dpr" 2>&1 | grep warning:
    make "$name.csv" --users-before 2026-01-01
    echo packed
    make "$name.dpr" --users-before 2026-01-01
    make "$name.dpr" # where no period matters, nor do times
done
exit 0
