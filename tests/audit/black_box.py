#!/usr/bin/env python3
"""A second auditor, which shares nothing with the first: it sees release files alone, made by the
program as anyone would make them.

    tests/audit/black_box.py DPMF [--runs N] [--epsilon E] [--claimed E] [--mechanism NAME] [--users
    N] [--items N]

Makes N releases of made-up ratings with one more person in them and N without, with real noise and
a ledger of their own, and tells them apart by the files: how well the published numbers fit that
person's ratings. Half of the files choose the threshold, the other half are judged by it, and
Clopper and Pearson's bounds on both error rates give a lower bound on epsilon that holds for any
mechanism, with 99.99 %. Exits with 1 when it is above --claimed (default: --epsilon). Needs Python
alone.
"""
import argparse
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("dpmf")
parser.add_argument("--runs", type=int, default=200)
parser.add_argument("--epsilon", type=float, default=1.0)
parser.add_argument("--claimed", type=float)
parser.add_argument("--mechanism", default="auto")
parser.add_argument("--users", type=int, default=40)
parser.add_argument("--items", type=int, default=40)
options = parser.parse_args()
delta, level = 1e-5, 1e-4


def canary_rating(j):
    return 5 if j % 2 else 1


def write_ratings(path, with_canary):
    coins = random.Random(1)
    with open(path, "w") as file:
        file.write("user,item,rating\n")
        for u in range(options.users):
            for j in range(options.items):
                rating = coins.randint(1, 5)
                if coins.random() < 0.5:
                    file.write(f"u{u},i{j},{rating}\n")
        if with_canary:
            for j in range(options.items):
                file.write(f"canary,i{j},{canary_rating(j)}\n")


def numbers_of(path):
    """Item biases and factors, from the bytes of the file."""
    with open(path, "rb") as file:
        (n,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(n))
        data = file.read()

    def tensor(name):
        begin, end = header[name]["data_offsets"]
        return struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])

    return tensor("item_biases"), tensor("item_factors")


def score(path):
    """The person's ratings are by turns the best and the worst: how much do the items' biases, and
    their factors, go up and down with them?"""
    biases, factors = numbers_of(path)
    k = len(factors) // len(biases)
    sign = [canary_rating(j) - 3 for j in range(len(biases))]
    fit = sum(s * b for s, b in zip(sign, biases))
    for a in range(k):
        fit += abs(sum(s * factors[j * k + a] for j, s in enumerate(sign)))
    return fit


def make_scores(folder, with_canary, n):
    ratings, output = os.path.join(folder, "ratings.csv"), os.path.join(folder, "out.safetensors")
    write_ratings(ratings, with_canary)
    scores = []
    for _ in range(n):
        subprocess.run([
            options.dpmf, "train", "-q", ratings, "--format", "csv", "--replace", "--epsilon",
            str(options.epsilon), "--rating-range", "1:5", "--catalogue",
            os.path.join(folder, "items.csv"), "--mechanism", options.mechanism, "--ledger",
            os.path.join(folder, "ledger"), "-o", output
        ], check=True, capture_output=True)
        scores.append(score(output))
        os.unlink(output)
    return scores


def binomial_tail(n, p, k):
    """P(X >= k)."""
    if k <= 0:
        return 1.0
    logs = [
        math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p) +
        (n - i) * math.log1p(-p) for i in range(k, n + 1)
    ]
    top = max(logs)
    return math.exp(top) * sum(math.exp(x - top) for x in logs)


def least(n, k):
    """Clopper and Pearson's lower bound on a probability of which k of n were seen, at half the
    level."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if k == 0 or binomial_tail(n, middle, k) > level / 2:
            high = middle
        else:
            low = middle
    return low


def bound(true_rate_low, false_rate_high):
    return (math.log((true_rate_low - delta) /
                     false_rate_high) if true_rate_low > delta and false_rate_high > 0 else 0.0)


def epsilon_of(outs, ins, threshold):
    """Both ways of telling: what is above says "in", what is below says "out"."""
    n, m = len(outs), len(ins)
    caught, alarms = sum(x > threshold for x in ins), sum(x > threshold for x in outs)
    return max(0.0, bound(least(m, caught), 1 - least(n, n - alarms)),
               bound(least(n, n - alarms), 1 - least(m, caught)))


with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "items.csv"), "w") as file:
        file.write("item\n" + "".join(f"i{j}\n" for j in range(options.items)))
    subprocess.run([options.dpmf, "ledger", "init",
                    os.path.join(folder, "ledger")], check=True, capture_output=True)
    outs, ins = make_scores(folder, False, options.runs), make_scores(folder, True, options.runs)

half = options.runs // 2


def usefulness(t):
    """The bound that a threshold gives on the first half; where none gives one, how far it tells
    the two apart."""
    return (epsilon_of(outs[:half], ins[:half],
                       t), abs(sum(x > t for x in ins[:half]) - sum(x > t for x in outs[:half])))


threshold = max(outs[:half] + ins[:half], key=usefulness)
shown = epsilon_of(outs[half:], ins[half:], threshold)
claimed = options.epsilon if options.claimed is None else options.claimed
print(
    f"{options.runs} releases with and {options.runs} without, epsilon {options.epsilon}, "
    f"mechanism {options.mechanism}: "
    f"above the threshold {sum(x > threshold for x in ins[half:])} with and "
    f"{sum(x > threshold for x in outs[half:])} without, "
    f"of {options.runs - half} each")
print(f"epsilon is at least {shown:.3f}, with 99.99 % confidence; {claimed} is claimed: "
      f"{'ACCUSED' if shown > claimed else 'not accused'}")
sys.exit(shown > claimed)
