#!/usr/bin/env bash
# The ledger under fire: fifty processes at once never spend more than the budget, a process killed
# at any moment leaves at most a reservation and never a ledger that cannot be read, and a full disk
# leaves it as it was. dpmf train, killed before each of the calls that write, never leaves a
# release without its entry; and a mistyped path makes no ledger. The last line is "N passed, N
# failed[, N skipped]".
#
#     tests/ledger/run.sh build/dpmf
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
dpmf=$(realpath "$1")
tree=$PWD
work=$(mktemp -d)
mounted=""
# shellcheck disable=SC2317
clean_up() {
    [[ -n $mounted ]] && umount "$mounted"
    rm -rf "$work"
}
trap clean_up EXIT
# shellcheck source=tests/verdicts.sh
source tests/verdicts.sh

# The command line cannot reserve without making a release: a small program with the library beside
# dpmf can.
if ! "${CC:-cc}" -std=gnu11 -O1 -Wall -Wextra -Werror -Iinclude -Ilib tests/ledger/spend_ledger.c \
    "$(dirname "$dpmf")/libdpmf.a" -lz -lzstd -lm -pthread -o "$work/spend_ledger"; then
    fail "the program that spends does not compile"
    finish
fi
cd "$work" || exit 70
spend=$work/spend_ledger
id() { printf '%032x' "$1"; }

# population LEDGER NAME KEY: a number of the population's line in `ledger show --json`
population() {
    "$dpmf" ledger show --ledger "$1" --population "$2" --json |
        sed -nE "s/^\{\"event\":\"population\".*\"$3\":([0-9.e+-]+).*/\1/p"
}

# ---- at once -------------------------------------------------------------------------------------

# Releases of mu 0.1 at delta 1e-5 cost 0.9858 together when they are 7, and 1.0608 when they are 8.
budget=1.02@1e-5
fits=7
at_once() { # at_once LEDGER: fifty processes at one gate; each status goes to a file of its own
    local ledger=$1 i pids=()
    rm -f gate status.*
    for ((i = 1; i <= 50; i++)); do
        {
            "$spend" "$ledger" reserve people "$(id "$i")" 0.1 "$budget" "$work/gate" 2>"error.$i"
            echo $? >"status.$i"
        } &
        pids+=($!)
    done
    sleep 0.2
    touch gate
    wait "${pids[@]}"
}

rounds=3
[[ -n ${DPMF_TEST_LONG:-} ]] && rounds=20
for ((round = 1; round <= rounds; round++)); do
    at_once "fresh/$round/ledger" # which is made by whoever comes first, with its directories
    won=$(cat status.* | grep -c '^0$')
    refused=$(cat status.* | grep -c '^6$')
    [[ $won == "$fits" && $refused == $((50 - fits)) ]] || { sort status.* | uniq -c; cat error.*
    false; }
    verdict "50 at once: $won of $fits got through, $refused were refused"
    [[ $(population "fresh/$round/ledger" people reserved) == "$fits" ]] &&
        [[ $(stat -c %a "fresh/$round/ledger" "fresh/$round") == $'600\n700' ]] &&
        [[ $(ls -A "fresh/$round") == $'ledger\nledger.lock' ]]
    verdict "50 at once: the ledger has what was told, and is private"
done

# Those who got through commit or return at once, and others take the place of what was returned.
mapfile -t winners < <(grep -l '^0$' status.* | sed 's/status\.//')
ledger=fresh/$rounds/ledger
pids=()
for i in "${!winners[@]}"; do
    if ((i < 4)); then
        "$spend" "$ledger" commit "$(id "${winners[i]}")" &
    else
        "$dpmf" ledger return "$(id "${winners[i]}")" --ledger "$ledger" --quiet &
    fi
    pids+=($!)
done
wait "${pids[@]}"
rm -f status.* gate
pids=()
for ((i = 101; i <= 130; i++)); do
    {
        "$spend" "$ledger" reserve people "$(id "$i")" 0.1 none "$work/gate" 2>/dev/null
        echo $? >"status.$i"
    } &
    pids+=($!)
done
touch gate
wait "${pids[@]}"
[[ $(cat status.* | grep -c '^0$') == 3 && $(population "$ledger" people committed) == 4 &&
    $(population "$ledger" people reserved) == 3 && $(population "$ledger" people returned) == 3 ]]
verdict "commits, returns and reservations at once"

# ---- killed --------------------------------------------------------------------------------------

# What a process said it had done before it was killed is in the ledger; of what is not said, at
# most the last.
check_after_kill() { # check_after_kill LEDGER POPULATION SAID
    local lines word number
    lines=$("$dpmf" ledger show --ledger "$1" --population "$2" --json) || return 1
    while read -r word number; do
        grep -q "\"release\":\"$number\",\"state\":\"\(committed\|$word\)\"\|\"run\":\"$number\",\"use\":\"$word\"" <<<"$lines" || {
            echo "$word $number is not in the ledger"
            return 1
        }
    done <"$3"
    # every release but the last was committed before the next was reserved
    (($(grep -c '"state":"reserved"' <<<"$lines") <= 1))
}

kills=40
[[ -n ${DPMF_TEST_LONG:-} ]] && kills=400
lost=0 said=0
for ((i = 1; i <= kills; i++)); do
    # every fourth time another process works on the same ledger all the while
    other=""
    if ((i % 4 == 0)); then
        "$spend" killed cycle other "b$((i))000000" 0.0001 >/dev/null &
        other=$!
    fi
    "$spend" killed cycle "victim $i" "a$((i))000000" 0.0001 >said &
    pid=$!
    sleep "$(printf '0.%03d' $((10 + RANDOM % 90)))"
    { kill -9 "$pid" $other; wait "$pid" $other; } 2>/dev/null
    said=$((said + $(wc -l <said)))
    [[ ! -s said ]] || check_after_kill killed "victim $i" said || lost=$((lost + 1))
done
((lost == 0 && said > kills))
verdict "$kills processes killed after $said changes: $lost times something was lost"
"$dpmf" ledger show --ledger killed >/dev/null &&
    "$dpmf" ledger budget new 1 --ledger killed --quiet &&
    "$dpmf" ledger show --ledger killed --json >shown && grep -q '"use":"research"' shown
verdict "a ledger whose users were killed can be read and changed"

# A reservation that a killed process left counts, until it is returned.
"$spend" left reserve people "$(id 1)" 0.2 0.9@1e-5 &&
    ! "$spend" left reserve people "$(id 2)" 0.2 2>/dev/null &&
    "$dpmf" ledger release "$(id 1)" --ledger left --quiet &&
    "$spend" left reserve people "$(id 2)" 0.2
verdict "a reservation that was left counts until it is returned"

# A process that was stopped while it held the lock holds up the others; they go on when it is gone.
"$spend" held reserve people "$(id 1)" 0.01
exec 9>>held.lock
flock 9
"$spend" held reserve people "$(id 2)" 0.01 9>&- &
second=$!
sleep 0.3 # more time only makes it more likely to end, if it does not wait
kill -0 "$second"
verdict "whoever comes second waits"
exec 9>&-
wait "$second"
verdict "and goes on when the first is gone"

# ---- killed at every write -----------------------------------------------------------------------

"${CC:-cc}" -shared -fPIC -O1 "$tree/tests/kills/kill_at.c" -ldl -o kill_at.so &&
    "$dpmf" synth -q --users 60 --items 12 --ratings 400 --catalogue-out items.csv -o r.dpr
verdict "something that kills"
train=("$dpmf" train -q -j 1 r.dpr --replace --epsilon 1 --rating-range 1:5 --catalogue items.csv \
    -o out.safetensors)

# every_write RELEASED COMMAND...: killed before its first write, its second, and so on to the end.
# What is published then has an entry that counts (RELEASED: reserved or committed) or is recorded
# (research), and the ledger can be read.
every_write() {
    local entered=$1 n=0 status=137 id lines unentered=0 unread=0
    shift
    while [[ $status == 137 && $n -lt 500 ]]; do
        n=$((n + 1))
        rm -rf out.safetensors state
        { XDG_STATE_HOME=$work/state KILL_AT=$n LD_PRELOAD=$work/kill_at.so "$@"; } >/dev/null 2>&1
        status=$?
        lines=$(XDG_STATE_HOME=$work/state "$dpmf" ledger show --json 2>/dev/null) ||
            unread=$((unread + 1))
        [[ -e out.safetensors ]] || continue
        id=$("$dpmf" privacy show out.safetensors --json | grep -o '"release_id":"[0-9a-f]*"' |
            grep -o '[0-9a-f]\{32\}')
        grep -q "\"$id\",\"$entered" <<<"$lines" || unentered=$((unentered + 1))
    done
    echo "$n writes, $unentered releases without an entry, $unread ledgers that cannot be read"
    [[ $status == 0 && $n -gt 10 && $unentered == 0 && $unread == 0 && -e out.safetensors ]]
}
every_write 'state":"\(reserved\|committed\)' "${train[@]}"
verdict "a release that is killed at every write"
every_write 'use":"research' "${train[@]}" --research
verdict "a research run that is killed at every write"

# Loaded into dpmf, it stops the process before it locks a ledger for the second time: the first is
# for the reservation, so that the release is made and not yet published.
cat >stop_at.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
int flock(int fd, int operation) {
    static int n;
    int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
    char name[64], path[4096] = "";
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof path - 1);
    int is_lock = length > 5 && strcmp(path + length - 5, ".lock") == 0;
    if (is_lock && ++n == 2) raise(SIGSTOP);
    return real(fd, operation);
}
END
"${CC:-cc}" -shared -fPIC -O1 -w stop_at.c -ldl -o stop_at.so
verdict "something that stops"

# meanwhile LEDGER COMMAND...: runs the command while a release waits to be published; "ID" in it
# stands for the release's id
meanwhile() {
    local ledger=$1 id pid i
    shift
    rm -f out.safetensors
    LD_PRELOAD=$work/stop_at.so "$dpmf" train -j 1 r.dpr --replace --epsilon 1 --rating-range 1:5 \
        --catalogue items.csv \
        --ledger "$ledger" -o out.safetensors 2>error &
    pid=$!
    for ((i = 0; i < 600; i++)); do
        grep -q '^State:.*T (stopped)' "/proc/$pid/status" 2>/dev/null && break
        sleep 0.1
    done
    id=$("$dpmf" ledger show --ledger "$ledger" --json |
        sed -nE 's/.*"release":"([0-9a-f]+)","state":"reserved".*/\1/p')
    "${@//ID/$id}" --ledger "$ledger" -q
    kill -CONT "$pid"
    wait "$pid"
}
"$dpmf" ledger init -q returned && "$dpmf" ledger budget default 1.2@1e-5 --ledger returned -q
meanwhile returned "$dpmf" ledger return ID
[[ $? == 6 && ! -e out.safetensors ]] && grep -q 'was returned during its run' error
verdict "a release whose reservation was returned is not published"
"$dpmf" ledger init -q lowered
meanwhile lowered "$dpmf" ledger budget default 0.01
[[ $? == 0 && -e out.safetensors ]] && grep -q 'has spent: .*, OVER BUDGET$' error
verdict "a release that is over a budget that was lowered meanwhile says so"

# A mistyped path makes no ledger, and spends nothing; nor does it when the directory is missing.
"$dpmf" ledger init -q team.ledger && rm -f out.safetensors
for path in taem.ledger missing/ledger; do
    "${train[@]}" --ledger "$path" 2>error
    [[ $? == 4 && ! -e out.safetensors && ! -e $path && ! -e $path.lock ]] &&
        grep -q 'dpmf ledger init' error
    verdict "a mistyped path: $path"
done

# ---- disk full -----------------------------------------------------------------------------------

mkdir small
if mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
    mounted=$work/small
    "$spend" small/ledger reserve people "$(id 1)" 0.01 && cp small/ledger before
    head -c 1M /dev/zero >small/filler 2>/dev/null
    "$spend" small/ledger reserve people "$(id 2)" 0.01 2>error
    [[ $? == 4 ]] && grep -q IO_NO_SPACE error && cmp -s small/ledger before
    verdict "a reservation on a full disk is refused and changes nothing"
    "$spend" small/ledger commit "$(id 1)" 2>error
    [[ $? == 4 ]] && cmp -s small/ledger before &&
        [[ $(ls -A small) == $'filler\nledger\nledger.lock' ]]
    verdict "a commit on a full disk leaves the reservation"
    rm small/filler
    "$spend" small/ledger commit "$(id 1)" && [[ $(population small/ledger people committed) == 1 ]]
    verdict "with room again it is committed"
else
    skipped=$((skipped + 3))
    echo "skipped: the disk-full tests need the right to mount a small disk"
fi

finish
