# Two models, two runs: with a budget, what each may spend
printf 'user,item\na,x\nb,y\n' >events.csv
for more in "" "--epsilon 1" "--epsilon 2 --delta 1e-6" "--epsilon 0" "--epsilon 1 --delta 2"; do
    dpmf train events.csv --goal both $more -o m.safetensors
    echo "$?"
done
ls
