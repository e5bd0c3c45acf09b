#!/usr/bin/env python3
"""Compares lists of the client library with a dense solve in float64, sharing no code with it.

    dense_check.py RELEASE RATINGS LISTS

RATINGS has "user item rating" a line, LISTS "user item score" a line, best first, as client_lists prints
them. The release is read as any safetensors file: a length, JSON, and the tensors. Scores must agree to
1e-4, and the order of every list exactly. Prints how far off the worst score is."""

import json
import struct
import sys

import numpy


def read_release(path):
    with open(path, "rb") as file:
        data = file.read()
    (n,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + n])
    types = {"F32": "<f4", "I64": "<i8", "U8": "u1"}
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        part = numpy.frombuffer(data[8 + n + begin : 8 + n + end], dtype=types[entry["dtype"]])
        tensors[name] = part.reshape(entry["shape"])
    return metadata, tensors


def read_groups(path):
    groups = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            user, item, number = line.split()
            groups.setdefault(user, []).append((item, float(number)))
    return groups


def main():
    metadata, tensors = read_release(sys.argv[1])
    starts, text = tensors["item_id_offsets"], tensors["item_id_bytes"].tobytes()
    ids = [text[a:b].decode() for a, b in zip(starts[:-1], starts[1:])]
    numbers = {item: i for i, item in enumerate(ids)}
    factors = tensors["item_factors"].astype(numpy.float64)
    biases = tensors["item_biases"].astype(numpy.float64)
    offset = float(metadata["dpmf.offset"])
    k = factors.shape[1]
    penalty = numpy.diag([float(metadata["dpmf.bias_penalty"])] + [float(metadata["dpmf.factor_penalty"])] * k)
    rows = numpy.hstack([numpy.ones((len(ids), 1)), factors])

    worst, lists = 0.0, read_groups(sys.argv[3])
    ratings = read_groups(sys.argv[2])
    assert lists.keys() == ratings.keys() and lists, "not the lists of these users"
    for user, own in ratings.items():
        own = {numbers[item]: rating for item, rating in own if item in numbers}
        rated = numpy.array(list(own), dtype=int)
        x = rows[rated]
        y = numpy.array(list(own.values())) - offset - biases[rated]
        w = numpy.linalg.solve(x.T @ x + penalty, x.T @ y)
        scores = offset + biases + rows @ w
        order = numpy.lexsort((numpy.arange(len(ids)), -scores))[: len(lists[user])]
        found = [numbers[item] for item, _ in lists[user]]
        assert list(order) == found, f"user {user}: {found} and not {list(order)}"
        worst = max(worst, max(abs(scores[numbers[i]] - score) for i, score in lists[user]))
    assert worst < 1e-4, f"a score is {worst} off"
    print(f"{len(lists)} users, {len(ids)} items, k = {k}: the worst score is {worst:.2g} off")


main()
