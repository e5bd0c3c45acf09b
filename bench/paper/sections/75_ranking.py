"""Not in the paper: models that recommend. Every rating is an event; each program trains with its
own defaults, and ranks all items that a user has not rated. The clock of dpmf is that of its
epochs, that of the packages runs from matrix to model.
"""
import os
import statistics

from peers.rating_text import numbered
from report import Table, Text
from trainers import in_turns

TITLE = "Ranking"
PAPER = "Not in the paper, which predicts ratings."
DPMF = "dpmf"


def dpmf_ranking(work, dataset, _round):
    files = numbered(work, dataset)
    model = work.temporary("ranking.safetensors")
    lines = work.dpmf_json("train", files["train"], "--goal", "ranking", "-j", work.threads,
                           "--seed", work.seed, "-o", model)
    found = work.dpmf_json("evaluate", model, files["test"], "--history", files["train"],
                           "--ranking")[0]
    os.unlink(model)
    return {"seconds": lines[-1]["seconds"], "recall": found["recall"], "ndcg": found["ndcg"]}


def peer_ranking(work, peer, dataset, _round):
    return peer.rank_with_defaults(work, peer.convert(work, dataset), work.threads)


def measure(work):
    dataset = work.dataset("movielens")
    peers = [p for p in work.peers if hasattr(p.adapter, "rank_with_defaults")]
    found = {DPMF: [], **{p.name: [] for p in peers}}
    for turn, program in in_turns([DPMF, *peers], work.repeats):
        if program is DPMF:
            found[DPMF].append(work.once(f"dpmf.{turn}", dpmf_ranking, work, dataset, turn))
        else:
            found[program.name].append(
                work.once(f"{program.name}.{turn}", peer_ranking, work, program, dataset, turn))
    return {
        "label": dataset.label, "test_ratings": dataset.test_ratings, "threads": work.threads,
        "runs": [{
            "name": name, "seconds": statistics.median(r["seconds"] for r in runs),
            "recall": runs[0]["recall"], "ndcg": runs[0]["ndcg"], "rounds": len(runs)
        } for name, runs in found.items()],
        "absent": [name for name, _ in work.absent if name in ("implicit ALS", "irspack iALS")]
    }


def show(data):
    rows = [[r["name"], f"{r['recall']:.4f}", f"{r['ndcg']:.4f}", f"{r['seconds']:.2f}"]
            for r in sorted(data["runs"], key=lambda r: -r["ndcg"])]
    shown = [
        Table(
            "ranking", ["program", "recall@10", "NDCG@10", "seconds"], rows,
            f"{data['label']}, {data['test_ratings']:,} of them held out at random, all of them "
            "events; each program's own "
            "defaults, of irspack 64 factors, alpha 0.3 and a penalty of 0.007, as published; "
            f"{data['threads']} threads; seconds are medians of {data['runs'][0]['rounds']} "
            "runs, in turns."
        )
    ]
    if data["absent"]:
        shown.append(Text("Not on this machine: " + ", ".join(data["absent"]) + "."))
    return shown


def verdict(data):
    ours, others = data["runs"][0], data["runs"][1:]
    said = f"dpmf: NDCG@10 {ours['ndcg']:.4f} in {ours['seconds']:.2f} s"
    if not others:
        return "no claim", f"No peer is on this machine to compare with. {said}."
    best = max(others, key=lambda r: r["ndcg"])
    return "no claim", (f"{said}; the best peer, {best['name']}, {best['ndcg']:.4f} in "
                        f"{best['seconds']:.2f} s.")
