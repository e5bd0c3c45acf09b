#!/usr/bin/env bash
# From text to a finished store: a set of Netflix's shape is made, exported to CSV, put in two
# orders that are not by user (item order, as Netflix shipped it, and shuffled), and imported from
# each with --memory 1GiB. Prints ratings/s, the peak resident size, the spilled bytes and, as the
# limit in the same run, the time that `wc -l` takes for the same text.
#
#     bench/bench_import.sh build/dpmf          BENCH_LIKE=ml-1m for a quick look; BENCH_DIR keeps
#                                               the files
set -euo pipefail
dpmf=$(realpath "$1")
like=${BENCH_LIKE:-netflix}
memory=${BENCH_MEMORY:-1GiB}
directory=${BENCH_DIR:-}
if [[ -z $directory ]]; then
    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
fi
mkdir -p "$directory"
cd "$directory"

if [[ ! -s shuffled.csv ]]; then
    "$dpmf" synth --like "$like" -o set.dpr --quiet
    "$dpmf" export set.dpr --csv . --quiet
    { head -n 1 ratings.csv; tail -n +2 ratings.csv | LC_ALL=C sort -t, -k2,2n -S 4G; } >by_item.csv
    { head -n 1 ratings.csv; tail -n +2 ratings.csv | shuf --random-source=<(yes)
    } >shuffled.csv.part
    mv shuffled.csv.part shuffled.csv
    rm ratings.csv
fi

printf 'set like %s, %s bytes of text, --memory %s, %s cores\n' \
    "$like" "$(stat -c %s shuffled.csv)" "$memory" "$(nproc)"
for text in by_item shuffled; do
    cat "$text.csv" >/dev/null # into the page cache
    for _ in 1 2 3; do
        wc_seconds=$({ TIMEFORMAT=%R; time wc -l "$text.csv" >/dev/null; } 2>&1)
        /usr/bin/time -f %M -o peak "$dpmf" import "$text.csv" -o "$text.dpr" \
            --memory "$memory" --json --quiet >report.json
        python3 - "$text" "$wc_seconds" <<'PYTHON'
import json, os, sys
report = json.load(open("report.json"))
text, wc = sys.argv[1], float(sys.argv[2])
peak = int(open("peak").read().split()[-1]) / 1024
print(f"{text:9} {report['ratings_per_second'] / 1e6:6.2f} M ratings/s  "
      f"{report['seconds']:6.1f} s  "
      f"peak {peak:5.0f} MiB  spilled {report['bytes_spilled'] / 2**20:5.0f} MiB  "
      f"{os.path.getsize(text + '.dpr') / report['ratings']:.3f} bytes a rating  "
      f"{report['seconds'] / max(wc, 1e-9):5.1f} x wc -l")
PYTHON
    done
done
