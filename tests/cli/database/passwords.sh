# What is no address that dpmf knows may still hold a password: it is shown nowhere
printf 'user,item,rating\n1,2,3\n' >r.csv
mkdir tried
cd tried || exit
while read -r address; do
    dpmf import "$address" -o r.dpr
    dpmf describe --json "$address"
    dpmf import ../r.csv -o "$address"
    dpmf "$address"
    dpmf train ../r.csv --epsilon 1 --rating-range 1:5 --catalogue "$address" -o m.safetensors
    dpmf ledger show --ledger "$address"
    dpmf recommend m.safetensors --ratings "$address"
    dpmf import ../r.csv -o "$address" -o "$address"
    rm -rf -- *
done <<'END' 2>../said >&2
jdbc:postgresql://a/b?user=x&password=SECRET
host=a password=SECRET dbname=x
dpmf:SECRET@host/db
sqlite://a:SECRET@b/x?table=p
postgres//u:SECRET@h/x
mysql:a:SECRET@b
x?p%61ssword=SECRET&table=t
END
cd .. || exit
grep SECRET said || grep -q -F '***' said && echo "not shown"
# Nor a part of one that is too long to be shown
long=$(printf 'Q%.0s' {1..3000})
dpmf "mysql://ann:$long@h/x" 2>&1 | grep -c QQ
dpmf "dpmf:$long@h/x" 2>&1 | grep -c QQ
dpmf import "mysql://ann:$long@h/x" -o r.dpr 2>&1 | grep -c QQ
dpmf import r.csv -o "mysql:a:$long@h" -o x 2>&1 | grep -c QQ
# As errors show them; a name that only has such signs stays as it is
for address in 'jdbc:postgresql://a/b?user=x&password=SECRET' 'host=a password=SECRET dbname=x' \
    'dpmf:SECRET@host/db' \
    'sqlite://a:SECRET@b/x?table=p' 'postgres//u:SECRET@h/x' 'mysql:a:SECRET@b' \
    '10:00/ann@example.org' 'ann@example.org:22'; do
    dpmf import "$address" -o r.dpr
done
dpmf 'jdbc:postgresql://a/b?user=x&password=SECRET'
dpmf import r.csv -o 'jdbc:postgresql://a/b?user=x&password=SECRET'
dpmf train r.csv --epsilon 1 --rating-range 1:5 --catalogue 'dpmf:SECRET@host/db' -o m.safetensors
dpmf ledger show --ledger 'dpmf:SECRET@host/db'
mkdir 'mysql:a:SECRET@b'
dpmf shard r.csv --parts 1 -o 'mysql:a:SECRET@b'
rmdir 'mysql:a:SECRET@b'
# One that can be a file's name is not shown in a note either
dpmf import r.csv -o 'mysql:a:SECRET@b' 2>&1 | grep -o 'into [^ ]*'
