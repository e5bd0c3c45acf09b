# A model of likes is measured on all ratings of TEST only with a word.
dpmf synth -q --users 300 --items 60 --ratings 6000 -o r.dpr
dpmf split -q r.dpr --train a.dpr --test b.dpr
dpmf export -q b.dpr --csv b.csv
awk -F, 'NR == 1 || $3 >= 4' b.csv >liked.csv
dpmf train -q a.dpr --goal ranking --like 4 -k 4 --epochs 2 -o likes.st
dpmf train -q a.dpr --goal ranking -k 4 --epochs 2 -o any.st
look() { dpmf evaluate "$@" --history a.dpr 2>&1 >/dev/null | grep 'learned from'; }
look likes.st b.dpr
look likes.st b.dpr -q
look likes.st b.dpr --like 4
look likes.st liked.csv
look any.st b.dpr
exit 0
