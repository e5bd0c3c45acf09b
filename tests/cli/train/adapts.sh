# Settings are found first and printed; the same ones for any number of threads, also the model.
dpmf synth --users 400 --items 80 --ratings 12000 --rank 4 --noise 1.2 -o r.dpr -q
dpmf train r.dpr -k 64 --deterministic -j 1 -o one --progress never 2>&1 |
    grep -c '^chosen in . trials: --learning-rate .* --reg .* --epochs '
dpmf train r.dpr -k 64 --deterministic -j 3 -o three -q
cmp one three
# They are in the model, and given by hand they make the same one but for the word that they were
# found.
dpmf train r.dpr -k 64 --deterministic -o j --json -q >lines.json
grep -c '"event":"adapted"' lines.json
grep -ao '"adapted\\":true' one
again=$(python3 -c '
import json
found = [json.loads(line) for line in open("lines.json")][0]
print("--learning-rate", found["learning_rate"], "--reg", found["regularization"],
      "--epochs", found["epochs"])')
# shellcheck disable=SC2086 # three options and their values
dpmf train r.dpr -k 64 --deterministic $again -o given -q
for model in one given; do dpmf predict $model r.dpr -q >$model.csv; done
cmp one.csv given.csv
# What is interrupted goes on with them.
dpmf train r.dpr -k 64 --deterministic --snapshot s --snapshot-every 5 -o whole -q
dpmf train r.dpr -k 64 --deterministic --resume s -o resumed -q
cmp whole resumed
# All given, nothing is tried; nor by a solver that has no trials, nor with --no-adapt.
dpmf train r.dpr -k 8 --learning-rate 0.03 --reg 0.05 --epochs 3 -o m --progress never 2>&1 |
    grep -c chosen
dpmf train r.dpr -k 8 --goal ranking --epochs 1 -o m --progress never 2>&1 | grep -c chosen
dpmf train r.dpr -k 8 --solver gibbs --epochs 4 -o m --progress never 2>&1 | grep -c chosen
dpmf train r.dpr -k 8 --no-adapt --deterministic --epochs 3 -o fixed --progress never 2>&1 |
    grep -c chosen
dpmf train r.dpr -k 8 --no-adapt --deterministic --learning-rate 0.03 --reg 0.05 --epochs 3 -o m -q
cmp fixed m
# Given in part: that is kept, and the rest is found.
dpmf train r.dpr -k 8 --reg 0.123 --epochs 7 -o m --progress never 2>&1 |
    grep -c '^chosen in . trials: --learning-rate .* --reg 0.123 --epochs 7 '
# Where there is too little memory for a trial, it says so.
dpmf train r.dpr -k 8 --memory 5MiB -j 2 -o m --progress never 2>&1 | grep -E 'too little|chosen'
dpmf train r.dpr --no-adapt --epsilon 1 --rating-range 1:5 --catalogue-from-ratings -o m
