#!/usr/bin/env bash
# What goes wrong outside the program: a process killed at any moment, a disk that fills up.
# Whatever happens, an output is whole or not there, an older one stays, and nothing is left behind.
#
#     tests/failure/run.sh build/dpmf
set -uo pipefail
dpmf=$(realpath "$1")
work=$(mktemp -d)
mounted=""
# shellcheck disable=SC2317
clean_up() {
    [[ -n $mounted ]] && umount "$mounted"
    rm -rf "$work"
}
trap clean_up EXIT
cd "$work" || exit 70
passed=0 failed=0 skipped=0

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
}
verdict() { # verdict NAME: by the status of the command before
    if [[ $? == 0 ]]; then pass; else fail "$1"; fi
}

"$dpmf" synth --like ml-1m -o million.dpr --quiet && "$dpmf" export million.dpr --csv . --quiet &&
    "$dpmf" synth --users 50 --items 40 --ratings 500 -o old.dpr --quiet
verdict "making ratings to work with"

# ---- killed --------------------------------------------------------------------------------------

# killed SECONDS OUTPUTS... -- COMMAND: kill -9 after some seconds. Each output is then what it was
# before, or whole, and no other file has appeared, but for one: a process killed in the instant
# between giving the whole new file a temporary name and the final one leaves it there. Then it is
# whole, only its owner may read it, and the same command, run again, takes it away.
# Of a pair, $may_go may be gone: it is taken away first, so that halves of two pairs never lie
# beside each other.
killed() {
    local after=$1 output outputs=()
    shift
    while [[ $1 != -- ]]; do
        outputs+=("$1")
        cp old.dpr "$1"
        shift
    done
    shift
    local before
    before=$(ls -A)
    "$@" >/dev/null 2>&1 &
    local pid=$!
    sleep "$after"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    [[ -n ${may_go:-} && ! -e $may_go ]] && cp old.dpr "$may_go"
    for output in "${outputs[@]}"; do
        cmp -s "$output" old.dpr || "$dpmf" describe "$output" --json >/dev/null || return 1
    done
    local left=(.*.dpr.????????????????.tmp)
    if [[ ${#left[@]} == 1 && -e ${left[0]} ]]; then
        [[ $(stat -c %a "${left[0]}") == 600 ]] || { ls -lA; return 1; }
        "$dpmf" describe "${left[0]}" --json >/dev/null || return 1
        "$@" >/dev/null 2>&1 || return 1
    fi
    [[ $(ls -A) == "$before" ]] || { ls -A; return 1; }
}

runs=5
[[ -n ${DPMF_TEST_LONG:-} ]] && runs=25
for ((i = 0; i < runs; i++)); do
    after=$(printf '0.%03d' $((RANDOM % 600)))
    killed "$after" out.dpr -- "$dpmf" import ratings.csv -o out.dpr --memory 64MiB
    verdict "import killed after $after s"
    may_go=b.dpr killed "$after" a.dpr b.dpr -- "$dpmf" split million.dpr --train a.dpr --test b.dpr
    verdict "split killed after $after s"
    killed "$after" out.dpr -- "$dpmf" synth --like ml-1m -o out.dpr
    verdict "synth killed after $after s"
done
rm -f a.dpr b.dpr out.dpr

# ---- killed while it exports ---------------------------------------------------------------------

# What a model is exported to is whole or not there. SQLite writes by name, and a directory has one
# while its files are put into it: what a killed one leaves under its temporary name, the next one
# takes away.
"$dpmf" train million.dpr -k 48 --epochs 1 -o vectors.safetensors --quiet
verdict "making a model to export"
export_model=("$dpmf" export vectors.safetensors --not-private --users --quiet)
"${export_model[@]}" --npy whole.npy && "${export_model[@]}" --csv whole.table &&
    "${export_model[@]}" --libmf whole.libmf &&
    "${export_model[@]}" --sqlite whole.sqlite
verdict "exporting it whole"
cut=0
for ((i = 0; i < 2 * runs; i++)); do
    for form in npy csv libmf sqlite; do
        before=$(ls -A)
        out=out.$form whole=whole.$form
        [[ $form == csv ]] && out=out.table whole=whole.table # a name in .csv is that of one file
        "${export_model[@]}" --$form $out &
        pid=$!
        sleep "$(printf '0.%03d' $((10 + RANDOM % 250)))"
        kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
        if [[ -e $out ]]; then
            diff -rq $out $whole
            verdict "a killed export that is there is whole: $form"
            rm -rf $out out.libmf.*.txt
        else
            cut=$((cut + 1))
        fi
        if [[ $form != libmf ]]; then
            "${export_model[@]}" --$form $out && rm -r $out
            verdict "the export after a killed one"
        fi
        rm -f out.libmf.*.txt # ids come first, the model last
        [[ $(ls -A) == "$before" ]]
        verdict "a killed export leaves nothing: $form"
    done
done
echo "of $((8 * runs)) exports, $cut were killed before they were there"
rm -rf whole.* vectors.safetensors

# ---- killed while it learns ----------------------------------------------------------------------

# A snapshot is whole whenever it is looked at, wherever in an epoch it was cut, and a resumed run
# ends with the model of one that was never interrupted, bit for bit: in memory, and streamed.
"$dpmf" synth --users 3000 --items 800 --ratings 300000 -o ratings.dpr --quiet
learn=("$dpmf" train ratings.dpr -k 16 --epochs 60 --no-adapt --deterministic --quiet)
for memory in 1GiB 12MiB; do
    "${learn[@]}" --memory "$memory" -o "whole.$memory.safetensors"
    verdict "training to the end with --memory $memory"
done
cut=0
for ((i = 0; i < 20; i++)); do
    memory=1GiB
    ((i % 2)) && memory=12MiB
    rm -f snapshot.safetensors
    before=$(ls -A)
    "${learn[@]}" --memory "$memory" --snapshot snapshot.safetensors --snapshot-every 3blocks \
        -o out.safetensors &
    pid=$!
    # Every other one at any time; the rest while snapshots are being made.
    while ((i % 4 > 1)) && [[ ! -e snapshot.safetensors ]] && kill -0 "$pid" 2>/dev/null; do
        sleep 0.01
    done
    sleep "$(printf '0.%03d' $((RANDOM % 100)))"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    resume=()
    if [[ -e snapshot.safetensors ]]; then
        "$dpmf" describe snapshot.safetensors >/dev/null
        verdict "the snapshot of a killed run can be read"
        grep -aq 'superblocks_done\\":\\"[1-9]' snapshot.safetensors && cut=$((cut + 1))
        resume=(--resume snapshot.safetensors --snapshot snapshot.safetensors)
    fi
    rm -f out.safetensors
    "${learn[@]}" --memory "$memory" "${resume[@]}" -o out.safetensors &&
        cmp out.safetensors "whole.$memory.safetensors"
    verdict "a killed run, resumed, ends with the same model"
    rm -f out.safetensors snapshot.safetensors
    # A kill between naming a file and renaming it leaves a whole one, which the next snapshot of
    # that name would take away.
    for left in .snapshot.safetensors.????????????????.tmp; do
        [[ -e $left ]] && "$dpmf" describe "$left" >/dev/null && rm -f "$left"
    done
    [[ $(ls -A) == "$before" ]] || { ls -A; false; }
    verdict "a killed run leaves nothing behind"
done
echo "of 20 killed runs, $cut left a snapshot from the middle of an epoch"
((cut > 0))
verdict "some of the killed runs left a snapshot from the middle of an epoch"

# busy PID SECONDS: waits until a process is `dpmf` and has used so much processor time since.
busy() {
    local ticks=0 begun="" per_second
    per_second=$(getconf CLK_TCK)
    while [[ -r /proc/$1/stat ]]; do
        if [[ $(cat "/proc/$1/comm" 2>/dev/null) == dpmf ]]; then
            ticks=$(awk '{ print $14 + $15 }' "/proc/$1/stat" 2>/dev/null)
            begun=${begun:-$ticks}
            ((${ticks:-0} - ${begun:-0} >= $2 * per_second)) && return
        fi
        sleep 0.05
    done
}

# A signal ends the run at the next whole block, with a snapshot of it.
for case in INT:130 TERM:143; do
    signal=${case%:*}
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$dpmf" train ratings.dpr -k 16 --epochs 100000 \
    --memory 12MiB \
        --deterministic --quiet --snapshot snapshot.safetensors --snapshot-every 1h \
        -o out.safetensors 2>stderr &
    pid=$!
    busy "$pid" 1
    kill -"$signal" "$pid"
    wait "$pid"
    status=$?
    [[ $status == "${case#*:}" && ! -e out.safetensors ]] &&
        "$dpmf" describe snapshot.safetensors >/dev/null
    verdict "SIG$signal (got $status) leaves a snapshot where there was none"
    rm -f snapshot.safetensors
done
rm -f ./*.safetensors ratings.dpr

# ---- interrupted ---------------------------------------------------------------------------------

for case in INT:130 TERM:143; do
    signal=${case%:*}
    before=$(ls -A)
    # a shell ignores SIGINT for what it starts in the background: give the default back
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$dpmf" synth --like netflix -o out.dpr --quiet &
    pid=$!
    busy "$pid" 1 # by then it is dpmf: before, on a busy machine, the signal would be ignored
    kill -"$signal" "$pid"
    wait "$pid"
    status=$?
    [[ $status == "${case#*:}" && $(ls -A) == "$before" ]]
    verdict "SIG$signal ends with the shell's status (got $status) and leaves nothing"
done

# ---- disk full -----------------------------------------------------------------------------------

mkdir small
if mount -t tmpfs -o size=1m tmpfs small 2>/dev/null; then
    mounted=$work/small
    cp old.dpr small/out.dpr
    full() { # full NAME COMMAND...: exit 4, says so, the old output is still there, nothing else is
        local name=$1
        shift
        "$@" >stdout 2>stderr
        [[ $? == 4 ]] && grep -q 'no space left\|No space left' stderr && [[ ! -s stdout ]] &&
            cmp -s small/out.dpr old.dpr && [[ $(ls -A small) == out.dpr ]]
        verdict "$name on a full disk"
    }
    full "import" "$dpmf" import ratings.csv -o small/out.dpr
    full "synth" "$dpmf" synth --like ml-10m -o small/out.dpr
    "$dpmf" export million.dpr --csv small 2>stderr
    [[ $? == 4 && ! -e small/ratings.csv ]]
    verdict "export on a full disk"
    "$dpmf" split million.dpr --train small/a.dpr --test small/b.dpr 2>stderr
    [[ $? == 4 && ! -e small/a.dpr && ! -e small/b.dpr ]]
    verdict "split on a full disk"
    # the spill file fills the disk before the store does
    "$dpmf" synth --users 20000 --items 2000 --ratings 2000000 -o two.dpr --quiet &&
        "$dpmf" export two.dpr --csv two --quiet
    full "spilling" "$dpmf" import two/ratings.csv -o small/out.dpr --memory 64MiB
else
    skipped=$((skipped + 5))
    echo "skipped: the disk-full tests need the right to mount a small disk"
fi
[[ -e /dev/full ]] && { "$dpmf" export million.dpr --csv - >/dev/full 2>stderr; [[ $? == 4 ]]; }
verdict "export to a full standard output"

text="$passed passed, $failed failed"
((skipped)) && text+=", $skipped skipped"
echo "$text"
((failed == 0))
