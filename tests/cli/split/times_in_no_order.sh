# A split by time is one: what its times do not put in order is said.
dpmf synth -q --users 300 --items 80 --ratings 6000 --timestamps -o r.dpr
dpmf export -q r.dpr --csv r.csv
head -n 1001 r.csv >1000.csv
try() {
    echo "$1"
    dpmf split -q "$1" --by time --replace --train a.dpr --test b.dpr
    dpmf split "$1" --by time --replace --progress never --train a.dpr --test b.dpr 2>&1 |
        grep -E 'warning'
    dpmf import "$1" --replace --progress never -o c.dpr 2>&1 | grep warning
    dpmf describe c.dpr 2>&1 | grep warning
    dpmf describe "$1" 2>&1 | grep warning
}
awk -F, 'NR > 1 {$4 = 0} {print $1","$2","$3","$4}' 1000.csv >equal.csv
try equal.csv
awk -F, 'NR > 1 && NR % 10 == 0 {$4 = $4 "000"} {print $1","$2","$3","$4}' 1000.csv >mixed.csv
try mixed.csv
awk -F, 'NR > 1 {$4 = NR < 850 ? 1000 + NR : 2000} {print $1","$2","$3","$4}' 1000.csv >ties.csv
try ties.csv
awk -F, 'NR > 1 {$4 = NR < 500 ? "" : 1000 + NR} {print $1","$2","$3","$4}' 1000.csv >some.csv
try some.csv
# Milliseconds all over are in order.
awk -F, 'NR > 1 {$4 = 1000 + NR "000000000"} {print $1","$2","$3","$4}' 1000.csv >milli.csv
try milli.csv
exit 0
