# Settings of the library's texts are shown as options; what comes from outside and looks like one
# is not.
printf 'user,item,rating\na,b,{memory}\n' >'{memory}.csv'
dpmf import '{memory}.csv' -o r.dpr
dpmf import '{memory}' -o r.dpr
dpmf import '{memory}.csv' --columns '{epochs 3},{{' -o r.dpr
printf 'user,item,rating\na,b,3\n{x},{y},{epochs 3}\n' >'{}.csv'
dpmf import '{}.csv' -o r.dpr --on-error skip --json --quiet |
    grep -o '"first_skipped":"[^"]*"[^"]*"[^"]*"'
dpmf describe '{}.csv' --on-error skip >/dev/null
