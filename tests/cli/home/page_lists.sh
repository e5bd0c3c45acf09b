# A file that the page saved, with what was kept for later and hidden: only what was rated counts,
# and the rest is reported.
cp "$CLI_TESTS/fixtures/release.safetensors" r.safetensors
printf '%s\n' item,rating,title,list dune,5,Dune, alien,,Alien,later solaris,,Solaris,hidden \
    >mine.csv
dpmf recommend r.safetensors --ratings mine.csv -n 9 --json | grep -c '"item":"dune"'
dpmf recommend r.safetensors --ratings mine.csv -n 9 --json 2>/dev/null |
    grep -o '"item":"[a-z]*"' | sort
printf 'item,rating,title\ndune,5,Dune\nalien,,Alien\n' >bad.csv
dpmf recommend r.safetensors --ratings bad.csv
echo "status $?"
