#!/usr/bin/env python3
"""The figures of docs/features.md: training and placing with what is known about items.

    bench/features.py DPMF ratings.dat movies.dat

MovieLens 1M with genres and years, warm (a tenth of the ratings at random is held back) and cold (a
tenth of the items, with all their ratings); and a planted set, whose vectors follow from features
and chance. Prints the tables in Markdown. Three splits each.
"""
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

DPMF = [sys.argv[1]]
SEEDS = (3, 4, 5)
BANDS = ((1, 20), (20, 100), (100, 10**9))


def dpmf(*arguments):
    command = DPMF + [str(argument) for argument in arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("user,item,rating\n")
        file.writelines(f"{u},{i},{r}\n" for u, i, r in rows)


def rmse(model, test, *more):
    if not test.exists():
        return None
    return json.loads(dpmf("evaluate", model, test, "--json", "-q", *more))


def read_movielens(path):
    text = path.read_text(encoding="latin-1") if path.suffix != ".zst" else subprocess.run(
        ["zstd", "-dcq", path], check=True, capture_output=True).stdout.decode("latin-1")
    return [tuple(line.split("::")[:3]) for line in text.splitlines()]


def planted(seed, users=3000, items=800, n=90000, k=6):
    """Items of eight kinds and a length; half of the variance of their vectors is due to them."""
    r = random.Random(seed)
    gauss = lambda s: [r.gauss(0, s) for _ in range(k)]
    kinds = [gauss(math.sqrt(0.25)) for _ in range(8)]
    slope = gauss(math.sqrt(0.25))
    rows, vectors, features = set(), [], []
    for _ in range(items):
        kind, length = r.randrange(8), r.gauss(0, 1)
        features.append((f"kind{kind}", round(length, 3)))
        own = gauss(math.sqrt(0.5))
        vectors.append([a + b * length + c for a, b, c in zip(kinds[kind], slope, own)])
    people = [gauss(0.35) for _ in range(users)]
    while len(rows) < n:
        rows.add((r.randrange(users), min(int(r.expovariate(8) * items), items - 1)))
    ratings = []
    for u, i in sorted(rows):
        x = 3.5 + sum(a * b for a, b in zip(people[u], vectors[i])) + r.gauss(0, 0.6)
        ratings.append((f"u{u}", f"i{i}", round(min(max(x, 1), 5), 2)))
    rows = (f"i{i},{kind},{length}\n" for i, (kind, length) in enumerate(features))
    return ratings, "item,kind,length\n" + "".join(rows)


def splits(ratings, seed):
    r = random.Random(seed)
    warm = [[], []]
    for row in ratings:
        warm[r.random() < 0.1].append(row)
    items = sorted({row[1] for row in ratings})
    r.shuffle(items)
    away = set(items[:len(items) // 10])
    cold = [[row for row in ratings if (row[1] in away) == is_test] for is_test in (False, True)]
    return warm, cold


def measure(ratings, features, folder, seed):
    (warm, warm_test), (cold, cold_test) = splits(ratings, seed)
    found = {}
    count = {}
    for _, item, _ in warm:
        count[item] = count.get(item, 0) + 1
    write(folder / "warm.csv", warm)
    write(folder / "cold.csv", cold)
    write(folder / "cold_test.csv", cold_test)
    write(folder / "warm_test.csv", warm_test)
    for low, high in BANDS:
        rows = [row for row in warm_test if low <= count.get(row[1], 0) < high]
        (folder / f"{low}.csv").unlink(missing_ok=True)
        if rows:
            write(folder / f"{low}.csv", rows)
    model = folder / "m.safetensors"
    for name, more in (("plain", ()), ("features", ("--item-features", features))):
        dpmf("train", folder / "warm.csv", "-o", model, "-q", "--seed", seed, *more)
        found["warm", name] = rmse(model, folder / "warm_test.csv")["rmse"]
        for low, _ in BANDS:
            one = rmse(model, folder / f"{low}.csv")
            found[low, name] = one["rmse"] if one else math.nan
        dpmf("train", folder / "cold.csv", "-o", model, "-q", "--seed", seed, *more)
        found["averages", name] = rmse(model, folder / "cold_test.csv")["rmse"]
        placed = rmse(model, folder / "cold_test.csv", "--item-features", features)
        assert placed["cold"] == placed["n"]
        found["placed", name] = placed["cold_rmse"]
    return found


def show(title, ratings, features, folder):
    print(f"### {title}\n")
    print("| split | training | all warm | under 20 ratings | 20 to 99 | 100 and more | "
          "cold, from averages | cold, placed |\n|---|---|---|---|---|---|---|---|")
    for seed in SEEDS:
        found = measure(ratings(seed), features(seed), folder, seed)
        for name in ("plain", "features"):
            cells = [found[key, name] for key in ("warm", 1, 20, 100, "averages", "placed")]
            texts = ("" if math.isnan(x) else f"{x:.4f}" for x in cells)
            print(f"| {seed} | {name} | " + " | ".join(texts) + " |")
    print(flush=True)


def main():
    movielens = read_movielens(Path(sys.argv[2]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def planted_features(seed):
            (folder / "items.csv").write_text(planted(seed)[1])
            return folder / "items.csv"

        show("MovieLens 1M, genres and years", lambda _: movielens, lambda _: sys.argv[3], folder)
        show("Planted features", lambda seed: planted(seed)[0], planted_features, folder)


main()
