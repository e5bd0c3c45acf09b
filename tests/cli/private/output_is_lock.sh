# A release over the ledger's lock, or over the ledger that is used unless another is named.
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
train=(dpmf train -q r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv)
"${train[@]}" --ledger l -o l.lock; echo $?
"${train[@]}" --ledger l -o "$PWD/l.lock"; echo $?
ln -s real link
touch real
"${train[@]}" --ledger link -o real.lock; echo $?
mkdir state
export XDG_STATE_HOME=$PWD/state
mkdir state/dpmf
(cd state/dpmf && "${train[@]/#r.dpr/../../r.dpr}" --catalogue ../../items.csv -o ledger) 2>&1 | head -n 1
ls
