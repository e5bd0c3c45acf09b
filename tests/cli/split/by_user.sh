dpmf synth -q --users 300 --items 80 --ratings 6000 --timestamps -o r.dpr

dpmf split -q r.dpr --by user --train a.dpr --test b.dpr
comm -12 <(dpmf export -q a.dpr --csv - | tail -n +2 | cut -d, -f1 | sort -u) \
    <(dpmf export -q b.dpr --csv - | tail -n +2 | cut -d, -f1 | sort -u) | wc -l
