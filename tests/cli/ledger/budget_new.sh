# A budget for a name that is new is announced, as a release is: it may be misspelled.
dpmf ledger init -q l
dpmf ledger budget --ledger l movies 1
dpmf ledger budget --ledger l movies 1.1
dpmf ledger budget --ledger l movie 1
dpmf ledger budget --ledger l "$(printf 'cafe\314\201')" 1
