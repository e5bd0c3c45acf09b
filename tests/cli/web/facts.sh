# Kinds and years of titles come from the catalogue: by its header, or as MovieLens has them; a
# catalogue without them gives no filter.
cp "$CLI_TESTS/fixtures/release.safetensors" r.safetensors
facts() { dpmf export -q r.safetensors --web site --replace --catalogue "$1" &&
    { grep -o 'id="dpmf-facts">[^<]*' site/index.html || echo none; }; }
printf '%s\n' item,title,year,genres 'dune,Dune,2021,"Drama|Sci-Fi"' \
    'alien,Alien (1979),,Sci-Fi; Horror' other,X,1990,Y 'solaris,S,soon,(no genres listed)' >a.csv
facts a.csv
printf 'dune::Dune (2021)::Drama|Sci-Fi\nalien::Alien (1979)::Horror\n' >b.dat
facts b.dat
printf 'item,title\ndune,Dune\nalien,Alien\n' >c.csv
facts c.csv
printf 'item;title;release_date;genre\ndune;Dune;2021-10-22;x\x01y\n' >d.csv
printf 'alien;"Alien";19790;Horror\n' >>d.csv
facts d.csv
printf "item,title,genres\ndune,Dune,Comédie|\351t\351|%070d\n" 1 >f.csv
facts f.csv
dpmf export r.safetensors --web site --replace --catalogue f.csv 2>&1 | grep -o ".* kinds of.*"
awk 'BEGIN { print "item,title,genres"; for (i = 0; i < 60; i++) { printf "%d,Film %d,", i, i;
    for (j = 0; j < 10; j++) printf "k%d|", i * 10 + j; print "" } }' >e.csv
dpmf ledger init -q ledger
awk 'BEGIN { print "user,item,rating"
    for (i = 0; i < 600; i++) print i % 50 "," i % 59 "," i % 5 + 1 }' >r.csv
dpmf train -q r.csv --epsilon 1 --rating-range 1:5 --catalogue e.csv --ledger ledger \
    -o many.safetensors
dpmf export many.safetensors --web site --replace --catalogue e.csv 2>&1 |
    grep -o 'the catalogue has more than.*'
