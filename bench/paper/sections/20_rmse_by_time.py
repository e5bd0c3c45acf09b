"""The paper's four plots of test error by time: Netflix and Yahoo, at several dimensions, for SGD,
SGLD and peers.

Every program learns from the same ratings and is tested on the same. A run's clock starts when
learning starts (not reading, ordering or converting) and holds its own measuring of the error, for
all programs alike.
"""
import os
import statistics

from report import Plot, Series, Table, Text
from trainers import is_wanted, memory_for_dpmf, peer_rmse_by_time

TITLE = "Test error by time"
PAPER = (
    "C-SGD is two to three times as fast as GraphChi and ends more accurate; SGLD, which "
    "samples, is slower than "
    "C-SGD, comparable with GraphChi in high dimension, and converges the worse the more "
    "dimensions there are. "
    "15 epochs on Netflix's set, 30 on Yahoo's (32 threads of a c3.8xlarge).")
FACTORS = {"tiny": (8,), "small": (16, 128), "medium": (512, 2048), "full": (16, 128, 1024, 2048)}
EPOCHS = {"netflix": 15, "yahoo": 30}
# The paper's step sizes and penalties for SGD; dpmf's defaults are chosen to need no tuning.
PAPER_STEPS = {"netflix": ["--learning-rate", "0.02", "--decay", "1", "--reg", "0.005"],
               "yahoo": ["--learning-rate", "0.06", "--decay", "1", "--reg", "0.05"]}
DIVERGED = 5  # the exit status
WAYS = (("C-SGD", "sgd"), ("C-SGD, the paper's steps", "paper"), ("SGLD", "sgld"))


def options_of(way, name):
    if way == "sgld":
        return ["--solver", "sgld"]
    # as many epochs as all others
    return ["--patience", "0", *(PAPER_STEPS[name] if way == "paper" else [])]


def dpmf_run(work, dataset, k, epochs, options, may_diverge):
    """A run with the error after each epoch. Steps that are not dpmf's own may be too large for a
    dimension: then the run has diverged, and is shown as far as it went."""
    model = work.temporary("model.safetensors")
    # Everything in memory when it fits; what does not is streamed by dpmf itself.
    events = work.dpmf_json("train", dataset.train, "-k", k, "--epochs", epochs, "-j", work.threads,
                            "--valid", dataset.test, "--seed", work.seed, "--no-adapt", "--memory",
                            memory_for_dpmf(), *options, "-o", model,
                            accept=(0, DIVERGED) if may_diverge else (0, ))
    done = [e for e in events if e.get("event") == "done"]
    if done:
        os.unlink(model)
    found = [e for e in events if e.get("event") == "epoch" and e["valid_rmse"] is not None]
    return {"rmse_by_time": [[e["seconds"], e["valid_rmse"]] for e in found],
            "updates_per_second": [e["updates_per_second"] for e in found], "diverged": not done,
            "tiles_on_disk": bool(done and done[0]["tiles_on_disk"])}


def measure(work):
    panels, skipped = [], []
    for k in work.only_factors(FACTORS[work.scale]):
        for name in work.only_sets("netflix", "yahoo"):
            dataset, epochs = work.dataset(name), EPOCHS[name]
            runs = [{
                "name": title, "way": way,
                **work.once(f"{name}.{k}.{way}", dpmf_run, work, dataset, k, epochs,
                            options_of(way, name), way == "paper")
            } for title, way in WAYS]
            for peer in work.peers:
                if not peer.adapter.HAS_ERROR or not is_wanted(work, peer, dataset, k, skipped):
                    continue
                found = work.once(f"{name}.{k}.{peer.name}", peer_rmse_by_time, work, peer, dataset,
                                  k, epochs, work.threads)
                runs.append({"name": peer.name, "way": "peer", **found})
            panels.append({
                "set": name, "title": dataset.title, "label": dataset.label, "k": k,
                "epochs": epochs, "runs": runs
            })
    return {"panels": panels, "skipped": skipped}


def show(data):
    shown = [
        Text(
            "dpmf's C-SGD and SGLD run with the settings of `dpmf train --no-adapt`, the peers "
            "with their own. The "
            "clock starts with learning and counts each program's own measuring of the error.")
    ]
    rows = []
    for panel in data["panels"]:
        shown.append(
            Plot(f"{panel['set']}_{panel['k']}", f"{panel['title']}, {panel['k']} dimensions",
                 "seconds", "test RMSE",
                 [Series(r["name"], r["rmse_by_time"]) for r in panel["runs"]], log_x=True,
                 note=f"{panel['label']}; {panel['epochs']} epochs."))
        for r in panel["runs"]:
            if not r["rmse_by_time"]:
                continue
            best = min(e for _, e in r["rmse_by_time"])
            rows.append([
                panel["title"], panel["k"], r["name"], r["rmse_by_time"][-1][0],
                r["rmse_by_time"][-1][1], best,
                statistics.median(r["updates_per_second"]) / 1e6,
                seconds_to(r, peer_best(panel))
            ])
    shown.append(
        Table("runs", [
            "set", "k", "program", "seconds", "last RMSE", "best RMSE", "million updates/s",
            "seconds to the best peer's best RMSE"
        ], rows))
    diverged = [
        f"{panel['title']} at k = {panel['k']}" for panel in data["panels"] for r in panel["runs"]
        if r.get("diverged")
    ]
    if diverged:
        shown.append(Text(f"With the paper's steps training diverged: {'; '.join(diverged)}."))
    if data["skipped"]:
        shown.append(Text("Not run: " + "; ".join(data["skipped"]) + "."))
    return shown


def peer_best(panel):
    errors = [e for r in panel["runs"] if r["way"] == "peer" for _, e in r["rmse_by_time"]]
    return min(errors) if errors else None


def seconds_to(run, error):
    """When a run first was as good as that, or None."""
    if error is None:
        return None
    return next((s for s, e in run["rmse_by_time"] if e <= error), None)


def verdict(data):
    if not any(r["way"] == "peer" for p in data["panels"] for r in p["runs"]):
        slow = [ratio_of_speeds(p, "SGLD", "C-SGD") for p in data["panels"]]
        return "no claim", (
            f"No peer is on this machine to compare with. SGLD updates at {min(slow):.2f} to "
            f"{max(slow):.2f} of C-SGD's speed.")
    speedups, better = [], []
    for panel in data["panels"]:
        sgd = next(r for r in panel["runs"] if r["way"] == "sgd")
        for peer in (r for r in panel["runs"] if r["way"] == "peer"):
            best = min(e for _, e in peer["rmse_by_time"])
            reached = seconds_to(sgd, best)
            better.append(min(e for _, e in sgd["rmse_by_time"]) <= best)
            if reached is not None:
                at = next(s for s, e in peer["rmse_by_time"] if e <= best)
                speedups.append(at / reached)
    if not all(better):
        return "not confirmed", (
            f"C-SGD ends more accurate than a peer in {sum(better)} of {len(better)} "
            f"comparisons.")
    said = (
        f"C-SGD ends more accurate than every peer in every plot, and reaches a peer's best error "
        f"{spread(speedups)} times as fast")
    if min(speedups) >= 3:
        return "exceeded", said + "."
    return ("confirmed" if min(speedups) >= 1 else "not confirmed"), said + "."


def spread(values):
    return f"{min(values):.1f} to {max(values):.1f}" if len(values) > 1 else f"{values[0]:.1f}"


def ratio_of_speeds(panel, above, below):
    speed = {r["name"]: statistics.median(r["updates_per_second"]) for r in panel["runs"]}
    return speed[above] / speed[below]
