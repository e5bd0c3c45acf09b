# Root may read everything: then another user tries.
as_nobody=()
if [[ $EUID == 0 ]]; then
    as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    "${as_nobody[@]}" dpmf --version >/dev/null 2>&1 || { echo "cannot run as another user"
    exit 77; }
fi
printf 'user,item,rating\nann,dune,1\n' >in.csv
chmod 000 in.csv
chmod 777 .
"${as_nobody[@]}" dpmf import in.csv -o r.dpr
