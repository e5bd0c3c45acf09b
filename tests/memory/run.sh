#!/usr/bin/env bash
# --memory is kept: training on a store four times larger than it, the peak of the resident memory,
# program and all, stays below.
#
#     tests/memory/run.sh build/dpmf
set -uo pipefail
dpmf=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 70
passed=0 failed=0

if ! command -v /usr/bin/time >/dev/null; then
    echo "skipped: there is no /usr/bin/time to tell the peak of the memory"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi

# bounded BYTES COMMAND...: it works, is streamed, and stays below.
bounded() {
    local bytes=$1 peak
    shift
    if ! /usr/bin/time -f %M -o peak "$dpmf" "$@" --memory "$bytes" --json \
        --quiet >report 2>stderr; then
        failed=$((failed + 1))
        echo "FAILED: $*: $(cat stderr)"
        return
    fi
    peak=$(($(tail -n 1 peak) * 1024))
    if ((peak <= bytes)) && grep -q '"tiles_on_disk":true' report; then
        passed=$((passed + 1))
        echo "$* --memory $bytes: peak $peak"
    else
        failed=$((failed + 1))
        echo "FAILED: $*: a peak of $peak bytes with --memory $bytes: $(tail -n 1 report)"
    fi
}

"$dpmf" synth --like netflix --users 196000 --ratings 40000000 -o all.dpr --quiet &&
    "$dpmf" split all.dpr --test-fraction 0.002 --train ratings.dpr --test test.dpr --quiet ||
    failed=$((failed + 1))
rm -f all.dpr
quarter=$(($(stat -c %s ratings.dpr) / 4))
learn=(train ratings.dpr --epochs 1 -j 2 -o model.safetensors)
bounded "$quarter" "${learn[@]}" -k 16
bounded "$quarter" "${learn[@]}" -k 64
# Small caches want more and smaller tiles, which take memory too; that must not be more.
DPMF_CACHES=64K,1M,none bounded "$quarter" "${learn[@]}" -k 64
DPMF_CACHES=unknown bounded "$quarter" "${learn[@]}" -k 64
bounded "$quarter" "${learn[@]}" -k 16 --deterministic --snapshot s.safetensors \
    --snapshot-every 20blocks
bounded "$quarter" "${learn[@]}" -k 32 --valid test.dpr
bounded $((2 * quarter)) "${learn[@]}" -k 128 --prefetch 4 --snapshot s.safetensors

# Users with many ratings each: what decoding and tiling their large blocks took is given back
# before the epochs.
"$dpmf" synth --like netflix --users 20000 --ratings 12000000 -o ratings.dpr --quiet ||
    failed=$((failed + 1))
bounded $((34 << 20)) "${learn[@]}" -k 256

echo "$passed passed, $failed failed"
((failed == 0))
