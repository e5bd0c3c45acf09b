# Without a header, the third column is guessed to be the rating. What looks like a time there is
# one, in seconds or as a date, unless the columns are declared.
for row in '1,2,978300760' '1,2,20010203' '1,2,978300760000' '1,2,978300760,5'; do
    printf '%s\n' "$row" >t.csv
    dpmf describe t.csv
    echo "status $?"
done
printf '1::2::978300760\n' >t.dat
dpmf describe t.dat
printf '1 2 978300760\n' >t.txt
dpmf describe t.txt
echo "== declared"
printf '1,2,978300760\n' >t.csv
dpmf describe t.csv --columns user,item,timestamp --json |
    grep -o '"ratings":[0-9]*\|"events":[0-9]*'
dpmf describe t.csv --columns user,item,rating --json | grep -o '"max":[0-9]*'
printf 'user,item,rating\n1,2,978300760\n' >t.csv
dpmf describe t.csv --json | grep -o '"max":[0-9]*'
printf '1,2,5,978300760\n' >t.csv
dpmf describe t.csv --json | grep -o '"max":[0-9]*'
