#!/usr/bin/env bash
# The audit audited: what is honest may not be accused, and every mutant must be, for the right
# reason.
#
#   tests/audit/run.sh DPMF
#
# The executables are made by the build, beside DPMF in tests/audit (audit_main.c, mutant_*.c).
#
# Error rates. Every audit has fresh noise. An honest mechanism is accused with probability at most
# 1.0001e-4 (the confidence is 0.9999, and the noise has 1e-8); what is accused is audited once
# more, and only a second accusation is a failure: 1.1e-8 for each of at most 49 audits, so 5e-7 in
# all. Of the mutants, worlds, norms, draws, statements and catalogues are found exactly. Noise is
# measured on so many numbers that each is missed with less than 1e-15. A loss that must be found
# can be missed by one audit, as the line says; a mutant with a finding missed is audited again,
# with fresh noise, up to four times in all, so one audit may miss it with 1 % and all four with
# 1e-8; miss_rates.sh counts how often one does, and docs/testing.md has the figures. The audit
# itself promises nothing about what it misses, so this hides no fault of it. The last line is "N
# passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
folder=$(dirname "$1")/tests/audit
# shellcheck source=tests/verdicts.sh
source tests/verdicts.sh

verdict() { # verdict STATUS WHAT
    if (($1 == 0)); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $2"
        cat "$log"
    fi
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [[ ! -x $folder/audit_honest ]]; then
    echo "skipped: $folder/audit_honest is not built (make test builds it)"
    skipped=1
    finish
fi

# ---- honest --------------------------------------------------------------------------------------

honest() { # honest NAME MECHANISM RUNS USERS ITEMS
    local name=$1
    shift
    "$folder/audit_$name" "$@" >"$log" 2>&1 || "$folder/audit_$name" "$@" >>"$log" 2>&1
    verdict $? "an honest mechanism was accused twice: $name $*"
}
for ((i = 0; i < 20; i++)); do
    honest honest biases 60 40 40
done
honest honest residual 100 300 48
honest honest events 60 40 40  # popularity alone
honest honest events 10 600 48 # all rounds and the vote
honest held_norm residual 10 1000 64 # the integers' bound holds whatever the mechanism computes
if [[ -n ${DPMF_TEST_LONG:-} ]]; then
    for ((i = 0; i < 20; i++)); do
        honest honest residual 700 60 40
    done
    honest honest residual 300 1000 80
    honest held_norm residual 300 1000 80
    honest honest events 100 1000 80
    for mechanism in dpals gram langevin; do
        honest honest "$mechanism" 100 100 40
    done
fi

# ---- mutants -------------------------------------------------------------------------------------

# accused NAME FINDINGS MECHANISM RUNS USERS ITEMS: one audit of a mutant; succeeds when it is
# accused of all of these
accused() {
    local name=$1 findings=$2 finding
    shift 2
    "$folder/audit_$name" "$@" >"$log" 2>&1
    status=$?
    ((status == 1)) || return 1
    for finding in $findings; do
        grep -q "^found:.* $finding\b" "$log" || return 1
    done
}

# mutant NAME FINDINGS MECHANISM RUNS USERS ITEMS: accused, and of these among others
mutant() {
    local name=$1 findings=$2 finding
    accused "$@" || accused "$@" || accused "$@" || accused "$@"
    ((status == 1))
    verdict $? "$name was not accused"
    for finding in $findings; do
        grep -q "^found:.* $finding\b" "$log"
        verdict $? "$name was not accused of $finding"
    done
}
# Noise, as soon as it is seen.
mutant halved_noise "noise" residual 5 40 40
mutant more_noise "noise" residual 60 40 40
mutant uneven_noise "noise" residual 60 40 40
mutant shared_noise "noise" residual 5 40 40
mutant repeated_noise "noise" residual 30 40 40
mutant unlisted_release "draws" residual 5 40 40
# A number without noise gives the first canary away in every run: 120 guesses, all right.
mutant one_without_noise "loss noise" residual 60 40 40
mutant undrawn "loss noise draws" biases 60 40 40
# The canary that alone rated an item is certain not to be there when it is not: 75 guesses in 600
# are needed, some 150 are expected.
mutant zeros_without_noise "loss noise" residual 150 40 40
# mu 1.07 for 0.268, from 1,200 guesses: 12 standard deviations, 4.2 of which are needed.
mutant skipped_norm "loss norm" biases 600 40 60
mutant unchecked_norm "norm" biases 5 40 40
# What people do to each other: no noise is needed to see it.
mutant odd_halved "worlds" residual 5 40 40
mutant odd_halved "worlds" biases 5 41 40
mutant first_row "worlds" residual 5 40 40
mutant wishes_lost "norm" residual 5 40 40
mutant wishes_lost "norm" events 5 600 48
mutant placed_coins "worlds" events 5 600 48
mutant odd_halved "worlds" events 5 601 48
mutant leaking_catalogue "catalogue" biases 5 40 40
mutant silent_catalogue "catalogue" biases 5 40 40
mutant unmarked_seed "statement" biases 5 40 40
mutant claims_all "statement" biases 5 40 40
if [[ -n ${DPMF_TEST_LONG:-} ]]; then
    # mu 0.536 for 0.268, from 6,400 guesses: 9.6 standard deviations, 4.2 of which are needed.
    mutant halved_noise "loss noise" biases 3200 30 80
    mutant skipped_norm "loss norm" residual 600 1000 80
    for mechanism in dpals gram langevin; do
        mutant odd_halved "worlds" "$mechanism" 5 41 40
    done
fi
finish
