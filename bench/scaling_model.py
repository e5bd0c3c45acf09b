#!/usr/bin/env python3
"""How long an epoch of SGD takes by several processes: a model, checked against runs, and what it
predicts.

    bench/scaling_model.py bytes --ranks R --items N --factors K [--solver sgd|sgld|sghmc|sgnht]
    bench/scaling_model.py check RUNS        what bench_ranks.sh has measured, against the model
    bench/scaling_model.py predict RUNS      the tables of docs/scaling.md

The model. N ratings of `users` users and `items` items, k factors, R ranks of T threads. A rank has
its users, 1/R of the ratings. Items are dealt into 2R parts, each of about items/2R rows and N/2R
ratings. In each of the 2R half-steps of an epoch a rank works on a part, N/2R^2 ratings in as many
tiles as it has superblocks times groups a part, and meanwhile another part travels:

    work    = imbalance (ratings / (T rate) + tiles t_tile / T) + t_start
    travel  = latency + part bytes / bandwidth
    epoch   = (2R - 2) max(work, travel) + 2 work + t_agree
    t_agree = 2 ceil(log2 R) latency + (R - 1) latency

since nothing travels in the first half-step, and the parts of the last two stay where they are.
Where all ranks share one wire (`shared`), each has 1/R of its bandwidth. A rank sends (2R - 2)
parts an epoch; with a row of `stride` floats, and its bias, that is

    bytes   = (R - 1) items (4 stride + 4) + what is said beside it

for all ranks together. With momenta a row is twice as long, and with thermostats 4 bytes longer.
With a sampler everyone gets all rows and biases once more at the end of an epoch, which are as many
bytes as in one of SGD.
"""
import argparse
import json
import math
import sys
from dataclasses import dataclass, replace

LINE = 16  # floats a cache line, as lib/kernels/row_layout.h
NOTE = 8  # bytes that go with every part
TILE_BYTES = 33 + 8  # kept for each tile, as lib/schedule/tiling.c plans it, and its sum of errors
CHUNK_BYTES = 15  # kept for each rating, likewise
GROUP_SHARE = 0.08  # of the ratings in a group, at most
GROUPS_MAX = 65536
TILE = 0.4e-6  # seconds that a visit to a tile costs beside its ratings: assumed
START = 50e-6  # seconds that a half-step costs at least: a thread is started, messages are begun


def stride(k):
    lines = -(-k // LINE) * LINE
    return lines + LINE if lines % 256 == 0 else lines


def row_bytes(k, solver="sgd"):
    """What travels of an item."""
    rows = 1 if solver in ("sgd", "sgld") else 2
    return 4 * rows * stride(k) + 4 + (4 if solver == "sgnht" else 0)


def epoch_bytes(ranks, items, k, solver="sgd"):
    """All ranks together, in an epoch: the parts, their notes, and the agreement at its end."""
    if ranks == 1:
        return 0
    notes = ranks * (2 * ranks - 2) * NOTE
    agreement = 2 * (ranks - 1) * 16
    parts = (ranks - 1) * items * row_bytes(k, solver) + notes + agreement
    if solver == "sgd":
        return parts
    return parts + (ranks - 1) * (items * row_bytes(k) + ranks * NOTE)


@dataclass
class Machine:
    """Of each rank."""

    rate: float  # updates a second and thread, of the ratings alone
    tile: float  # seconds a tile beside its ratings
    start: float  # seconds a half-step: threads started, messages begun
    threads: int = 1
    l3: float = 32 * 2**20  # bytes
    imbalance: float = 1.03  # the slowest rank or part, in terms of the mean


@dataclass
class Network:
    latency: float  # seconds
    bandwidth: float  # bytes a second
    shared: bool = False  # one wire for all ranks


@dataclass
class Job:
    users: float
    items: float
    ratings: float
    k: int


def groups(job, machine, ranks):
    parts = 2 * ranks
    share = min(GROUP_SHARE, 1 / (2 * machine.threads * parts)) if ranks > 1 else GROUP_SHARE
    rows = max(machine.l3 // 8 // (4 * stride(job.k)), 1)
    by_rows = math.ceil(job.items / parts / rows) * parts
    return max(math.ceil(1 / share), by_rows, parts if ranks > 1 else 1)


def superblocks(job, machine, ranks):
    users = job.users / ranks
    wanted = max(machine.l3 / 2 / machine.threads / (4 * stride(job.k)), 1)
    return max(math.ceil(users / wanted), 8 * machine.threads)


def tiles(job, machine, ranks):
    """Of a rank, in an epoch."""
    return superblocks(job, machine, ranks) * groups(job, machine, ranks)


def epoch_seconds(job, machine, network, ranks):
    """(seconds of an epoch, of a half-step's work, of a part's way)"""
    t = machine.threads
    work = job.ratings / ranks / (t * machine.rate) + tiles(job, machine, ranks) * machine.tile / t
    if ranks == 1:
        return work, work, 0.0
    half = machine.imbalance * work / (2 * ranks) + machine.start
    part = job.items * row_bytes(job.k) / (2 * ranks)
    wire = network.bandwidth / ranks if network.shared else network.bandwidth
    travel = network.latency + part / wire
    agree = (2 * math.ceil(math.log2(ranks)) + ranks - 1) * network.latency
    return (2 * ranks - 2) * max(half, travel) + 2 * half + agree, half, travel


def ranks_before_travel(job, machine, network):
    """From how many ranks on a part travels longer than it takes to work on one."""
    return job.ratings / job.items * network.bandwidth / (
        row_bytes(job.k) * machine.rate * machine.threads
    )


def rank_memory(job, machine, ranks):
    row = 4 * stride(job.k)
    return (
        job.users / ranks * (row + 4)
        + job.items * (row + 4)
        + job.ratings / ranks * CHUNK_BYTES
        + tiles(job, machine, ranks) * TILE_BYTES
    )


# ---- runs ----------------------------------------------------------------------------------------


def read_runs(path):
    """A JSON object a line: ranks, threads, users, items, ratings, factors, seconds (of an epoch),
    bytes (of an epoch, measured), and bandwidth, of a wire that all ranks share, or 0: the memory
    of one machine."""
    return [json.loads(line) for line in open(path) if line.strip()]


def job_of(run):
    return Job(run["users"], run["items"], run["ratings"], run["factors"])


def best_runs(runs):
    """Of those that differ in nothing but their speed, the fastest."""
    best = {}
    for run in runs:
        key = tuple(run[name] for name in ("ranks", "threads", "factors", "bandwidth"))
        if key not in best or run["seconds"] < best[key]["seconds"]:
            best[key] = run
    return list(best.values())


def fit(runs):
    """The machine by k: its rate from one process of one thread; what a half-step costs beside its
    work, from processes that have a core each, the least of them."""
    machines = {}
    for run in runs:
        if run["ranks"] == 1 and run["threads"] == 1:
            machines[run["factors"]] = Machine(rate=run["ratings"] / run["seconds"], tile=0.0,
                                               start=0.0)
    missing = {run["factors"] for run in runs} - machines.keys()
    if missing:
        sys.exit(
            f"no run of one process and one thread with k = {min(missing)}: BENCH_RANKS must "
            "have 1 among its numbers"
        )
    starts = []
    for run in runs:
        if run["ranks"] == 1 or run["bandwidth"] or run["ranks"] > run["cores"]:
            continue
        machine = replace(machines[run["factors"]], threads=run["threads"])
        seconds, _, _ = epoch_seconds(job_of(run), machine, network_of(run), run["ranks"])
        starts.append(max(run["seconds"] - seconds, 0) / (2 * run["ranks"]))
    start = max(min(starts, default=START), START)
    return {k: replace(machine, start=start) for k, machine in machines.items()}


def network_of(run):
    if run["bandwidth"]:
        return Network(30e-6, run["bandwidth"], shared=True)  # TCP within one machine
    return Network(2e-6, 4e9)  # its memory


def check(path):
    runs = best_runs(read_runs(path))
    machines = fit(runs)
    print("ranks  k     network              seconds an epoch        bytes an epoch")
    print(
        "                                  run     model   ratio   run          model        ratio")
    worst_bytes = 0.0
    for run in runs:
        if run["ranks"] == 1:
            continue
        machine = replace(machines[run["factors"]], threads=run["threads"])
        if run["ranks"] > run["cores"]:  # they take turns
            machine = replace(machine, rate=machine.rate * run["cores"] / run["ranks"])
        seconds, _, _ = epoch_seconds(job_of(run), machine, network_of(run), run["ranks"])
        predicted = epoch_bytes(run["ranks"], run["items"], run["factors"])
        network = f"{run['bandwidth'] * 8e-6:g} Mbit/s" if run["bandwidth"] else "memory"
        worst_bytes = max(worst_bytes, abs(run["bytes"] / predicted - 1))
        print(
            f"{run['ranks']:5d}  {run['factors']:<5d} {network:20s}"
            f" {run['seconds']:7.3f} {seconds:7.3f} {run['seconds'] / seconds:7.2f}"
            f"   {run['bytes']:<12.0f} {predicted:<12.0f} {run['bytes'] / predicted:.4f}"
        )
    print(f"bytes: at most {100 * worst_bytes:.2f} % from the model")
    return 0 if worst_bytes <= 0.1 else 1


# ---- predictions ---------------------------------------------------------------------------------

NETWORKS = {
    "1 Gbit/s, 50 us": Network(50e-6, 0.117e9),
    "10 Gbit/s, 20 us": Network(20e-6, 1.17e9),
    "100 Gbit/s, 3 us": Network(3e-6, 11.7e9),
}


def table(title, job, machine, sizes):
    print(
        f"\n{title}: {job.users:.3g} users, {job.items:.3g} items, {job.ratings:.3g} ratings, k "
        f"= {job.k};"
    )
    print(
        f"ranks of {machine.threads} threads at {machine.rate * 1e-6:.1f} million updates/s each\n")
    print("| ranks | memory a rank | " + " | ".join(NETWORKS) +
          " | of it waiting | ratings a tile |")
    print("|---|---|" + "---|" * (len(NETWORKS) + 2))
    for ranks in sizes:
        times, waits = [], []
        for network in NETWORKS.values():
            seconds, half, travel = epoch_seconds(job, machine, network, ranks)
            times.append(f"{seconds:.3g} s")
            waits.append(f"{100 * max(travel - half, 0) / max(travel, half):.0f} %")
        per_tile = job.ratings / ranks / tiles(job, machine, ranks)
        memory = rank_memory(job, machine, ranks) / 2**30
        print(f"| {ranks} | {memory:.3g} GiB | " + " | ".join(times) +
              f" | {' / '.join(waits)} | {per_tile:.0f} |")
    for name, network in NETWORKS.items():
        limit = ranks_before_travel(job, machine, network)
        when = f"from about {limit:.0f} ranks on" if limit >= 2 else "with any number of ranks"
        print(f"\n{name}: parts travel longer than work takes {when}.")


def predict(path):
    machines = fit(best_runs(read_runs(path)))
    k = max(machines)
    machine = replace(machines[k], threads=16, tile=TILE, imbalance=1.1)
    yahoo = Job(1000990, 624961, 262810175, k)
    table("The Yahoo-shaped set", yahoo, machine, [1, 2, 4, 8, 16, 32])
    billion = Job(1e9, 1e6, 1e11, k)
    table("A billion users", billion, machine, [32, 64, 128, 256, 512, 1024])
    row = 4 * k + 4
    ids = 1e9 * (8 + 10) / 2**30
    print(
        f"\nA checkpoint of a billion users has {1e9 * row / 2**30:.0f} GiB, all of it through "
        "rank 0: "
        f"{1e9 * row / 1.17e9 / 60:.0f} minutes at 10 Gbit/s, against "
        f"{epoch_seconds(billion, machine, NETWORKS['10 Gbit/s, 20 us'], 256)[0]:.1f} s of an "
        "epoch; "
        f"rank 0 also keeps all ids, about {ids:.0f} GiB of them.")
    print(
        f"\nThe Yahoo-shaped set has {yahoo.ratings / yahoo.items:.0f} ratings an item, and the "
        "billion users have "
        f"{billion.ratings / billion.items:.0f}. A visit to a tile of 10 ratings costs "
        f"{1 + machine.tile * machine.rate / 10:.1f} times what its ratings do, of 100 ratings "
        f"{1 + machine.tile * machine.rate / 100:.2f} times. Room for 10^8 items would be "
        f"{1e8 * row_bytes(k) / 2**30:.0f} GiB on every rank.")
    limit = GROUPS_MAX / (4 * machine.threads)
    print(
        f"\nThere are at most {GROUPS_MAX} groups of items: ranks of {machine.threads} threads "
        "have fewer than "
        f"two a thread and part from {limit:.0f} ranks on.")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    sent = commands.add_parser("bytes")
    sent.add_argument("--ranks", type=int, required=True)
    sent.add_argument("--items", type=int, required=True)
    sent.add_argument("--factors", type=int, required=True)
    sent.add_argument("--solver", default="sgd")
    for name in ("check", "predict"):
        commands.add_parser(name).add_argument("runs")
    options = parser.parse_args()
    if options.command == "bytes":
        print(epoch_bytes(options.ranks, options.items, options.factors, options.solver))
        return 0
    return check(options.runs) if options.command == "check" else predict(options.runs)


if __name__ == "__main__":
    sys.exit(main())
