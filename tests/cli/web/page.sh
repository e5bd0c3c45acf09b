# The page, as a browser takes it apart: the release, the titles, the statement and the name are
# what was given.
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'item,title\ndune,Dune\nalien,Alien\n' >items.csv
dpmf export -q release.safetensors --web site --catalogue items.csv --name \
    'Films <b>for</b> "us" & them'
python3 "$CLI_TESTS/web/page_parts.py" site/index.html release.safetensors
