#!/usr/bin/env python3
"""How fast ratings come from a frame of polars, against the same rows from CSV.

    bench/arrow_speed.py [ROWS [TURNS]]     20000000 and 5 by default

Needs the package dpmf and polars. Makes rows in the shape of MovieLens 20M (whole numbers as ids,
ten ratings, times), sorted by user and shuffled, in a temporary folder, and imports them in turns.
Prints the least processor time and the least wall time of either, in seconds, and their ratios.
"""

import os
import resource
import sys
import tempfile
import time

import dpmf
import numpy as np
import polars

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000_000
TURNS = int(sys.argv[2]) if len(sys.argv) > 2 else 5


def make(shuffled):
    rng = np.random.default_rng(1)
    n_users, n_items = max(100, 138_493 * ROWS // 20_000_000), 26_744
    user = np.minimum((n_users * rng.random(ROWS) ** 1.5).astype(np.int64), n_users - 1) + 1
    if not shuffled:
        user.sort()
    item = (n_items * rng.random(ROWS) ** 3).astype(np.int64) * 7919 % 131_262 + 1
    return polars.DataFrame({
        "userId": user,
        "movieId": item,
        "rating": rng.integers(1, 11, ROWS) / 2,
        "timestamp": rng.integers(789_652_009, 1_427_784_002, ROWS),
    })


def spent():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(ratings, store):
    before, began = spent(), time.perf_counter()
    dpmf.import_ratings(ratings, store)
    took = spent() - before, time.perf_counter() - began
    os.remove(store)
    return took


with tempfile.TemporaryDirectory() as folder:
    print("| rows | processor, CSV | polars | ratio | wall, CSV | polars | ratio |")
    print("|---|---|---|---|---|---|---|")
    for shuffled in False, True:
        frame = make(shuffled)
        path, store = os.path.join(folder, "ratings.csv"), os.path.join(folder, "ratings.dpr")
        frame.write_csv(path)
        turns = [(measure(path, store), measure(frame, store)) for _ in range(TURNS)]
        cells = []
        for kind in 0, 1:
            csv, arrow = (min(turn[way][kind] for turn in turns) for way in (0, 1))
            cells += [f"{csv:.2f}", f"{arrow:.2f}", f"{csv / arrow:.2f}"]
        print("|", " | ".join(["shuffled" if shuffled else "sorted by user", *cells]), "|",
              flush=True)
