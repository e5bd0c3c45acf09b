# A solver for ratings refuses events, and names the file that it was given.
dpmf synth -q --users 300 --items 60 --ratings 4500 --events --seed 3 -o events.dpr
dpmf export -q events.dpr --csv events.csv
for input in events.dpr events.csv; do
    dpmf train -q "$input" --goal rating -o m.safetensors
    echo "$?"
done
