# An output replaces a file; over a link it would replace the link, and leave what it leads to.
printf 'user,item,rating\n1,a,3\n' >r.csv
ln -s nowhere.dpr dangling.dpr
dpmf import -q r.csv -o there.dpr
ln -s there.dpr link.dpr
ln -s /proc/self/fd/1 out.dpr
for output in dangling link out; do
    dpmf import -q --replace r.csv -o $output.dpr >out
    echo "$output: $?"
    [ -L $output.dpr ] && echo still a link
done
[ ! -e nowhere.dpr ] && echo "nothing was written"
