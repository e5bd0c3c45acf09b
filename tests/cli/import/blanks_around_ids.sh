# Blanks after separators belong to ids, which is said: " 7" is not "7".
printf 'user, item, rating\nann, dune, 3\nann, solaris, 4\n' >all.csv
printf 'item,user,rating\ndune,ann,3\nsolaris, ann,4\nemma ,bob,2\n' >some.csv
printf '{"user":"ann","item":" dune","rating":3}\n' >one.jsonl
dpmf import all.csv -o all.dpr 2>&1 | grep blanks
dpmf export -q all.dpr --csv -
dpmf import some.csv -o some.dpr 2>&1 | grep blanks
dpmf import one.jsonl -o one.dpr 2>&1 | grep blanks
tail -n +2 some.csv | tr -d ' ' |
    dpmf import - --columns item,user,rating -o none.dpr 2>&1 | grep -c blanks
true
