# What the commands need.
dpmf ledger
dpmf ledger shw
dpmf ledger return
dpmf ledger budget movies
dpmf ledger show viewers
dpmf ledger --json show
