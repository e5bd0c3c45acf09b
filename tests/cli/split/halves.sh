# A store knows of which split it is a half: files of two splits are not trained and tested on.
dpmf synth -q --users 300 --items 80 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf split -q r.dpr --train a.dpr --test b.dpr
dpmf split -q r.dpr --seed 2 --train a2.dpr --test b2.dpr
few='--no-adapt --epochs 1 -k 2 -q'
dpmf train a.dpr --valid b.dpr $few -o m.safetensors && echo trained
dpmf train a.dpr --valid b2.dpr $few -o n.safetensors || echo "status $?"
dpmf tune a.dpr --valid b2.dpr -q || echo "status $?"
dpmf evaluate m.safetensors b.dpr --history a.dpr -q >/dev/null && echo evaluated
dpmf evaluate m.safetensors b.dpr --history a2.dpr -q || echo "status $?"
ls n.safetensors 2>/dev/null || echo nothing

# What is made of a half is one: shards, events, and a half of a half.
dpmf shard -q a.dpr --parts 2 -o shards
dpmf train shards --valid b.dpr $few -o m.safetensors && echo trained
dpmf train shards --valid b2.dpr $few -o n.safetensors || echo "status $?"
dpmf import -q a.dpr --like 3 -o events.dpr
dpmf import -q b2.dpr --like 3 -o events2.dpr
dpmf train events.dpr --valid events2.dpr --solver ials --epochs 1 -k 2 -q -o n.safetensors ||
    echo "status $?"
dpmf split -q a.dpr --seed 3 --train aa.dpr --test av.dpr
dpmf train aa.dpr --valid av.dpr $few -o m.safetensors && echo trained
dpmf train aa.dpr --valid b.dpr $few -o m.safetensors && echo trained
dpmf train a.dpr --valid av.dpr $few -o n.safetensors || echo "status $?"

# The same seed again would not give the share that is asked for.
dpmf split -q a.dpr --test-fraction 0.3 --train x.dpr --test y.dpr || echo "status $?"

# Both halves together, and what was never split, are no halves: the ratings themselves tell.
dpmf import -q a.dpr b.dpr -o both.dpr
dpmf train both.dpr --valid b2.dpr $few -o n.safetensors || echo "status $?"
dpmf export -q b2.dpr --csv b2.csv
dpmf train a.dpr --valid b2.csv $few -o n.safetensors || echo "status $?"
dpmf export -q b.dpr --csv b.csv
dpmf train a.dpr --valid b.csv $few -o m.safetensors && echo trained

# A private run for research says so before it spends anything.
dpmf train a.dpr --valid b2.dpr --research --epsilon 1 --rating-range 1:5 --catalogue items.csv \
    --ledger l -q -o x.safetensors || echo "status $?"
ls l x.safetensors 2>/dev/null || echo nothing
