# An archive of two people's folders is two people: one list of recommendations cannot be for both.
command -v python3 >/dev/null || { echo "needs python3" && exit 77; }
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'item,title\ndune,Dune (1984)\nalien,Alien (1979)\nsolaris,Solaris (1972)\n' >t.csv
python3 - <<'PYTHON'
import zipfile
def make(name, files):
    with zipfile.ZipFile(name, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
head = "Date,Name,Year,Letterboxd URI,Rating\n"
dune, alien = head + "2021-01-01,Dune,1984,u,5\n", head + "2021-01-01,Alien,1979,u,1\n"
make("two.zip", {"ann/ratings.csv": dune, "bob/ratings.csv": alien})
make("beside.zip", {"ratings.csv": dune, "bob/ratings.csv": alien})
diary = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Tags,Watched Date\n"
diary += "2021-01-01,Alien,1979,u,1,,,2021-01-01\n"
make("halves.zip", {"ann/ratings.csv": dune, "bob/diary.csv": diary})
make("plain.zip", {"ann/mine.csv": "title,rating\nDune,5\n",
                   "bob/mine.csv": "title,rating\nAlien,1\n"})
film = '[{"rated_at":"2021-01-01T00:00:00.000Z","rating":%d,"type":"movie","movie":{"title":"%s","year":%d}}]'
make("trakt.zip", {"ratings/ratings-movies.json": film % (9, "Dune", 1984),
                   "watched/watched-movies.json": film % (5, "Alien", 1979)})
make("trakts.zip", {"ann/ratings-movies.json": film % (9, "Dune", 1984),
                    "bob/ratings-movies.json": film % (5, "Alien", 1979)})
make("one.zip", {"letterboxd/ratings.csv": dune, "letterboxd/likes/films.csv": alien,
                 "letterboxd/profile.csv": "a,b\n"})
PYTHON
for archive in two beside halves plain trakts one trakt; do
    echo "== $archive"
    dpmf recommend -q release.safetensors --catalogue t.csv --ratings $archive.zip 2>&1 >list
    echo "status $?"
done
