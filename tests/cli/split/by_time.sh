dpmf synth -q --users 300 --items 80 --ratings 6000 --timestamps -o r.dpr

# The earliest of the test is not before the latest of the training.
dpmf split -q r.dpr --by time --test-fraction 0.2 --train a.dpr --test b.dpr
last=$(dpmf describe a.dpr --json | grep -o '"last_time":[-0-9]*' | cut -d: -f2)
first=$(dpmf describe b.dpr --json | grep -o '"first_time":[-0-9]*' | cut -d: -f2)
((last <= first)) && echo in order
