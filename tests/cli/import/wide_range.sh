# A range that is far wider than all ratings refuses nothing: it was declared for another scale.
dpmf synth -q --users 40 --items 20 --ratings 300 -o r.dpr
dpmf export -q r.dpr --csv r.csv
dpmf import r.csv --rating-range 1:5000 -o wide.dpr 2>&1 | grep warning
dpmf train -q r.csv --rating-range 1:5000 -k 2 --epochs 1 -o m.safetensors
dpmf train r.csv --rating-range 1:5000 -k 2 --epochs 1 -o m.safetensors 2>&1 | grep warning
dpmf import r.csv --rating-range 0:10 -o r.dpr 2>&1 | grep warning
head -n 50 r.csv >few.csv
dpmf import few.csv --rating-range 1:5000 -o few.dpr 2>&1 | grep warning
dpmf import r.csv --rescale 1:5=1:5000 --rating-range 1:5000 -o r.dpr 2>&1 | grep warning
exit 0
