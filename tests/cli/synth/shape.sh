dpmf synth -q --like ml-100k --ratings 20000 --scale 0.5:5:0.5 -o r.dpr
dpmf describe r.dpr --json |
    grep -o -e '"ratings":[0-9]*' -e '"min":[0-9.]*' -e '"max":[0-9.]*' -e '"step":[0-9.]*'
