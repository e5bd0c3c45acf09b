# Titles beside a release are published: a table about people is refused, as train refuses it for a
# catalogue. The same of every way out.
cp "$CLI_TESTS/fixtures/release.safetensors" r.safetensors
say() {
    echo "== $1"
    echo "== $1" >&2
}
refused() {
    say "$1"
    printf '%b' "$2" >t.csv
    dpmf export -q r.safetensors --web site --catalogue t.csv
    echo "status $?"
}
refused users 'item,user,rating\ndune,ann,5\nalien,bob,3\n'
refused 'ratings without a header' 'dune,ann,5\nalien,bob,3\n'
refused 'events without a header' 'dune,ann\nalien,bob\ndune,bob\n'
refused 'events without a header, each item once' 'dune,ann\nalien,bob\n'
refused 'the header again' 'item,title\ndune,Dune\ntitle,item\nAlien,alien\n'
refused 'the header again, otherwise called' 'item,title\ndune,Dune\nname,Movie_ID\nAlien,alien\n'
refused 'an item that the release does not have, twice' \
    'item,title\ndune,Dune\nother,ann\nother,bob\n'
refused addresses 'item,email\ndune,ann@example.org\n'
refused 'addresses without items' 'e-mail,film\ndune,ann\n'
refused 'users beside titles' 'item,title,customer_id\ndune,Dune,7\n'
refused 'a rating' 'item,title,rating\ndune,Dune,5\n'
refused 'no titles' 'item,seen_by\ndune,ann\n'
refused 'a comment' '# films\ndune,Dune\n'
refused 'a quote over several rows' 'item,title\ndune,"Dune\nalien,Alien"\n'
ls site 2>&1
say "other ways"
printf 'item,user,rating\ndune,ann,5\n' >t.csv
dpmf export -q r.safetensors --csv out --catalogue t.csv
echo "status $?"
dpmf export -q r.safetensors --sqlite out.db --catalogue t.csv
echo "status $?"
dpmf serve -q r.safetensors --port 0 --catalogue t.csv
echo "status $?"
dpmf import -q t.csv -o t.dpr && dpmf export -q r.safetensors --web site --catalogue t.dpr
echo "status $?"
ls
say "tables of titles"
for table in 'item,title\ndune,Dune\nalien,Title\n' 'name;asin\nDune;dune\n' \
    'dune::Dune (2021)::Drama|Sci-Fi\nalien::Alien (1979)::Horror\n' \
    'item,title,public:user\ndune,Dune,7\n'; do
    printf '%b' "$table" >t.csv
    dpmf export -q r.safetensors --web site --replace --catalogue t.csv
    echo "status $?"
    grep -o 'id="dpmf-items">[^<]*' site/index.html
done
