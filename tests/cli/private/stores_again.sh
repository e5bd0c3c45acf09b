# No record of a store is bad: stores that were made by dropping bad records are imported again
# without --on-error skip, and private runs accept the result. Not where another input, or an
# option, could make a record bad.
printf 'user,item,rating\n1,a,3\n2,b,x\n' >r.csv
printf 'user,item,rating\n3,a,3\n' >more.csv
printf 'user,item,rating\n' >none.csv
dpmf import -q r.csv --on-error skip -o r.dpr
dpmf import -q more.csv --on-error skip -o more.dpr
dpmf import -q none.csv --on-error skip -o none.dpr
dpmf import -q more.csv -o stopping.dpr
try() {
    dpmf import -q -o again.dpr "$@"
    echo "$*: $?, $(dpmf describe again.dpr | grep -o 'private runs.*')"
}
try r.dpr
try r.dpr more.dpr
try none.dpr
try none.dpr --like 4
try r.dpr stopping.dpr
try r.dpr more.csv
try r.dpr --rating-range 1:5
try r.dpr --rescale 1:5=0:1
try r.dpr more.csv --on-error skip
