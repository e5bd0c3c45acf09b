# Lines of a catalogue that are no items would be published as some; and a catalogue that is what
# was rated and a line besides, which is no item
dpmf ledger init -q l
{
    echo user,item,rating
    for i in {1..60}; do echo "u$((i % 7)),i$i,$((1 + i % 5))"; done
} >ratings.csv
try() {
    echo "# $1"
    dpmf train ratings.csv --epsilon 0.01 --rating-range 1:5 --catalogue "$1" --ledger l --replace \
        -o r.safetensors 2>&1 | grep -e 'the catalogue' || true
}
{ echo item; for i in {1..90}; do echo "i$i"; done; } >good
try good
{
    cat good
    printf '# comment\n   \nTotal: 3\n(3 rows)\n----\n{"item":"i1"}\n#1 hit\nTotal Recall\n'
} >odd
try odd
for word in Items sku Artikelnummer; do
    sed "s/^item$/$word/" good >first
    try first
done
cut -d, -f2 ratings.csv | sort -u >sorted
try sorted
{ sed 1,2d ratings.csv | cut -d, -f2; echo i1; echo 'Total: 60'; } | sed 1iitem >nearly
try nearly
{ sed 1,2d ratings.csv | cut -d, -f2; echo i1; echo i61; } | sed 1iitem >one_more
try one_more
