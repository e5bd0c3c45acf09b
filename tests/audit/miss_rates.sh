#!/usr/bin/env bash
# How often one audit misses the loss of a mutant, which run.sh says one audit may with 1 %: so many
# audits (300) of each mutant whose loss must be found, added to docs/testing/audit_misses.csv.
#
#   tests/audit/miss_rates.sh FOLDER [AUDITS]
#
# FOLDER is where the build has made audit_zeros_without_noise and the others.
set -euo pipefail
folder=$(realpath "$1") audits=${2:-300}
cd "$(dirname "$0")/../.."
table=docs/testing/audit_misses.csv
[[ -s $table ]] || echo "mutant,mechanism,runs,users,items,audits,missed" >"$table"

# The same lines as in run.sh.
while read -r name mechanism runs users items; do
    missed=0
    for ((i = 0; i < audits; i++)); do
        found=$("$folder/audit_$name" "$mechanism" "$runs" "$users" "$items" 2>&1 || true)
        [[ $found =~ found:[^$'\n']*" loss" ]] || missed=$((missed + 1))
    done
    echo "$name,$mechanism,$runs,$users,$items,$audits,$missed" | tee -a "$table"
done <<'END'
zeros_without_noise residual 150 40 40
skipped_norm biases 600 40 60
one_without_noise residual 60 40 40
undrawn biases 60 40 40
END
