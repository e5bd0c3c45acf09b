#!/usr/bin/env bash
# The audit audited: what is honest may not be accused, and every mutant must be, for the right reason.
#
#   tests/audit/run.sh DPMF
#
# The executables are made by the build, beside DPMF in tests/audit (audit_main.c, mutant_*.c). Every audit has fresh
# noise, so an honest mechanism is accused by chance, with a probability of 1 in 1000 at most. What is accused here is
# audited once more, and only a second accusation is a failure: 1 in a million by chance, and certain for a fault.
# The last line is "N passed, N failed".
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

# ---- honest ------------------------------------------------------------------------------------------------

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
honest held_norm residual 10 1000 64 # the integers' bound holds whatever the mechanism computes
if [[ -n ${DPMF_TEST_LONG:-} ]]; then
    for ((i = 0; i < 20; i++)); do
        honest honest residual 700 60 40
    done
    honest honest residual 300 1000 80
    honest held_norm residual 300 1000 80
    for mechanism in dpals gram langevin; do
        honest honest "$mechanism" 100 100 40
    done
fi

# ---- mutants -----------------------------------------------------------------------------------------------

# mutant NAME FINDINGS MECHANISM RUNS USERS ITEMS: accused, and of these among others
mutant() {
    local name=$1 findings=$2 finding
    shift 2
    "$folder/audit_$name" "$@" >"$log" 2>&1
    (($? == 1))
    verdict $? "$name was not accused"
    for finding in $findings; do
        grep -q "^found:.* $finding\b" "$log"
        verdict $? "$name was not accused of $finding"
    done
}
mutant halved_noise "loss noise" biases 1200 30 80
mutant halved_noise "noise" residual 5 40 40 # the noise itself tells at once
mutant one_without_noise "loss noise" residual 60 40 40
mutant zeros_without_noise "noise" residual 30 40 40
mutant undrawn "loss noise draws" biases 60 40 40
mutant repeated_noise "noise" residual 30 40 40
mutant skipped_norm "loss norm" biases 150 40 60
mutant unchecked_norm "norm" biases 5 40 40
mutant leaking_catalogue "catalogue" biases 5 40 40
mutant unlisted_release "draws" residual 5 40 40
if [[ -n ${DPMF_TEST_LONG:-} ]]; then
    mutant halved_noise "loss noise" residual 1500 60 80
    mutant zeros_without_noise "loss noise" residual 700 60 40
    mutant skipped_norm "loss norm" residual 300 1000 80
fi
finish
