# What cannot be used is refused, with where and why.
cp "$CLI_TESTS/fixtures/release.safetensors" .
use() { dpmf recommend release.safetensors --ratings "$@" -q >items; echo "$?"; }
printf 'Date,Name,Year,Letterboxd URI,Rating\n2021-01-01,Dune,1984,u,4\n2021-01-02,Alien,1979,u,many\n' >ratings.csv
use ratings.csv
use ratings.csv --on-error skip
use ratings.csv --rescale 0:10=1:5
cp ratings.csv my-watchlist.csv
use my-watchlist.csv
printf 'Profile Name,Start Time,Title,Supplemental Video Type\nA,,Dune,\nB,,Dune,\n' >activity.csv
use activity.csv
