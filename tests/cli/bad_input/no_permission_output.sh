# A directory that may not be written to.
as_nobody=()
if [[ $EUID == 0 ]]; then
    as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    "${as_nobody[@]}" dpmf --version >/dev/null 2>&1 || { echo "cannot run as another user"
    exit 77; }
fi
printf 'user,item,rating\nann,dune,1\n' >in.csv
chmod 644 in.csv
mkdir -m 555 out
"${as_nobody[@]}" dpmf import in.csv -o out/r.dpr
