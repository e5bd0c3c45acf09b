# Ratings that training cannot be judged by: another scale, ids that match nobody, the ratings it
# learns from, whole or in part, by way of stores and of text
export LC_ALL=C
dpmf synth -q --users 200 --items 60 --ratings 4000 --seed 3 -o all.dpr
dpmf split -q all.dpr --train tr.dpr --test te.dpr
dpmf export -q te.dpr --csv te.csv
dpmf export -q tr.dpr --csv tr.csv
map() { awk -F, -v OFS=, "NR == 1 { print \"user,item,rating\"; next } { print $1 }" te.csv; }
map '$1, $2, $3 * 20' >percent.csv
map '$1, $2, $3 / 5' >part.csv
map '$1 ".0", $2 ".0", $3' >floats.csv
map '$1 ".0", $2, $3' >users.csv
{ cat te.csv && sed 1d tr.csv | head -n 20; } >some.csv
try() {
    dpmf "$@" -k 2 --epochs 1 --no-adapt --deterministic -o m.s >said 2>&1
    echo "exit $?"
    grep -A1 'dpmf: error' said
    grep 'dpmf: warning' said
}
for valid in percent part floats te users some; do
    try train tr.dpr --valid $valid.csv
done
dpmf train -q tr.dpr --goal ranking -k 2 --valid users.csv -o m.s 2>&1 | head -n 1
try train all.dpr --valid te.dpr
try train te.dpr --valid all.dpr
try train tr.dpr --valid tr.dpr
try train tr.csv --valid tr.dpr
for valid in percent floats; do
    dpmf tune tr.dpr --valid $valid.csv --trials 1 -k 2 --epochs 1 -q
    echo "exit $?"
done
# what is added to a model is compared with what is added, and with the model
try train tr.dpr
for valid in percent floats te tr; do
    dpmf train te.csv --continue m.s --valid $valid.csv -q -o c.s
    echo "exit $?"
done
# a rating a step beyond those trained on is ordinary, and so are events that happen again
awk -F, -v OFS=, 'NR > 1 && NR < 5 { $3 = 0.5 } { print $1, $2, $3 }' te.csv >step.csv
try train tr.dpr --valid step.csv
printf 'user,item\na,x\na,y\nb,x\nb,z\nc,z\n' >before.csv
printf 'user,item\na,x\nb,y\nc,x\n' >after.csv
dpmf train -q before.csv -k 2 --epochs 1 --valid after.csv -o m.s && echo trained
