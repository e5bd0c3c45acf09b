# A ledger that was named and is not there.
dpmf ledger show --ledger nowhere
