# A run that continues with another validation set, whose errors do not compare with those of the
# first, forgets the best epoch so far; and with other ratings of the same shape it is refused.
dpmf synth -q --users 300 --items 80 --ratings 6000 -o r.dpr
dpmf split -q r.dpr --train a.dpr --test b.dpr
dpmf export -q b.dpr --csv b.csv
awk -F, 'NR == 1 || $3 == 4' b.csv >easy.csv
awk -F, 'NR == 1 || $3 != 4' b.csv >hard.csv
learn() { dpmf train "$@" -k 4 --no-adapt --deterministic -o m.safetensors 2>&1; }
learn a.dpr --epochs 2 --decay 0 --valid easy.csv --snapshot s.safetensors -q
learn a.dpr --epochs 4 --decay 0 --valid hard.csv --resume s.safetensors |
    sed -n 's/.*\(warning: the snapshot keeps the best epoch so far\).*; /\1; /p'
learn a.dpr --epochs 4 --decay 0 --valid easy.csv --resume s.safetensors | grep -c 'forgotten'
dpmf export -q a.dpr --csv a.csv
awk -F, 'NR == 1 { print; next } { print $1 "," $2 "," 6 - $3 }' a.csv >turned.csv
dpmf import -q turned.csv -o turned.dpr
dpmf import -q a.csv -o same.dpr
learn same.dpr --epochs 2 --decay 0 --snapshot s2.safetensors -q
learn turned.dpr --epochs 4 --decay 0 --resume s2.safetensors
echo "exit $?"
