"""What the sections on samplers and on privacy measure with: private releases and their test
errors, the paper's "
  "sampler
as the paper ran it, and groups of users.

Fed by the sections 35 to 65. Measurements that several of them draw are kept once, under "privacy".
Every release is made in the run's temporary folder, looked at, and deleted; bench_paper_sgld writes
no model at all.
"""
import csv
import hashlib
import io
import json
import os
import statistics
import struct

from work import Failure, sha256_of_file

# "Privacy and Accuracy" in the paper, for Netflix: tau, kappa, k and B = tau (5 - 1 + kappa)^2; the
# temperatures, step sizes and decay that it names. It trimmed to 33 million ratings; what matters
# of eta_0 is eta_0 times their number.
TAU, KAPPA, FACTORS = 100, 1.0, 16
BOUND = TAU * (5 - 1 + KAPPA) ** 2
ZETA, COLDEST = 0.07, 0.0025
ETAS, DECAY, PAPER_RATINGS = (3.2e-8, 3e-9, 6e-10), 0.6, 33e6
DIVERGED = 5  # exit status of bench_paper_sgld

# How the paper's drift can be read. Its update is -eta grad F + N(0, zeta eta), so that exp(-2F /
# zeta) is stationary; the gradient that it writes out lacks the 2 that F's squares give, and then
# it is exp(-F / zeta).
READINGS = {"gradient": 2, "written": 1}


def shared(work, name, function, *args):
    """work.once for what several sections draw: measured, read and counted in the report once."""
    known = work.__dict__.setdefault("shared_values", {})
    if name not in known:
        section, work.section = work.section, "privacy"
        try:
            known[name] = work.once(name, function, *args)
        finally:
            work.section = section
    return known[name]


def mean_and_spread(values):
    """(mean, low, high) of a list that is not empty."""
    if not values:
        raise Failure("a mean of nothing: a measurement is missing")
    return statistics.fmean(values), min(values), max(values)


def point(x, values):
    """A point of a plot, with error bars where there are several values."""
    mean, low, high = mean_and_spread(values)
    return (x, mean, low, high) if len(values) > 1 else (x, mean)


def level(name, value, xs, series):
    """A figure that does not depend on x, as a line across the plot."""
    return series(name, [(min(xs), value), (max(xs), value)])


def need(data, *names):
    """The parts of a section's data; a section without its data says nothing."""
    missing = [name for name in names if not data.get(name)]
    if missing:
        raise Failure("this run has no " + ", ".join(missing))
    return [data[name] for name in names]


# ---- releases ------------------------------------------------------------------------------------


def delete(*paths):
    for path in paths:
        if os.path.exists(path):
            os.unlink(path)


def make_release(work, dataset, mechanism, epsilon, options):
    """A release in the temporary folder: its path, and what train said."""
    path = work.temporary("release.safetensors")
    ledger = work.temporary("ledger")
    delete(path, ledger, ledger + ".lock")
    work.run([work.dpmf, "ledger", "init", "-q", ledger])
    said = work.dpmf_json("train", dataset.train,
                          "--replace", "--epsilon", epsilon, "--mechanism", mechanism,
                          "--rating-range", dataset.range, "--catalogue", dataset.catalogue,
                          "--ledger", ledger, "-j", work.threads, "--accept-epsilon", *options,
                          "-o", path)
    return path, said[-1]


def test_error(work, dataset, release, test=None):
    """Everyone's vector is folded in at home from what they rated before."""
    return work.dpmf_json("evaluate", release, test or dataset.test, "--history",
                          dataset.train)[0]["rmse"]


def release_runs(work, dataset, mechanism, epsilon, draws, options):
    """Several releases of one kind, each with fresh noise: test errors, seconds, and the last one's
    statement."""
    found = {"mechanism": mechanism, "epsilon": epsilon, "rmse": [], "seconds": []}
    for _ in range(draws):
        path, said = make_release(work, dataset, mechanism, epsilon, options)
        found["rmse"].append(test_error(work, dataset, path))
        found["seconds"].append(said["seconds"])
        found["factors"] = said["factors"]
        statement = work.dpmf_json("privacy", "show", path)[0]
        delete(path)
    found["statement"] = {
        key: statement[key] for key in ("kind", "unit", "adjacency", "mechanism", "epsilon",
                                        "delta", "group", "conditional") if key in statement
    }
    return found


POSTERIOR_EPSILONS = {
    "tiny": (10, 250), "small": (1, 10, 50, 250, 1000), "medium": (1, 10, 50, 100, 250, 500, 1000),
    "full": (1, 10, 50, 100, 250, 500, 1000, 2000)
}
POSTERIOR_DRAWS = {"tiny": 1, "small": 1, "medium": 2, "full": 3}
POSTERIOR_OPTIONS = ("--kappa", KAPPA, "--max-ratings", TAU, "--chains", 1)


def posterior_run(work, dataset, epsilon):
    return shared(work, f"posterior.{epsilon:g}", release_runs, work, dataset, "posterior", epsilon,
                  POSTERIOR_DRAWS[work.scale], list(POSTERIOR_OPTIONS))


PROVEN_EPSILONS = {
    "tiny": (1, 10), "small": (0.5, 1, 2, 5, 10, 20), "medium": (0.5, 1, 2, 5, 10, 20),
    "full": (0.25, 0.5, 1, 2, 5, 10, 20)
}
PROVEN_DRAWS = {"tiny": 2, "small": 2, "medium": 5, "full": 10}


def proven_run(work, dataset, mechanism, epsilon):
    return shared(work, f"{mechanism}.{epsilon:g}", release_runs, work, dataset, mechanism, epsilon,
                  PROVEN_DRAWS[work.scale], [])


def open_run(work, dataset, options):
    """A model that is not private: its test error."""
    model = work.temporary("model.safetensors")
    delete(model)
    work.dpmf_json("train", dataset.train, "-j", work.threads, "--seed", work.seed, *options, "-o",
                   model)
    found = {"rmse": work.dpmf_json("evaluate", model, dataset.test)[0]["rmse"]}
    delete(model)
    return found


GIBBS_CHAINS = {"tiny": 1, "small": 4, "medium": 16, "full": 16}


def open_runs(work, dataset):
    gibbs = ["--solver", "gibbs", "--average", "--chains", GIBBS_CHAINS[work.scale]]
    return {"sgd": shared(work, "open.sgd", open_run, work, dataset, [])["rmse"],
            "gibbs": shared(work, "open.gibbs", open_run, work, dataset, gibbs)["rmse"]}


# ---- the paper's sampler -------------------------------------------------------------------------


def read_triples(text):
    rows = csv.reader(io.StringIO(text))
    header = next(rows)
    user, item, rating = (header.index(name) for name in ("user", "item", "rating"))
    return [(row[user], row[item], float(row[rating])) for row in rows]


def read_store(work, store):
    """All ratings of a store: (user, item, rating)."""
    return read_triples(work.run([work.dpmf, "export", store, "--csv", "-", "--quiet"]).stdout)


def triples(work, dataset):
    """Train and test as bench_paper_sgld reads them: numbers for ids, in the order of users."""
    paths = [os.fspath(dataset.folder / f"{name}.triples") for name in ("train", "test")]
    if all(os.path.exists(path) for path in paths):
        return paths
    users, items = {}, {}
    for store, path in zip((dataset.train, dataset.test), paths):
        rows = [(users.setdefault(user, len(users)), items.setdefault(item, len(items)), rating)
                for user, item, rating in read_store(work, store)]
        rows.sort(key=lambda row: row[0])
        with open(path + ".part", "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(b"".join(struct.pack("<iif", *row) for row in rows))
        os.replace(path + ".part", path)
    return paths


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def tool_key(work):
    """What a run of the program depends on beside its options."""
    return sha256_of_file(work.tool("bench_paper_sgld"))


def sampler_run(work, dataset, _tool, options):
    """One run of the paper's sampler; {"diverged": True} where it did."""
    train, test = triples(work, dataset)
    words = [f"{name}={value:g}" for name, value in options.items()]
    result = work.run([work.tool("bench_paper_sgld"), f"train={train}", f"test={test}", *words],
                      accept=(0, DIVERGED))
    if result.status == DIVERGED:
        return {"diverged": True}
    events = json_lines(result.stdout)
    return {
        **events[-1], "rmse_by_epoch": [[e["epoch"], e["rmse"]] for e in events
                                        if e["event"] == "epoch"]
    }


PRECISION_EPOCHS = {"tiny": 5, "small": 15, "medium": 40, "full": 60}
SAMPLER_EPOCHS = {"tiny": 6, "small": 30, "medium": 100, "full": 200}


def precisions(work, dataset):
    """lambda_r and Lambda by a non-private SGLD, as the paper has them: an unaccounted release of
    its own."""
    found = shared(
        work, "precisions", sampler_run, work, dataset, tool_key(work), {
            "k": FACTORS, "tau": TAU, "warm_up": PRECISION_EPOCHS[work.scale], "epochs": 1,
            "drift": 0.5, "gradient": 1, "time": 0.03, "seed": work.seed
        })
    return {
        "warm_up": 0, "noise_precision": found["noise_precision"],
        "user_precision": found["user_precision"], "item_precision": found["item_precision"]
    }


def as_the_paper_ran(work, dataset, epsilon, reading, zeta):
    """Algorithm 1's target by the paper's SGLD, at the largest of its step sizes that does not
    diverge."""
    fixed = precisions(work, dataset)
    for eta in ETAS:
        options = {
            **fixed, "k": FACTORS, "tau": TAU, "rho": 1, "loss": epsilon / (4 * BOUND), "drift": 1,
            "gradient": READINGS[reading], "zeta": zeta, "time": eta * PAPER_RATINGS,
            "gamma": DECAY, "user_order": 1, "epochs": SAMPLER_EPOCHS[work.scale], "seed": work.seed
        }
        found = shared(work, f"paper.{reading}.{zeta:g}.{epsilon:g}.{eta:g}", sampler_run, work,
                       dataset, tool_key(work), options)
        if not found.get("diverged"):
            return {
                "epsilon": epsilon, "reading": reading, "zeta": zeta, "eta": eta,
                "rmse": found["folded_rmse"], "own_rmse": found["rmse"],
                "outside": found["outside"], "ratings": found["ratings"]
            }
    raise Failure(
        f"the paper's sampler diverges at epsilon {epsilon} with every step size that the paper "
        "names"
    )


def truthful_epsilon(epsilon, reading, zeta):
    """What a draw from where that run is stationary would cost one user added or removed, if the
    loss were clamped.

    It draws from exp(-c F'), F' = sum w e^2 and c = READINGS * epsilon / (4 B zeta); with each
    user's part of F' in [0, B] that is c B.
    """
    return READINGS[reading] * epsilon / (4 * zeta)


PAPER_EPSILONS = {
    "tiny": (10, 250), "small": (10, 50, 250, 1000), "medium": (1, 10, 50, 100, 250, 500, 1000),
    "full": (1, 10, 50, 100, 250, 500, 1000)
}


# ---- groups of users -----------------------------------------------------------------------------


USERS = {}  # of a store, once read


def users_in_order(work, dataset):
    """The users that are learned from, in an order that has nothing to do with them."""
    key = json.dumps(dataset.key)
    if key not in USERS:
        USERS[key] = {user for user, _, _ in read_store(work, dataset.train)}
    return sorted(USERS[key],
                  key=lambda user: hashlib.sha256(f"{work.seed}/{user}".encode()).digest())


def write_table(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        os.fchmod(file.fileno(), 0o600)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
