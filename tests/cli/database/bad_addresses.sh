# Addresses that are none; what could be a password is never shown
python3 "$CLI_TESTS/database/make_database.py"
for address in 'sqlite:ratings.db' 'sqlite:ratings.db?' 'sqlite:' \
    'sqlite:ratings.db?tabel=ratings' \
    'sqlite:ratings.db?query=SELECT 1 & 2' "sqlite:ratings.db?query=SELECT '100%'" \
    'sqlite:ratings.db?table=a&query=SELECT 1' \
    'postgres://ann:SECRET@localhost/shop?table=ratings' \
    'postgresql://localhost/shop?table=ratings&password=SECRET' \
    'postgres://ann:SE/CRET@localhost/shop?table=ratings' 'postgres://localhost/shop' \
    'POSTGRES://ann:SECRET@localhost/shop?table=ratings' \
    'postgres://localhost/shop?PASSWORD=SECRET&table=ratings' \
    'postgres://localhost/shop?user=ann:SECRET&table=ratings' \
    'postgres://localhost/user=ann password=SECRET?table=ratings' \
    'mysql://ann:SECRET@localhost/shop' \
    'postgresql+psycopg2://ann:SECRET@localhost/shop?table=ratings' \
    'postgres:ann:SECRET@localhost/shop' 'postgres:/ann:SECRET@localhost/shop'; do
    dpmf import "$address" -o r.dpr
    echo "exit $?"
done
# An address where none is expected
printf 'user,item,rating\n1,2,3\n' >r.csv
dpmf import r.csv -o 'postgres://ann:SECRET@localhost/shop'
echo "exit $?"
dpmf describe ratings.db 'postgres://ann:SECRET@localhost/shop'
echo "exit $?"
dpmf 'postgres://ann:SECRET@localhost/shop'
echo "exit $?"
dpmf import --format csv 'sqlite:ratings.db?table=ratings' -o r.dpr
echo "exit $?"
dpmf import --columns user,item,rating 'sqlite:ratings.db?table=ratings' -o r.dpr
echo "exit $?"
