# A release over the ledger's lock, however it is spelt, or over the ledger that is used unless
# another is named.
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
train=(dpmf train -q r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv)
"${train[@]}" --ledger l -o l.lock; echo $?
"${train[@]}" --ledger l -o ./l.lock; echo $?
"${train[@]}" --ledger l --research -o l.lock; echo $?
touch real
ln -s real link
"${train[@]}" --ledger link -o real.lock; echo $?
mkdir -p state/dpmf
XDG_STATE_HOME=$PWD/state "${train[@]}" -o state/dpmf/ledger; echo $?
ls . state/dpmf
