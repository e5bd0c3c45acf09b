"""The metrics of `dpmf evaluate` from their definitions, in NumPy, out of dense matrices of scores;
compared with what dpmf prints.

    dense_metrics.py DPMF MODEL TRAIN.csv TEST.csv N

Prints "passed: NAME" or "FAILED: NAME: ..." a line each. The model is read by the specification of
its file alone.
"""
import csv
import json
import struct
import subprocess
import sys

import numpy as np

NAMES = ["recall", "recall_capped", "precision", "ndcg", "map", "mrr"]


def read_model(path):
    """Scores of all users and items in double, and the numbers of their ids."""
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    about = header.pop("__metadata__")
    types = {"F32": np.float32, "U8": np.uint8, "I64": np.int64, "U64": np.uint64}

    def tensor(name):
        entry = header[name]
        start, end = entry["data_offsets"]
        return np.frombuffer(data[start:end], types[entry["dtype"]]).reshape(entry["shape"])

    def ids(side):
        text, offsets = tensor(side + "_id_bytes").tobytes(), tensor(side + "_id_offsets")
        return {text[a:b].decode(): at for at, (a, b) in enumerate(zip(offsets, offsets[1:]))}

    users, items = (tensor(side + "_factors").astype(float) for side in ("user", "item"))
    scores = (users @ items.T + tensor("user_biases").astype(float)[:, None] +
              tensor("item_biases").astype(float))
    return scores + float(about.get("dpmf.offset", 0)), ids("user"), ids("item")


def matrix(path, users, items, shape):
    held = np.zeros(shape, bool)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["user"] in users and row["item"] in items:
                held[users[row["user"]], items[row["item"]]] = True
    return held


def judge(order, wanted, n):
    """Each user's metrics (users x names), those with nothing wanted being NaN. `order`: users x n
    items, -1 where there is none."""
    rows = np.arange(len(order))[:, None]
    hits = wanted[rows, order] & (order >= 0)
    places = np.arange(1, n + 1)
    relevant = wanted.sum(1).astype(float)
    relevant[relevant == 0] = np.nan
    most = np.minimum(relevant, n)
    ideal = np.concatenate([[np.nan], np.cumsum(1 / np.log2(places + 1))])
    found = hits.sum(1)
    first = np.where(hits.any(1), 1 / (hits.argmax(1) + 1.0), 0)
    return np.stack([
        found / relevant, found / most,
        np.where(np.isnan(relevant), np.nan, found / n),
        (hits / np.log2(places + 1)).sum(1) / ideal[np.nan_to_num(most).astype(int)],
        (hits * np.cumsum(hits, 1) / places).sum(1) / most,
        np.where(np.isnan(relevant), np.nan, first)
    ], 1)


def all_items(scores, seen, test, popularity, n):
    """What --ranking prints, for all items and by fifths of them."""
    n_items = scores.shape[1]
    wanted = test & ~seen
    ranked = wanted.any(1)
    scores = np.where(seen, -np.inf, scores)[ranked]
    order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    if order.shape[1] < n:
        order = np.pad(order, [(0, 0), (0, n - order.shape[1])], constant_values=-1)
    left = np.minimum((~seen[ranked]).sum(1), n)
    order[np.arange(n) >= left[:, None]] = -1
    wanted = wanted[ranked]

    fifth = np.zeros(n_items, int)
    fifth[np.lexsort((np.arange(n_items), -popularity))] = np.arange(n_items) * 5 // n_items
    parts = []
    for part in [None, 0, 1, 2, 3, 4]:
        inside = np.ones(n_items, bool) if part is None else fifth == part
        values = np.nanmean(judge(np.where(inside[order], order, -1), wanted & inside, n), 0)
        used = np.zeros(n_items, bool)
        used[order[order >= 0]] = True
        parts.append(dict(zip(NAMES, values), coverage=used[inside].mean(),
                          list_share=(inside[order] & (order >= 0)).sum() / (order >= 0).sum()))
    listed = (popularity[order] * (order >= 0)).sum(1) / left
    bias = listed.mean() / ((wanted * popularity).sum(1) / wanted.sum(1)).mean()
    return parts, bias


def candidates(scores, rows, n):
    places = np.array([
        1 + sum(scores[user, other] >= scores[user, wanted] for other in set(others) - {wanted})
        for user, wanted, others in rows
    ])
    near = places <= n
    return {
        "hr": near.mean(), "ndcg": (near / np.log2(places + 1)).mean(),
        "mrr": (near / places).mean()
    }


def compare(name, ours, theirs):
    for key, value in theirs.items():
        if abs(ours[key] - value) < 1e-9:
            print(f"passed: {name} {key}")
        else:
            print(f"FAILED: {name} {key}: {ours[key]} by dpmf, {value} by NumPy")


def main():
    dpmf, model, train, test, n = *sys.argv[1:5], int(sys.argv[5])
    scores, users, items = read_model(model)
    # Scores in double differ from dpmf's by rounding alone: for equal orders none may be that
    # close.
    seen, wanted = (matrix(path, users, items, scores.shape) for path in (train, test))

    def evaluate(*more):
        command = [dpmf, "evaluate", model, *more, "-n", str(n), "--by", "rating", "--json", "-q"]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    found = evaluate(test, "--ranking", "--history", train)
    parts, bias = all_items(scores, seen, wanted, seen.sum(0), n)
    whole = parts.pop(0)
    whole.pop("list_share")
    compare(f"n = {n}, all items,", found, dict(whole, popularity_bias=bias))
    for at, part in enumerate(parts):
        compare(f"n = {n}, fifth {at + 1},", found["by_popularity"][at], part)

    rng = np.random.default_rng(1)
    user_names, item_names = list(users), list(items)
    rows = [(user, rng.choice(np.flatnonzero(wanted[user])), rng.integers(0, len(items), 30))
            for user in np.flatnonzero(wanted.any(1))]
    with open("candidates.csv", "w") as file:
        print("user,item,negatives", file=file)
        for user, item, others in rows:
            print(user_names[user], item_names[item], *(item_names[other] for other in others),
                  sep=",", file=file)
    compare(f"n = {n}, candidates", evaluate("--candidates", "candidates.csv"),
            candidates(scores, rows, n))


main()
