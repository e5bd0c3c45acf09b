command -v script >/dev/null || { echo "no script(1) here"; exit 77; }

# On a terminal there is time to interrupt what looks wrong, and then nothing is spent.
printf 'user,item,rating\nann,a,4\nbob,b,2\n' >r.csv
printf 'item\na\nb\nc\n' >items
printf 'user,epsilon\nAnn,0\n' >wishes
cat >train <<'END'
trap : INT
dpmf ledger init -q l
env --default-signal=INT dpmf train r.csv --epsilon 1 --rating-range 1:5 --catalogue items \
    --user-privacy wishes --ledger l -o x.safetensors --progress never
echo "status $?"
END
{
    until grep -q 'begins in' log || ((++tries > 600)); do sleep 0.1; done
    printf '\003'
} 2>/dev/null | script -qfec 'exec bash train' log >/dev/null 2>&1
grep -v '^Script' log | tr -d '\r' | sed 's/\^C//'
ls
