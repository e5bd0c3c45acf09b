# With --web the page stays, and the last line opens it; before it come recommendations from the
# release.
mkdir tmp
TMPDIR=$PWD/tmp dpmf demo -q --web "a page" >all
grep -A 1 '^$ dpmf recommend release' all
tail -n 1 all | sed "s|$PWD|HERE|"
ls -A tmp "a page"
grep -c 'id="dpmf-release">' "a page/index.html"
