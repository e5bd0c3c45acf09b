# A population that a ledger does not know is announced: a name that is misspelled gets a budget of
# its own, and what the search has shown is missing from the population that it is of.
export XDG_STATE_HOME=$PWD/state
dpmf ledger init -q l
dpmf synth -q --users 60 --items 20 --ratings 900 -o r.dpr
tune() { dpmf tune r.dpr --trials 1 --epochs 1 -j 1 --ledger l "$@" 2>&1 >/dev/null | grep ledger; }
tune --population readers
tune --population raeders
tune --population raeders
tune --population redaers -q
