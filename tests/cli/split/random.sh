dpmf synth -q --users 300 --items 80 --ratings 6000 --timestamps -o r.dpr

# Every rating is in one of the two, and the seed decides.
dpmf split -q r.dpr --train a.dpr --test b.dpr --test-fraction 0.25
diff <(dpmf export -q r.dpr --csv - | sort) <({ dpmf export -q a.dpr --csv -; dpmf export \
    -q b.dpr --csv - | tail -n +2; } | sort) && echo whole
dpmf split -q r.dpr --train a2.dpr --test b2.dpr --test-fraction 0.25 -j 1
cmp a.dpr a2.dpr && cmp b.dpr b2.dpr && echo same
dpmf split -q r.dpr --train a3.dpr --test b3.dpr --test-fraction 0.25 --seed 99
cmp -s b.dpr b3.dpr || echo other
stat -c '%a %n' a.dpr b.dpr
