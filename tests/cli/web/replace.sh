# A page takes the place of an older one with --replace, and of nothing else.
cp "$CLI_TESTS/fixtures/release.safetensors" r.safetensors
dpmf export -q r.safetensors --web site --name One
dpmf export -q r.safetensors --web site --name Two
echo "status $?"
grep -o '<title>.*</title>' site/index.html
dpmf export -q r.safetensors --web site --name Two --replace && ls -A site &&
    grep -o '<title>.*</title>' site/index.html
touch site/.index.html.part # of an export that was killed
dpmf export -q r.safetensors --web site --name Three --replace && ls -A site &&
    grep -o '<title>.*</title>' site/index.html
echo "== not ours"
touch site/mine.txt
dpmf export -q r.safetensors --web site --replace
echo "status $?"
ls -A site
mkdir other && echo mine >other/index.html
dpmf export -q r.safetensors --web other --replace
echo "status $?"
cat other/index.html
ln -s ../site/index.html linked.html
mkdir linked && ln -s ../site/index.html linked/index.html
dpmf export -q r.safetensors --web linked --replace
echo "status $?"
dpmf export -q r.safetensors --web new --replace && ls new
echo "== not ours, beside our page"
echo mine >new/statement.txt
dpmf export -q r.safetensors --web new --name Four --replace
echo "status $?"
cat new/statement.txt
rm new/statement.txt
echo mine >new/release.safetensors
dpmf export -q r.safetensors --web new --name Four --replace
echo "status $?"
cat new/release.safetensors
rm new/release.safetensors
ln -s ../r.safetensors new/release.safetensors
dpmf export -q r.safetensors --web new --name Four --replace
echo "status $?"
rm new/release.safetensors
dpmf export -q r.safetensors --web new --name Four --replace && ls -A new &&
    grep -o '<title>.*</title>' new/index.html
echo "== edited by hand"
sed -i 's/<title>Four/<title>Mine/' new/index.html
dpmf export -q r.safetensors --web new --name Five --replace
echo "status $?"
grep -o '<title>.*</title>' new/index.html
rm -r new
dpmf export -q r.safetensors --web new
echo "a note" >>new/statement.txt
dpmf export -q r.safetensors --web new --name Five --replace
echo "status $?"
tail -1 new/statement.txt
