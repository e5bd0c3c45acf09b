# Ratings on too wide a scale: the input is named, not a file of a trial; and ends are whole.
dpmf synth -q --users 300 --items 80 --ratings 9000 -o r.dpr
dpmf export -q r.dpr --csv r.csv
awk -F, 'NR > 1 { $3 *= 1e30 } { print $1 "," $2 "," $3 }' r.csv >wide.csv
dpmf train wide.csv -o wide
echo $?
dpmf train -q r.dpr -k 2 --epochs 1 --no-adapt -o m
awk -F, 'NR > 1 { $3 += 1000000 } { print $1 "," $2 "," $3 }' OFMT=%.9g CONVFMT=%.9g r.csv >far.csv
dpmf train far.csv --continue m -o n
echo $?
