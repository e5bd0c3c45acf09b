#!/usr/bin/env python3
"""Who pays for privacy: the test error by how often an item was rated and by how much a user rated,
with and without privacy.

    bench/who_pays.py build/dpmf RATINGS CATALOGUE [--format movielens] [--range 1:5] [--epsilons
    1,5,20] [--splits 3]

A tenth of RATINGS is held out (dpmf split, seeds 1 to --splits). Fifths of the test ratings, as
even as equal counts allow: by the training ratings of their item, and by those of their user, least
first. Compared are damped averages (dpmf train without vectors), `dpmf train`, and a release at
each epsilon, one a split, with everyone's vector folded in at home from their training ratings.
Prints tables in Markdown: the RMSE of each fifth, a mean over the splits, and by how many percent
it is above that of `dpmf train`.
"""
import argparse
import collections
import csv
import math
import os
import statistics
import subprocess
import tempfile

FIFTHS = 5


def run(*command):
    return subprocess.run([str(x) for x in command], check=True, capture_output=True,
                          text=True).stdout


def rows(dpmf, store):
    return [(row[0], row[1], float(row[2]))
            for row in csv.reader(run(dpmf, "export", store, "--csv", "-").splitlines()[1:])]


def predictions(dpmf, model, folder, is_release):
    history = ["--history", f"{folder}/train.dpr"] if is_release else []
    found = csv.DictReader(
        run(dpmf, "predict", model, f"{folder}/test.dpr", *history, "-q").splitlines())
    return {(row["user"], row["item"]): float(row["prediction"]) for row in found}


def models(dpmf, options, folder):
    """(name, file, whether it is a release) of everything that is compared."""
    train, model = f"{folder}/train.dpr", f"{folder}/model"
    run(dpmf, "train", train, "-k", 1, "--epochs", 1, "--learning-rate", 1e-9, "--reg", 1,
        "--replace", "-o", model, "-q")  # the last one there may be a release
    yield "averages", model, False
    run(dpmf, "train", train, "-o", model, "-q")
    yield "not private", model, False
    for epsilon in options.epsilons.split(","):
        run(dpmf, "train", train,
            "--replace", "--epsilon", epsilon, f"--rating-range={options.range}",
            "--catalogue", options.catalogue, "--ledger", f"{folder}/ledger", "-o", model, "-q")
        yield f"epsilon {epsilon}", model, True


def fifths(test, count):
    """The fifth of each test rating, by a count that all ratings of one item or user share, and
    each fifth's least and greatest count."""
    order = sorted(range(len(test)), key=lambda r: count(test[r]))
    place = [0] * len(test)
    fifth = ends = 0
    bounds = []
    for at, r in enumerate(order):
        if (at >= ends * len(test) / FIFTHS and
            (at == 0 or count(test[r]) != count(test[order[at - 1]]))):
            fifth = len(bounds)
            bounds.append([count(test[r]), 0])
            ends = int(at * FIFTHS / len(test)) + 1
        place[r] = fifth
        bounds[fifth][1] = count(test[r])
    return place, bounds


def measure(dpmf, options, folder, seed, found, bounds):
    run(dpmf, "split", "-q", f"{folder}/all.dpr", "--train", f"{folder}/train.dpr", "--test",
        f"{folder}/test.dpr", "--seed", seed)
    train, test = rows(dpmf, f"{folder}/train.dpr"), rows(dpmf, f"{folder}/test.dpr")
    counts = collections.Counter(row[1] for row in train), collections.Counter(row[0]
                                                                               for row in train)
    groups = {
        "item": fifths(test, lambda row: counts[0][row[1]]),
        "user": fifths(test, lambda row: counts[1][row[0]])
    }
    for name, model, is_release in models(dpmf, options, folder):
        predicted = predictions(dpmf, model, folder, is_release)
        for side, (place, limits) in groups.items():
            squares, n = [0.0] * len(limits), [0] * len(limits)
            for (user, item, rating), fifth in zip(test, place):
                squares[fifth] += (predicted[user, item] - rating) ** 2
                n[fifth] += 1
            for fifth, limit in enumerate(limits):
                found[side, name][fifth].append(math.sqrt(squares[fifth] / n[fifth]))
                bounds[side][fifth] = limit if seed == 1 else bounds[side][fifth]


def show(found, bounds):
    for side in ("item", "user"):
        names = [name for s, name in found if s == side]
        print(f"\n| training ratings of the {side} | " + " | ".join(names) + " |\n|---" +
              "|---" * len(names) + "|")
        for fifth, (least, most) in sorted(bounds[side].items()):
            base = statistics.fmean(found[side, "not private"][fifth])
            means = [statistics.fmean(found[side, name][fifth]) for name in names]
            cells = [
                f"{m:.4f}" + (f" (+{100 * (m / base - 1):.1f} %)" if name.startswith("eps") else "")
                for name, m in zip(names, means)
            ]
            print(f"| {least:,} to {most:,} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dpmf", type=os.path.abspath)
    parser.add_argument("ratings")
    parser.add_argument("catalogue", type=os.path.abspath)
    parser.add_argument("--format", default="movielens")
    parser.add_argument("--range", default="1:5")
    parser.add_argument("--epsilons", default="1,5,20")
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    found, bounds = collections.defaultdict(
        lambda: collections.defaultdict(list)), collections.defaultdict(dict)
    with tempfile.TemporaryDirectory() as folder:
        run(options.dpmf, "import", options.ratings, "-o", f"{folder}/all.dpr", "-q", "--format",
            options.format, "--on-error", "skip")
        run(options.dpmf, "ledger", "init", "-q", f"{folder}/ledger")
        for seed in range(1, options.splits + 1):
            measure(options.dpmf, options, folder, seed, found, bounds)
    show(found, bounds)


if __name__ == "__main__":
    main()
