#!/usr/bin/env bash
# dpmf train by several processes, started by mpirun.
#
#   tests/mpi/run.sh BINARY
#
# What needs no MPI is always tried. With DPMF_TEST_MPI=1 (make test-mpi), and the plugin beside the
# binary, also: the same release for any number of processes, processes that die, hang or cannot
# write, and processes in networks of their own. As root the last makes network namespaces,
# dpmf-test-*, and removes them. The last line is "N passed, N failed[, N skipped]".
set -uo pipefail
binary=$(realpath "$1")
tree=$(realpath "$(dirname "$0")/../..")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
seed=${DPMF_TEST_SEED:-$RANDOM}
RANDOM=$seed
namespaces=()
# shellcheck source=tests/verdicts.sh
source "$here/../verdicts.sh"

clean() {
    for name in "${namespaces[@]}"; do
        ip netns pids "$name" 2>/dev/null | xargs -r kill -9 2>/dev/null
        ip netns del "$name" 2>/dev/null
    done
    rm -rf "$work"
}
trap clean EXIT
cd "$work" || exit 70
export HOME=$work XDG_STATE_HOME=$work/state

verdict_log=log # of every job
skip() {
    skipped=$((skipped + 1))
    printf 'skipped: %s\n' "$1"
}
# check NAME COMMAND...
check() { # @return whether it held
    local name=$1
    shift
    if "$@" >/dev/null; then
        passed=$((passed + 1))
    else
        fail "$name (seed $seed)"
        return 1
    fi
}
# How many of dpmf's own errors the log has.
errors() { grep -c '^dpmf: error:' log; }
one_error() { [[ $(errors) == 1 ]] && grep -q "$1" log; }

# ---- without MPI ---------------------------------------------------------------------------------

"$binary" synth -q --users 3000 --items 120 --ratings 60000 --catalogue-out items.csv -o r.dpr ||
    exit 1
private=(--replace --epsilon 2 --rating-range 1:5 --catalogue items.csv)
seeded=("${private[@]}" --insecure-noise-seed 5)

DPMF_MPI_PLUGIN=$work/none PMI_RANK=0 PMI_SIZE=2 "$binary" train r.dpr "${private[@]}" \
    -o x.safetensors >log 2>&1
check "without the plugin: status" test $? = 4
check "without the plugin: an error" one_error "make mpi"
check "without the plugin: no release" test ! -e x.safetensors
DPMF_MPI_PLUGIN=$work/none PMI_RANK=1 PMI_SIZE=2 "$binary" train r.dpr "${private[@]}" \
    -o x.safetensors >log 2>&1
check "without the plugin, another rank: status" test $? = 4
check "without the plugin, another rank: says which" one_error "rank 1 on"
PMI_RANK=1 PMI_SIZE=2 "$binary" train r.dpr --bogus >log 2>&1
check "a mistake of one rank's alone: status" test $? = 2
check "a mistake of one rank's alone: says what" one_error 'unknown option "--bogus"'
check "a mistake of one rank's alone: says whose" grep -q '(rank 1 on ' log
PMI_RANK=0 PMI_SIZE=2 "$binary" describe r.dpr >log 2>&1
check "a verb for one: status" test $? = 2
check "a verb for one: an error" one_error "not for several processes"
PMI_RANK=0 PMI_SIZE=1 "$binary" describe r.dpr >log 2>&1
check "a job of one may do anything" test $? = 0

if [[ ${DPMF_TEST_MPI:-} != 1 ]]; then
    skip "several processes: make test-mpi"
    finish
fi
plugin=$(dirname "$binary")/libdpmf-mpi.so
if ! command -v mpirun >/dev/null || [[ ! -e $plugin ]]; then
    fail "there is no mpirun or no $plugin: make mpi"
    finish
fi

# ---- how processes are started -------------------------------------------------------------------

# Open MPI does not like root, few cores, or processes that are watched by others; none of that
# matters here.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_base_warn_component_unused=0
cat >rank.sh <<'END'
#!/bin/sh
# One process of a job: says which it is, then becomes it. FULL_RANK has no room on its disk.
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
echo $$ >"$PIDS/$rank.new" && mv "$PIDS/$rank.new" "$PIDS/$rank"
[ "${FULL_RANK:-}" = "$rank" ] && ulimit -f 8
[ -n "${LD_PRELOAD_RANKS:-}" ] && export LD_PRELOAD="$LD_PRELOAD_RANKS"
exec "$@"
END
chmod +x rank.sh
export PIDS=$work/pids

patience=400 # seconds, after which a job is taken to hang, also on a busy machine
[[ -n ${DPMF_TEST_LONG:-} ]] && patience=1800 # 400 s were too few for sghmc
# job RANKS WORD...: dpmf in so many processes; its words go to the log.
job() {
    local n=$1
    shift
    rm -rf "$PIDS"
    mkdir -p "$PIDS"
    timeout --kill-after=5 "$patience" mpirun -n "$n" "$work/rank.sh" "$binary" \
        "$@" >log 2>&1 </dev/null
}
# The same in the background: sets `runner`.
begin_job() {
    local n=$1
    shift
    rm -rf "$PIDS"
    mkdir -p "$PIDS"
    timeout --kill-after=5 "$patience" mpirun -n "$n" "$work/rank.sh" "$binary" \
        "$@" >log 2>&1 </dev/null &
    runner=$!
}
# pid_of RANK: waits until it has started.
pid_of() {
    for _ in $(seq 200); do
        [[ -s $PIDS/$1 ]] && cat "$PIDS/$1" && return
        sleep 0.05
    done
    return 1
}

# Whether one of the job's processes still runs: one that ended and that mpirun has not asked after
# does not.
someone_runs() {
    local file state
    for file in "$PIDS"/*; do
        state=$(sed -n 's/^State:\t//p' "/proc/$(cat "$file")/status" 2>/dev/null)
        [[ -n $state && $state != Z* ]] && return
    done
    return 1
}
# Waits for the job of begin_job: sets `status`. Open MPI's mpirun waits now and then for a lock of
# its own, for ever, when a process dies while it joins (PMIx_server_finalize, in libpmix 4.2.2).
# All of dpmf is gone by then, so it is ended here, and counted.
stuck=0
await_job() {
    local idle=0
    while kill -0 "$runner" 2>/dev/null && ((idle < 100)); do
        if someone_runs; then idle=0; else idle=$((idle + 1)); fi
        sleep 0.1
    done
    if kill -0 "$runner" 2>/dev/null; then
        stuck=$((stuck + 1))
        pkill -9 -P "$runner"
        named_by_mpirun=0
    else
        named_by_mpirun=1
    fi
    wait "$runner"
    status=$?
    for _ in $(seq 50); do # mpirun does not wait for what it kills
        someone_runs || break
        sleep 0.1
    done
}
# pair "WORDS" "WORDS": dpmf in two processes that are not told the same.
pair() {
    # shellcheck disable=SC2086 # they are words
    timeout --kill-after=5 60 mpirun -n 1 "$binary" $1 : -n 1 "$binary" $2 >log 2>&1 </dev/null
}

# What follows the header of a safetensors file: all but the release's id.
tensors() {
    local length
    length=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    tail -c +$((length + 9)) "$1" | sha256sum
}
same_tensors() { [[ -s $1 && -s $2 && $(tensors "$1") == "$(tensors "$2")" ]]; }

# ---- the same release ----------------------------------------------------------------------------

for mechanism in residual biases dpals gram langevin; do
    "$binary" train -q r.dpr "${seeded[@]}" --mechanism "$mechanism" -j 1 -o "alone-$mechanism" ||
        fail "alone"
done
parts=$((RANDOM % 13 + 3))
"$binary" shard -q r.dpr --parts "$parts" -o shards || fail "shard"
for n in 1 2 3 4 8; do
    for threads in 1 2; do
        for input in r.dpr shards; do
            rm -f out.safetensors
            job "$n" train "$input" "${seeded[@]}" -j "$threads" -o out.safetensors
            check "$n processes, $threads threads, $input: status" test $? = 0
            check "$n processes, $threads threads, $input ($parts parts): the same release" \
                same_tensors alone-residual out.safetensors
        done
    done
done
for mechanism in biases dpals gram langevin; do
    job 3 train shards "${seeded[@]}" --mechanism "$mechanism" -j 1 -o out.safetensors
    check "$mechanism, 3 processes: the same release" same_tensors "alone-$mechanism" \
        out.safetensors
done
check "one process speaks" test "$(grep -c 'written to' log)" = 1
"$binary" ledger init -q ledger
job 3 train shards "${private[@]}" --ledger ledger --json -q -o real.safetensors
check "a real release: status" test $? = 0
check "a real release: one line of JSON" test "$(grep -c '"event":"done"' log)" = 1
check "a real release: it verifies" "$binary" privacy verify -q real.safetensors
check "a real release: in the ledger once" test "$("$binary" ledger show --ledger ledger \
    --json | grep -c '"state":"committed"')" = 1

# ---- another MPI ---------------------------------------------------------------------------------

# The plugin asks for nothing that MPI 3 does not have everywhere: the same, with the other free
# library.
if [[ ${DPMF_TEST_LONG:-} != 1 ]]; then
    skip "MPICH: make test-long"
elif ! command -v mpicc.mpich >/dev/null; then
    skip "MPICH: it is not installed"
elif check "MPICH: the plugin compiles" mpicc.mpich -std=gnu11 -O2 -Wall -Wextra -Werror \
    -fvisibility=hidden -fPIC -shared \
    -I"$tree/include" -I"$tree/lib" "$tree"/lib/cluster/mpi/*.c "$tree/lib/base/clock.c" \
    -o "$work/mpich-plugin.so" \
    -pthread; then
    # mpich_job RANKS WORD...: as job, by MPICH.
    mpich_job() {
        local n=$1
        shift
        DPMF_MPI_PLUGIN=$work/mpich-plugin.so timeout --kill-after=5 "$patience" mpirun.mpich \
            -n "$n" "$binary" "$@" >log 2>&1 </dev/null
    }
    for n in 1 2 3 8; do
        rm -f out.safetensors
        mpich_job "$n" train shards "${seeded[@]}" -j 1 -o out.safetensors
        check "MPICH, $n processes: status" test $? = 0
        check "MPICH, $n processes: the same release" same_tensors alone-residual out.safetensors
    done
    for n in 2 3; do
        for solver in sgd sgld gibbs; do
            rm -f mpich.safetensors out.safetensors
            plain=(train shards --solver "$solver" -k 8 --epochs 6 --seed 4 -j 1 -q)
            [[ $solver == gibbs ]] || plain+=(--deterministic)
            mpich_job "$n" "${plain[@]}" -o mpich.safetensors
            check "MPICH, $solver, $n processes: status" test $? = 0
            job "$n" "${plain[@]}" -o out.safetensors
            check "MPICH, $solver, $n processes: the model of Open MPI" same_tensors \
                mpich.safetensors out.safetensors
        done
    done
fi

# ---- refusals ------------------------------------------------------------------------------------

job 3 train shards \
    --replace --epsilon 2 --rating-range 1:5 --catalogue items.csv --mechanism posterior \
    -o x.safetensors
check "posterior: status" test $? = 2
check "posterior: one error" one_error "not in a cluster"
job 3 train missing.dpr "${private[@]}" -o x.safetensors
check "no such file: status" test $? = 4
check "no such file: one error" one_error "missing.dpr"
job 2 train - "${private[@]}" --format movielens -o x.safetensors
check "standard input: one error" one_error "standard input"
job 2 train r.dpr "${private[@]}" --cluster-timeout 0 -o x.safetensors
check "a timeout of nothing: one error" one_error "cluster-timeout"
pair "train r.dpr ${private[*]} -o x.safetensors" \
    "train r.dpr ${private[*]} --mechanism gram -o x.safetensors"
check "two mechanisms: status" test $? = 6
check "two mechanisms: one error" one_error "different options or files"
"$binary" train -q r.dpr -k 2 --epochs 1 -o small.safetensors
pair "train r.dpr -k 8 --epochs 2 -o x.safetensors" "evaluate small.safetensors r.dpr"
check "two commands: status" test $? = 4
check "two commands: one error" one_error "do not work on the same thing"
check "no release of any of them" test ! -e x.safetensors

# ---- a full disk ---------------------------------------------------------------------------------

# With little memory the ratings of each process go to a file.
"$binary" synth -q --users 20000 --items 300 --ratings 600000 --catalogue-out more.csv -o more.dpr
"$binary" ledger init -q ledger2
large=(train more.dpr \
    --replace --epsilon 2 --rating-range 1:5 --catalogue more.csv --ledger ledger2 -j 1)
job 3 "${large[@]}" --memory 2MiB -o y.safetensors
check "ratings on disk: status" test $? = 0
rm -f y.safetensors
FULL_RANK=1 job 3 "${large[@]}" --memory 2MiB -o y.safetensors
check "a full disk: status" test $? = 4
check "a full disk: one error that names the process" one_error 'rank 1 on '
check "a full disk: no release" test ! -e y.safetensors
reserved() { "$binary" ledger show --ledger ledger2 --json 2>/dev/null |
    grep -c '"state":"reserved"'; }
# What whoever finds a dead run does.
give_back() {
    "$binary" ledger show --ledger ledger2 --json |
        sed -nE 's/.*"release":"([0-9a-f]{32})","state":"reserved".*/\1/p' |
        while read -r id; do "$binary" ledger return -q "$id" --ledger ledger2 >/dev/null; done
}
wait_for_reservation() {
    for _ in $(seq 200); do
        [[ $(reserved) != 0 ]] && return
        sleep 0.05
    done
    return 1
}
check "a full disk: nothing is reserved" test "$(reserved)" = 0

# ---- a process that hangs ------------------------------------------------------------------------

slow=("${large[@]}" --mechanism langevin)
for rank in 2 0; do
    begin_job 3 "${slow[@]}" --cluster-timeout 2 -o y.safetensors
    pid=$(pid_of "$rank")
    wait_for_reservation
    kill -STOP "$pid"
    wait "$runner"
    status=$?
    kill -CONT "$pid" 2>/dev/null
    check "process $rank hangs: status $status" test "$status" = 4
    check "process $rank hangs: one error that names it" one_error \
        "rank $rank on .* has not been heard from"
    check "process $rank hangs: no release" test ! -e y.safetensors
    give_back
    check "process $rank hangs: nothing stays reserved" test "$(reserved)" = 0
done

# All is written and everyone has said farewell: MPI_Finalize would wait for the process for ever.
cat >stop.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int MPI_Finalize(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *stopped = getenv("STOPPED");
    void *real = dlsym(RTLD_DEFAULT, "PMPI_Finalize");
    int (*finalize)(void);
    memcpy(&finalize, &real, sizeof real);
    if (rank && stopped && strcmp(rank, stopped) == 0) raise(SIGSTOP);
    return finalize();
}
END
if check "a process that stops at the end: it compiles" cc -shared -fPIC -o stop.so stop.c -ldl
then
    for rank in 0 2; do
        rm -f out.safetensors
        LD_PRELOAD_RANKS=$work/stop.so STOPPED=$rank job 3 train shards "${seeded[@]}" -j 1 \
            --cluster-timeout 2 -o out.safetensors
        check "process $rank hangs at the end: the others do not" test $? != 124
        check "process $rank hangs at the end: the release is there" same_tensors alone-residual \
            out.safetensors
    done
fi

# ---- processes that die --------------------------------------------------------------------------

# How long a job takes that nobody disturbs, once its processes run, in milliseconds: most are to
# die within that time.
begin_job 4 "${slow[@]}" --cluster-timeout 20 -o y.safetensors
pid_of 0 >/dev/null
lived=$(date +%s%N)
wait "$runner"
lived=$((($(date +%s%N) - lived) / 1000000))
named=0
for i in $(seq 20); do
    rm -f y.safetensors
    rank=$((RANDOM % 4))
    # mpirun is to notice; where it does not, the heartbeats do.
    begin_job 4 "${slow[@]}" --cluster-timeout 20 -o y.safetensors
    pid=$(pid_of "$rank")
    moment=$((RANDOM % (lived / 2 + 1)))
    sleep "$((moment / 1000)).$(printf '%03d' $((moment % 1000)))"
    kill -9 "$pid" 2>/dev/null
    gone=$?
    await_job
    check "death $i of process $rank: all have ended" eval '! someone_runs'
    if ((gone != 0)) || [[ -e y.safetensors ]]; then
        # It was done by then: what there is must be whole.
        check "death $i, too late: the release is whole" "$binary" privacy verify -q y.safetensors
    else
        check "death $i of process $rank: status $status" test "$status" != 0
        ((named_by_mpirun)) && check "death $i of process $rank: it is named" grep \
            -qE "rank $rank |rank $rank\$" log
        named=$((named + 1))
    fi
    check "death $i: no temporary file" test -z "$(find . -maxdepth 1 -name '*.tmp*' -o \
        -maxdepth 1 -name '.y.*')"
    check "death $i: at most one reservation" test "$(reserved)" -le 1
    give_back
    check "death $i: nothing stays reserved" test "$(reserved)" = 0
done
check "some processes died in time" test "$named" -ge 5
((stuck)) && printf 'note: mpirun itself hung %s times, with all of its processes gone\n' "$stuck"
rm -f y.safetensors
job 4 "${slow[@]}" -o y.safetensors
check "after all that: status" test $? = 0
check "after all that: a release" "$binary" privacy verify -q y.safetensors

# ---- training without privacy --------------------------------------------------------------------

for part in "$here"/train_*.sh; do
    # shellcheck source=/dev/null # each is checked by itself
    source "$part"
done

# ---- a real network ------------------------------------------------------------------------------

# Three namespaces with a network each, which a bridge in a fourth connects: 10.213.7.1, .2 and .3.
make_network() {
    local i switch=dpmf-test-$$-switch
    ip netns add "$switch" 2>/dev/null || return
    namespaces+=("$switch")
    ip -n "$switch" link add hub type bridge 2>/dev/null && ip -n "$switch" link set hub up ||
        return
    for i in 1 2 3; do
        ip netns add "dpmf-test-$$-$i" || return
        namespaces+=("dpmf-test-$$-$i")
        ip -n "$switch" link add "port$i" type veth peer name wire netns \
            "dpmf-test-$$-$i" 2>/dev/null || return
        ip -n "$switch" link set "port$i" master hub up || return
        ip -n "dpmf-test-$$-$i" address add "10.213.7.$i/24" dev wire || return
        ip -n "dpmf-test-$$-$i" link set wire up && ip -n "dpmf-test-$$-$i" link set lo up || return
    done
}

# 20 ms each way between the second and the others: by the kernel, or else by a cable of our own,
# which clean takes away.
add_latency() {
    local switch=$NAMESPACE-switch node=$NAMESPACE-2
    if ip netns exec "$node" tc qdisc add dev wire root netem delay 20ms 2>/dev/null; then
        ip netns exec "$switch" tc qdisc add dev port2 root netem delay 20ms
        return
    fi
    ip netns exec "$switch" python3 "$here/slow_cable.py" near far 20 >cable 2>&1 &
    disown # nothing is to be said of its end
    for _ in $(seq 100); do
        [[ -s cable ]] && break
        sleep 0.05
    done
    [[ $(cat cable) == ready ]] || return
    ip -n "$node" link del wire || return
    ip -n "$switch" link set far netns "$node" name wire &&
        ip -n "$switch" link set near master hub up || return
    ip -n "$node" address add 10.213.7.2/24 dev wire && ip -n "$node" link set wire up || return
    # they know the other device
    ip -n "$NAMESPACE-1" neigh flush all && ip -n "$NAMESPACE-3" neigh flush all
}
# Microseconds until the second has said that nobody listens there.
round_trip() {
    ip netns exec "$NAMESPACE-1" python3 - <<'END'
import socket, time
begun = time.monotonic()
socket.socket().connect_ex(("10.213.7.2", 9))
print(int(1e6 * (time.monotonic() - begun)))
END
}

# How mpirun gets into the others: as ssh would, but by namespaces. Each has a host name of its own.
cat >enter.sh <<'END'
#!/bin/sh
# enter.sh ADDRESS COMMAND...
while [ "${1#-}" != "$1" ]; do shift; done
number=${1##*.}
shift
exec ip netns exec "$NAMESPACE-$number" unshare --uts \
    sh -c "hostname node$number; exec \$0 \"\$@\"" sh -c "$*"
END
chmod +x enter.sh
export NAMESPACE=dpmf-test-$$

# net_job WORD...: dpmf in three processes, one in each namespace.
net_job() {
    rm -rf "$PIDS"
    mkdir -p "$PIDS"
    # shellcheck disable=SC2016
    timeout --kill-after=5 120 ip netns exec "$NAMESPACE-1" unshare --uts sh \
        -c 'hostname node1; exec "$0" "$@"' \
        mpirun --host 10.213.7.1:1,10.213.7.2:1,10.213.7.3:1 -n 3 \
        --mca plm_rsh_agent "$work/enter.sh" --mca btl tcp,self --mca btl_tcp_if_include \
        10.213.7.0/24 \
        --mca oob_tcp_if_include 10.213.7.0/24 --wdir "$work" \
        -x PIDS -x HOME -x XDG_STATE_HOME "$work/rank.sh" "$binary" "$@" >log 2>&1 </dev/null
}

if [[ $(id -u) != 0 ]]; then
    skip "a real network: needs root"
elif ! make_network; then
    skip "a real network: this machine makes no network namespaces"
else
    net_job train shards "${seeded[@]}" -j 1 -o out.safetensors
    check "three networks: status" test $? = 0
    check "three networks: the same release" same_tensors alone-residual out.safetensors
    rm -f y.safetensors
    net_job "${slow[@]}" --cluster-timeout 3 -o y.safetensors &
    runner=$!
    wait_for_reservation
    ip -n "$NAMESPACE-switch" link set port3 down
    for _ in $(seq 200); do
        [[ $(errors) != 0 ]] && break
        sleep 0.1
    done
    # The job is over; but mpirun waits for its own daemon behind the cut, for ever.
    ip -n "$NAMESPACE-switch" link set port3 up
    wait "$runner"
    check "a cut network: status" test $? != 0
    check "a cut network: one error that names the process" one_error \
        "rank 2 on node3 has not been heard from"
    check "a cut network: no release" test ! -e y.safetensors
    check "a cut network: nothing stays reserved" test "$(reserved)" = 0

    if add_latency; then
        round_trip >/dev/null # who has that address is asked only once
        took=$(round_trip)
        check "latency: $took us there and back" test "$took" -ge 40000
        rm -f out.safetensors d3.safetensors
        net_job train shards "${seeded[@]}" -j 1 -o out.safetensors
        check "with latency: status" test $? = 0
        check "with latency: the same release" same_tensors alone-residual out.safetensors
        # as in train_sgd.sh
        net_job train st.dpr -k 16 --seed 4 --epochs 3 -j 1 --deterministic -o d3.safetensors
        check "with latency, sgd: status" test $? = 0
        check "with latency, sgd: the same model" cmp -s d1.safetensors d3.safetensors
    else
        skip "latency: this machine has neither netem nor /dev/net/tun"
    fi
fi
finish
