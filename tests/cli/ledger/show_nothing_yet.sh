# No ledger where it is by default: nothing was released.
export XDG_STATE_HOME=$PWD
dpmf ledger show
dpmf ledger show --json
ls -A
