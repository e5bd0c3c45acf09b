"""The paper's figure of SGLD's convergence at 16 dimensions, with the samplers that it leaves for
later beside it."""
import os

import privacy_runs as runs
from report import Plot, Series, Table, Text

TITLE = "Convergence of SGLD at 16 dimensions"
PAPER = (
    "C-SGD finds its best model in a few rounds and then begins to overfit; SGLD burns in first, "
    "converges fast "
    "at 16 dimensions, and does not overfit. With more dimensions SGLD converges more slowly, "
    "which better "
    "samplers (SGHMC, SGNHT) may mend; the paper leaves them for later.")
EPOCHS = {"tiny": 20, "small": 60, "medium": 200, "full": 400}
GIBBS_EPOCHS = {"tiny": 10, "small": 30, "medium": 60, "full": 100}
WIDE = {"tiny": 32, "small": 256, "medium": 256, "full": 256}
WIDE_EPOCHS = {"tiny": 10, "small": 30, "medium": 100, "full": 200}
PAPER_SGD = ["--learning-rate", 0.02, "--decay", 0, "--reg", 0.005, "--patience", 0]
# what is kept; the error is that of all draws' mean
MEAN = ["--average", "--chains", 1, "--samples", 10]
RISE = 0.002  # of the error, from its lowest to its last, that is taken for overfitting
NEAR = 0.005  # to the last error: settled


def run(work, dataset, k, epochs, options):
    model = work.temporary("model.safetensors")
    events = work.dpmf_json("train", dataset.train, "-k", k, "--epochs", epochs, "--valid",
                            dataset.test, "--seed", work.seed, "-j", work.threads, *options, "-o",
                            model)
    os.unlink(model)
    each = [e for e in events if e["event"] == "epoch"]
    return {"rmse": [e["valid_rmse"] for e in each], "seconds": [e["seconds"] for e in each],
            "burn_in": events[-1].get("burn_in", 0), "rhat": events[-1].get("rhat")}


def ways(scale):
    epochs = EPOCHS[scale]
    return (("C-SGD, the paper's penalty", "sgd_paper", epochs, PAPER_SGD),
            ("C-SGD", "sgd", epochs, ["--patience",
                                      0]), ("SGLD, each draw", "sgld", epochs, ["--solver",
                                                                                "sgld"]),
            ("SGLD, mean of draws", "sgld_mean", epochs,
             ["--solver", "sgld",
              *MEAN]), ("SGHMC, mean of draws", "sghmc_mean", epochs, ["--solver", "sghmc", *MEAN]),
            ("SGNHT, mean of draws", "sgnht_mean", epochs,
             ["--solver", "sgnht",
              *MEAN]), ("Gibbs, each draw", "gibbs", GIBBS_EPOCHS[scale],
                        ["--solver", "gibbs"]), ("Gibbs, mean of draws", "gibbs_mean",
                                                 GIBBS_EPOCHS[scale], ["--solver", "gibbs", *MEAN]))


def measure(work):
    dataset = work.dataset("movielens")
    found = [{
        "name": title, "way": way, **work.once(f"16.{way}", run, work, dataset, 16, epochs, options)
    } for title, way, epochs, options in ways(work.scale)]
    k, epochs = WIDE[work.scale], WIDE_EPOCHS[work.scale]
    wide = [{
        "name": name, "way": solver,
        **work.once(f"{k}.{solver}", run, work, dataset, k, epochs, ["--solver", solver, *MEAN])
    } for name, solver in (("SGLD", "sgld"), ("SGHMC", "sghmc"), ("SGNHT", "sgnht"))]
    return {"label": dataset.label, "runs": found, "wide": wide, "wide_k": k}


def by_epoch(r):
    return list(enumerate(r["rmse"], 1))


def show(data):
    found, wide, wide_k = runs.need(data, "runs", "wide", "wide_k")
    rows = [[
        r["name"],
        len(r["rmse"]), r["burn_in"] or None,
        min(r["rmse"]), r["rmse"].index(min(r["rmse"])) + 1, r["rmse"][-1], r["seconds"][-1],
        r["rhat"]
    ] for r in found]
    columns = [
        "run", "epochs", "burn-in", "lowest RMSE", "in epoch", "last RMSE", "seconds", "R-hat"
    ]
    return [
        Text(
            f"On {data['label']}. C-SGD runs with dpmf's defaults and with the paper's first "
            "step size, 0.02, "
            "held, and its penalty, 0.005. During burn-in the error of a sampler is that of each "
            "draw, "
            "afterwards, where it says so, that of the mean of all draws since. R-hat is near 1 "
            "only for a "
            "chain that has come to rest."),
        Plot("epochs", "Test error by epoch, 16 dimensions", "epoch", "test RMSE",
             [Series(r["name"], by_epoch(r)) for r in found]),
        Plot("seconds", "Test error by time, 16 dimensions", "seconds", "test RMSE",
             [Series(r["name"], list(zip(r["seconds"], r["rmse"]))) for r in found], log_x=True),
        Table("runs", columns, rows),
        Plot("wide", f"Test error by epoch, {wide_k} dimensions: mean of draws", "epoch",
             "test RMSE", [Series(r["name"], by_epoch(r)) for r in wide])
    ]


def verdict(data):
    found, = runs.need(data, "runs")
    named = {r["way"]: r for r in found}

    def rise(way):
        return named[way]["rmse"][-1] - min(named[way]["rmse"])

    draws, last = named["sgld"]["rmse"], named["sgld"]["rmse"][-1]
    settled = next(epoch for epoch, rmse in enumerate(draws, 1) if rmse <= last + NEAR)
    sgd, sgld = rise("sgd_paper"), max(rise("sgld"), rise("sgld_mean"))
    said = (
        "From its lowest point the test error of C-SGD with the paper's penalty rises by "
        f"{sgd:.4f} to "
        f"{named['sgd_paper']['rmse'][-1]:.4f}, that of SGLD by {sgld:.4f}. SGLD's draws are "
        f"within {NEAR:g} of "
        f"their last error, {last:.4f}, from epoch {settled} of {len(draws)} on; those of Gibbs "
        "end at "
        f"{named['gibbs']['rmse'][-1]:.4f}. An error that stands still is no chain at rest: "
        "SGLD's R-hat is "
        f"{named['sgld']['rhat']:.2f}. The means of draws end at "
        f"{named['sgld_mean']['rmse'][-1]:.4f} (SGLD), "
        f"{named['sghmc_mean']['rmse'][-1]:.4f} (SGHMC), {named['sgnht_mean']['rmse'][-1]:.4f} "
        "(SGNHT) and "
        f"{named['gibbs_mean']['rmse'][-1]:.4f} (Gibbs).")
    return ("confirmed"
            if sgld < RISE < sgd and settled <= len(draws) / 2 else "not confirmed"), said
