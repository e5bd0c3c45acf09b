# A column that says no beside one's own items: every row would be an event.
dpmf synth -q --users 60 --items 30 --ratings 900 --catalogue-out items.csv -o r.dpr
dpmf train -q r.dpr --goal ranking --like any --epochs 2 -k 4 -o m.safetensors
printf 'item,liked\n1,yes\n2,no\n' >liked.csv
printf 'item,when\n1,yes\n2,no\n' >when.csv
for file in liked when; do
    dpmf recommend -q m.safetensors --ratings $file.csv -n 1 | wc -l
done
