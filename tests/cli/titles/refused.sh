# What cannot be used is refused, with where and why.
cp "$CLI_TESTS/fixtures/release.safetensors" .
use() { dpmf recommend release.safetensors --ratings "$@" -q >items; echo "$?"; }
printf '%s\n' 'Date,Name,Year,Letterboxd URI,Rating' 2021-01-01,Dune,1984,u,4 \
    2021-01-02,Alien,1979,u,many >ratings.csv
use ratings.csv
use ratings.csv --on-error skip
use ratings.csv --rescale 0:10=1:5
cp ratings.csv my-watchlist.csv
use my-watchlist.csv
printf 'Profile Name,Start Time,Title,Supplemental Video Type\nA,,Dune,\nB,,Dune,\n' >activity.csv
use activity.csv
echo "== columns that name people"
printf 'item,title\ndune,Dune (1984)\nalien,Alien (1979)\n' >t.csv
for name in account profile 'Profile Name' member reviewer customer person owner; do
    printf 'title,rating,%s\nDune,4,A\nAlien,2,B\n' "$name" >several.csv
    use several.csv --catalogue t.csv
    printf 'item,rating,%s\ndune,4,A\nalien,2,B\n' "$name" >several.csv
    use several.csv
    printf 'item,rating,%s\ndune,4,A\nalien,2,A\n' "$name" >one.csv
    use one.csv
done
use - <several.csv
printf 'title,rating,owner\nDune,4,A\nAlien,2,A\n' >one.csv
use one.csv --catalogue t.csv
printf 'account,4\nalien,2\n' >bare.csv # an item may be called so
use bare.csv
