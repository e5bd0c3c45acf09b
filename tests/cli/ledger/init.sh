# A ledger is made on purpose, once, for its owner only; a path that leads nowhere makes none.
dpmf ledger init team.ledger
dpmf ledger init team.ledger
echo "exit $?"
dpmf ledger init deeper/down/ledger --json
XDG_STATE_HOME=$PWD/state dpmf ledger init -q
stat -c '%A %n' team.ledger deeper/down/* state/dpmf/*
dpmf ledger budget movies 1 --ledger taem.ledger
echo "exit $?"
dpmf ledger show --ledger team.ledger
rm team.ledger
dpmf ledger init team.ledger
echo "exit $?"
ls -A
