"""HR@10 of private releases of events on made-up sets of other shapes than MovieLens: what a
release has, and what noisy popularity has that spends the same budget alone.

    python3 bench/event_shapes.py DPMF [DRAWS [SHAPE...]]

One event of each of up to 3,000 users, chosen by a coin, is ranked among 99 items that the user has
no event for. Releases are real: noise from the operating system, in a ledger of their own. Prints
the table of docs/performance.md, and ends with status 1 where a release is more than 0.01 below
popularity.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

SHAPES = {
    "sparse": "--users 4700 --items 10500 --ratings 140000",
    "dense": "--users 10000 --items 1000 --ratings 2500000",
    "flat": "--users 36000 --items 10000 --ratings 24000000 --top-500 0.1 --rank 8 "
            "--average-rating 0.2 --item-spread 0.1 "
    "--taste-spread 1 --noise 0.3", "few": "--users 300 --items 1000 --ratings 30000",
    "books": None,  # write_books
}
EPSILONS = {"sparse": (1, 5, 20), "dense": (1, 5, 20), "flat": (1, 5, 20), "few": (1, 5, 20),
            "books": (1, 5, 20)}
USERS, NEGATIVES = 3000, 99


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout


def write_books(path, users=36000, items=10000, rank=32, strength=2.2, spread=0.2, events=60):
    """Events of people who choose item j with odds exp(u.v_j + offset_j), without replacement: 32
    factors, each weaker than the one before, and offsets that make items about equally popular
    whatever their vectors (lognormal with a deviation of `spread`). Needs NumPy."""
    import numpy as np
    coins = np.random.default_rng(19)
    sizes = strength * (1 + np.arange(rank)) ** -0.5
    vectors = (coins.standard_normal((items, rank)) * sizes).astype(np.float32)
    wanted = np.exp(coins.normal(0, spread, items))
    wanted /= wanted.sum()
    offsets = -(vectors ** 2).sum(1) / 2
    sample = coins.standard_normal((3000, rank)).astype(np.float32)
    for _ in range(8):
        odds = sample @ vectors.T + offsets
        odds = np.exp(odds - odds.max(1, keepdims=True))
        odds /= odds.sum(1, keepdims=True)
        offsets = offsets + np.log(wanted / odds.mean(0))
    with open(path, "w") as file:
        file.write("user,item\n")
        for first in range(0, users, 1000):
            tastes = coins.standard_normal((1000, rank)).astype(np.float32)
            waits = coins.standard_exponential((1000, items), dtype=np.float32) + 1e-30
            scores = tastes @ vectors.T + offsets.astype(np.float32) - np.log(waits)
            many = np.clip(coins.lognormal(np.log(events) - 0.32, 0.8, 1000), 5, 600).astype(int)
            best = np.argsort(-scores, axis=1)
            for i in range(1000):
                file.write("".join(f"{first + i},{item}\n" for item in best[i, :many[i]]))
    with open("items.csv", "w") as file:
        file.write("item\n" + "".join(f"{item}\n" for item in range(items)))


def split(coins):
    """Writes train.csv and held.csv from events.csv; returns the histories and the candidates."""
    events, items = {}, set()
    with open("events.csv", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for row in rows:
            events.setdefault(row[0], []).append(row[1])
            items.add(row[1])
    items = sorted(items)
    users = sorted(user for user, own in events.items() if len(own) > 1)
    held = {
        user: coins.choice(events[user]) for user in coins.sample(users, min(USERS, len(users)))
    }
    candidates = {}
    for user, item in held.items():
        known, others = set(events[user]), []
        while len(others) < NEGATIVES:
            other = coins.choice(items)
            if other not in known:
                known.add(other)
                others.append(other)
        candidates[user] = [item, *others]
        events[user].remove(item)
    with open("train.csv", "w") as file:
        file.write("user,item\n" + "".join(f"{user},{item}\n" for user, own in events.items()
                                           for item in own))
    with open("held.csv", "w") as file:
        file.write("user,item," + ",".join(f"n{i}" for i in range(NEGATIVES)) + "\n")
        file.write("".join(",".join([user, *own]) + "\n" for user, own in candidates.items()))
    return events, candidates


def popularity(events, candidates, mu, coins):
    """HR@10 of the sum of rows of norm 1 with the noise of the whole budget; mu None: without
    noise."""
    sums = {}
    for own in events.values():
        for item in own:
            sums[item] = sums.get(item, 0) + len(own) ** -0.5
    everything = {item for own in candidates.values() for item in own}
    noisy = {item: sums.get(item, 0) + (coins.gauss(0, 1 / mu) if mu else 0) for item in everything}
    hits = sum(
        sum(noisy[other] >= noisy[own[0]] for other in own[1:]) < 10 for own in candidates.values())
    return hits / len(candidates)


def hits(dpmf, model, *options):
    return json.loads(
        run(dpmf, "evaluate", model, "--candidates", "held.csv", "--history", "train.dpr", "--json",
            "-q", *options))["hr"]


def try_shape(dpmf, name, draws):
    coins = random.Random(name)
    if SHAPES[name]:
        run(dpmf, "synth", *SHAPES[name].split(), "--events", "-o", "events.dpr",
            "--catalogue-out", "items.csv", "-q", "--replace")
        run(dpmf, "export", "events.dpr", "--csv", "events.csv", "-q", "--replace")
    else:
        write_books("events.csv")
    events, candidates = split(coins)
    run(dpmf, "import", "train.csv", "--format", "csv", "--on-error", "skip", "-o", "train.dpr",
        "-q")
    run(dpmf, "train", "train.dpr", "-o", "model.safetensors", "-q")
    print(
        f"| {name} | {len(events)} users, {sum(map(len, events.values()))} events | not private | "
        f"{popularity(events, candidates, None, coins):.3f} | "
        f"{hits(dpmf, 'model.safetensors'):.3f} (ials) | |",
        flush=True)
    worst = 0
    for epsilon in EPSILONS[name]:
        mu = float(
            json.loads(run(dpmf, "privacy", "account", "--epsilon", str(epsilon), "--json"))["mu"])
        found = []
        for draw in range(draws):
            run(dpmf, "train", "train.dpr",
                "--replace", "--epsilon", str(epsilon), "--catalogue", "items.csv",
                "--ledger", "ledger", "--population", f"{name} {epsilon} {draw}", "-o",
                "release.safetensors", "-q")
            found.append(hits(dpmf, "release.safetensors"))
        alone = [popularity(events, candidates, mu, coins) for _ in range(draws)]
        lead = sum(found) / draws - sum(alone) / draws
        worst = min(worst, lead)
        print(
            f"| {name} | | {epsilon} | {sum(alone) / draws:.3f} | {sum(found) / draws:.3f} "
            f"({min(found):.3f} to {max(found):.3f}) "
            f"| {lead:+.3f} |", flush=True)
    return worst


def main():
    dpmf, draws = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10
    print("| shape | | epsilon | popularity alone | release | lead |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(dpmf, "ledger", "init", "ledger")
        worst = min(try_shape(dpmf, name, draws) for name in sys.argv[3:] or SHAPES)
        os.chdir("/")
    sys.exit(worst < -0.01)


if __name__ == "__main__":
    main()
