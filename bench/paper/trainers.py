"""Runs of dpmf train and of the peers as the speed sections want them: so many epochs, nothing
evaluated, the speed of each epoch. Sections call these inside work.once.
"""
import os
import statistics

QUICK = ("LIBMF", "prototype")  # peers whose runs are short enough to be repeated at every size

# Beyond this many factors a round of the others would take longer than all else together.
SLOW_PEERS_UP_TO = {"tiny": 8, "small": 64, "medium": 256, "full": 128}


def memory_total():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def memory_for_dpmf():
    """Seven tenths of the machine's memory: what does not fit, dpmf streams."""
    return f"{memory_total() * 7 // 10 >> 20}MiB"


def epochs_for(work, k):
    """Fewer as they take longer. A run's speed is that of its median epoch."""
    if work.scale in ("tiny", "full"):
        return 3
    if work.scale == "small":
        return 6 if k <= 64 else 4 if k <= 256 else 3
    return 8 if k <= 64 else 5 if k <= 256 else 3


def dpmf_speed(work, dataset, k, epochs, threads, options):
    model = work.temporary("model.safetensors")
    events = work.dpmf_json("train", dataset.train, "-k", k, "--epochs", epochs,
                            "-j", threads, "--seed", work.seed, "--no-adapt", "--memory",
                            memory_for_dpmf(), *options, "-o", model)
    os.unlink(model)
    return {
        "updates_per_second": [e["updates_per_second"] for e in events if e["event"] == "epoch"],
        "tiling_seconds": events[-1]["tiling_seconds"], "tiles_on_disk": events[-1]["tiles_on_disk"]
    }


def peer_speed(work, peer, dataset, k, epochs, threads):
    return peer.run(work, peer.convert(work, dataset), k, epochs, threads, validate=False)


def peer_rmse_by_time(work, peer, dataset, k, epochs, threads):
    return peer.run(work, peer.convert(work, dataset), k, epochs, threads, validate=True)


def fits(peer, dataset, k):
    """Whether a peer, all of which keep everything in memory, would fit in this machine's."""
    files = {"users": dataset.users, "items": dataset.items, "ratings": dataset.train_ratings}
    return peer.adapter.memory_needed(files, k) < 0.85 * memory_total()


def is_wanted(work, peer, dataset, k, skipped):
    """Whether a peer is run on a set at a dimension; when it is not, `skipped` gets the reason."""
    if dataset.name not in peer.adapter.SHAPES:
        return False
    if not fits(peer, dataset, k):
        skipped.append(f"{peer.name} at k = {k} on {dataset.title} (not enough memory)")
        return False
    if peer.name not in QUICK and k > SLOW_PEERS_UP_TO[work.scale]:
        skipped.append(f"{peer.name} at k = {k} on {dataset.title} (too slow for this scale)")
        return False
    return True


def in_turns(programs, repeats):
    """(round, program) so that every program is measured once a round and none always follows the
    same one."""
    n = len(programs)
    for round_number in range(repeats):
        for turn in range(n):
            yield round_number, programs[(round_number + turn) % n]


def median_speed(run):
    return statistics.median(run["updates_per_second"])


def summary(values):
    """(median, least, greatest)"""
    return statistics.median(values), min(values), max(values)


def ratios(above, below):
    """Round by round, whose runs follow each other directly: what else the machine does falls on
    both."""
    return [above[r] / below[r] for r in sorted(above) if r in below]


def ratio_text(values):
    if not values:
        return ""
    middle, low, high = summary(values)
    if len(values) == 1:
        return f"{middle:.2f}"
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"
