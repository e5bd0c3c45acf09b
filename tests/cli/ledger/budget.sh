# A budget is set, changed and removed; the ledger and its directory are made, for their owner only.
export XDG_STATE_HOME=$PWD/state
dpmf ledger budget movies 5@1e-5
dpmf ledger budget movies 5
dpmf ledger budget movies 2.5 --json
dpmf ledger budget 'films "à la carte"' 1 --quiet
dpmf ledger show
dpmf ledger budget movies none
dpmf ledger show --json
stat -c '%A %n' state/dpmf state/dpmf/*
