#!/usr/bin/env bash
# dpmf serve on loopback under wrk, for 30 seconds each: how many statements a second, and how many
# bytes a second of a release of 1 MB; with everything that went wrong, which must be nothing.
#
#     bench/bench_serve.sh build/dpmf          BENCH_SECONDS=5 for a quick look
set -euo pipefail
dpmf=$(realpath "$1")
seconds=${BENCH_SECONDS:-30}
work=$(mktemp -d)
server=""
# shellcheck disable=SC2317
clean_up() {
    [[ -n $server ]] && kill "$server"
    rm -rf "$work"
}
trap clean_up EXIT
cd "$work"

# Biases alone of 60,000 items: 8 bytes of bias and offset each, and some letters of id.
"$dpmf" synth -q --users 3000 --items 60000 --ratings 200000 --catalogue-out items.csv \
    -o ratings.dpr
"$dpmf" ledger init -q ledger
"$dpmf" train -q ratings.dpr --epsilon 5 --rating-range 1:5 --catalogue items.csv --ledger ledger \
    --mechanism biases -o release.safetensors
"$dpmf" serve release.safetensors -q --port 0 --catalogue items.csv >url &
server=$!
until [[ -s url ]]; do sleep 0.05; done
url=$(<url)

printf 'release of %s bytes, %s cores, %s s each\n' "$(stat -c %s release.safetensors)" \
    "$(nproc)" "$seconds"
# load NAME CONNECTIONS PATH
load() {
    wrk -t 1 -c "$2" -d "$seconds" "$url$3" >report
    python3 - "$1" report <<'PYTHON'
import re, sys
name, text = sys.argv[1], open(sys.argv[2]).read()
scale = {"B": 1e-6, "KB": 1024e-6, "MB": 1.048576, "GB": 1073.741824}
rate = re.search(r"Requests/sec:\s+([0-9.]+)", text)[1]
amount, unit = re.search(r"Transfer/sec:\s+([0-9.]+)([KMG]?B)", text).groups()
socket = re.search(r"Socket errors: (.*)", text)
status = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
errors = [found[1] for found in (socket, status) if found]
print(f"{name:10} {float(rate):9.0f} requests/s {float(amount) * scale[unit]:8.1f} MB/s  "
      f"errors: {', '.join(errors) or 'none'}")
PYTHON
}
load statement 16 v1/statement
load release 4 v1/release
