"""Not in the paper: what a person gets who gives ratings to each program and asks for a model, with
nothing tuned.

Every program reads the same text and is tested on the same held-out ratings, each by its own
defaults; the threads and a seed are all that is given. A program's clock runs from the text to the
model (dpmf and LIBMF write it to a file too); the time that Python and Java take to start does not
count.
"""
import os
import statistics

from peers.rating_text import numbered
from report import Table, Text
from trainers import QUICK, in_turns

TITLE = "Defaults against defaults"
PAPER = (
    "Not in the paper, which compares programs at equal dimensions: here each has its own defaults."
)
DPMF = "dpmf"


def dpmf_with_defaults(work, dataset, _round):
    files = numbered(work, dataset)
    model = work.temporary("defaults.safetensors")
    seconds = work.run([
        work.dpmf, "train", files["train"], "-j", work.threads, "--seed", work.seed, "-o", model,
        "--quiet"
    ]).seconds
    rmse = work.dpmf_json("evaluate", model, files["test"])[0]["rmse"]
    os.unlink(model)
    return {"seconds": seconds, "rmse": rmse}


def peer_with_defaults(work, peer, dataset, _round):
    return peer.run_with_defaults(work, peer.convert(work, dataset), work.threads)


def measure(work):
    dataset = work.dataset("movielens")
    peers = [p for p in work.peers if hasattr(p.adapter, "run_with_defaults")]
    found = {DPMF: [], **{p.name: [] for p in peers}}
    for turn, program in in_turns([DPMF, *peers], work.repeats):
        if program is DPMF:
            found[DPMF].append(work.once(f"dpmf.{turn}", dpmf_with_defaults, work, dataset, turn))
        elif turn == 0 or program.name in QUICK:  # the others take too long to be repeated
            found[program.name].append(
                work.once(f"{program.name}.{turn}", peer_with_defaults, work, program, dataset,
                          turn))
    about = {DPMF: work.program["version"], **{p.name: p.description.split(";")[0] for p in peers}}
    return {
        "label": dataset.label, "test_ratings": dataset.test_ratings, "threads": work.threads,
        "runs": [{
            "name": name, "about": about[name], "seconds": statistics.median(r["seconds"]
                                                                             for r in runs),
            "rmse": runs[0]["rmse"], "rounds": len(runs)
        } for name, runs in found.items()], "absent": [
            name for name, _ in work.absent if name not in ("prototype", "authors' prototype")
        ]
    }


def show(data):
    ours = data["runs"][0]
    rows = [[
        r["name"], f"{r['rmse']:.4f}" if r["rmse"] is not None else "predicts no ratings",
        f"{r['seconds']:.2f}", f"{r['seconds'] / ours['seconds']:.1f}"
    ] for r in sorted(data["runs"], key=lambda r: (r["rmse"] is None, r["rmse"]))]
    shown = [
        Table(
            "defaults", ["program", "test RMSE", "seconds", "times dpmf's"], rows,
            f"{data['label']}, {data['test_ratings']:,} of them held out at random; from text to "
            "model with each "
            f"program's own defaults, {data['threads']} threads; the seconds of dpmf and LIBMF "
            "are medians of "
            f"{ours['rounds']} runs, those of the others of one."),
        Text("Versions: " + "; ".join(f"{r['name']}: {r['about']}" for r in data["runs"]) + ".")
    ]
    if data["absent"]:
        shown.append(Text("Not on this machine: " + ", ".join(data["absent"]) + "."))
    return shown


def verdict(data):
    ours, others = data["runs"][0], [r for r in data["runs"][1:] if r["rmse"] is not None]
    said = f"dpmf: RMSE {ours['rmse']:.4f} in {ours['seconds']:.2f} s"
    if not others:
        return "no claim", f"No peer is on this machine to compare with. {said}."
    best, fastest = min(others, key=lambda r: r["rmse"]), min(others, key=lambda r: r["seconds"])
    return "no claim", (
        f"{said}; the most accurate peer, {best['name']}, {best['rmse']:.4f} in "
        f"{best['seconds']:.2f} s; "
        f"the fastest, {fastest['name']}, {fastest['rmse']:.4f} in {fastest['seconds']:.2f} s.")
