# The newest rating of a title counts, however its date is written; where no date is understood, or
# a column is not used, that is said, and so is a "no" that would count as a yes.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
printf 'item,title\ndune,Dune\nalien,Alien\nsolaris,Solaris\nbrazil,Brazil\n' >titles.csv
try() {
    printf '%s\n' "$@" >diary.csv
    echo "-- $1; $2"
    dpmf predict m --ratings diary.csv --catalogue titles.csv --item dune 2>&1 | grep -v matched
}
# one row alone, to compare with: the newest of all that follow, and then the oldest
try title,rating Dune,1
try title,rating Dune,5
for dates in '2021-12-31 2021-01-01' '12/31/2021 01/01/2021' '31/12/2021 01/01/2021' \
    '31.12.2021 01.01.2021' '20211231 20210101' '1640000000 1600000000' \
    '1640000000123 1600000000123' '2021-05-01T10:00:01Z 2021-05-01T10:00:00Z'; do
    try "title,rating,date" "Dune,1,${dates% *}" "Dune,5,${dates#* }"
done
try title,rating,date 'Dune,1,"Dec 31, 2021"' 'Dune,5,1 January 2021'
try title,rating,date 'Dune,1,31 Dec 2021' 'Dune,5,1 January 2021'
for name in timestamp watched_at 'Date Rated' time; do
    try "title,rating,$name" Dune,1,1640000000 Dune,5,1600000000
done
echo "not understood"
try title,rating,date Dune,1,02/03/2021 Dune,5,01/02/2021
try title,rating,date Dune,1,31/12/2021 Dune,5,12/31/2020
try title,rating,date Dune,1,yesterday Dune,5,2021-01-01
try title,rating,day Dune,1,2021-12-31 Dune,5,2021-01-01
echo "columns"
try 'title,my rating,mood' Dune,1,good
try title,liked Dune,yes Alien,no
try title,Watched Dune,TRUE Alien,FALSE
try title,rating,liked Dune,1,no
exit 0
