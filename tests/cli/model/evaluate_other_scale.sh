# Ratings on another scale than the model's are refused wherever they are brought to it; a few
# beyond its ends are ordinary
export LC_ALL=C
dpmf synth -q --users 200 --items 60 --ratings 4000 --seed 3 -o all.dpr
dpmf split -q all.dpr --train tr.dpr --test te.dpr
dpmf train -q tr.dpr -k 2 --epochs 1 --no-adapt --deterministic -o m.s
dpmf export -q te.dpr --csv te.csv
map() {
    awk -F, -v OFS=, "NR == 1 { print \"user,item,rating\"; next } { print \$1, \$2, $1 }" te.csv
}
map '$3 * 20' >percent.csv
map '$3 / 5' >part.csv
map '$3 * 2' >ten.csv
map 'NR < 5 ? 0.5 : $3' >step.csv
map 'NR < 5 ? 50 : $3' >slips.csv
read -r user item < <(awk -F, 'NR == 2 { print $1, $2 }' te.csv)
for test in percent part ten; do
    dpmf evaluate m.s $test.csv
    echo "exit $?"
done
dpmf evaluate m.s percent.csv --rescale 20:100=1:5 | grep ratings
dpmf evaluate m.s step.csv | grep ratings
dpmf evaluate m.s slips.csv | grep ratings
for verb in recommend "explain --item $item" "predict --item $item"; do
    dpmf ${verb%% *} m.s --user "$user" ${verb#"${verb%% *}"} --history percent.csv
    echo "exit $?"
done
dpmf evaluate m.s te.dpr --ranking --history percent.csv
dpmf evaluate m.s te.dpr --candidates te.csv --history percent.csv
dpmf recommend m.s --all-users --history percent.csv
printf 'item,rating\n1,100\n2,20\n3,60\n' >mine.csv
dpmf recommend m.s --ratings mine.csv
echo "exit $?"
# one in a hundred beyond the scale is said; three of one's own that are all off are refused
map 'NR < 5 ? 0 : $3' | head -n 300 >zeros.csv
dpmf evaluate m.s zeros.csv | grep ratings
dpmf predict m.s --ratings 1:10,2:7,3:9 --item 5
echo "status $?"
dpmf predict m.s --ratings 1:10,2:7,3:4 --item 5 2>&1 | grep -o 'outside.*'
