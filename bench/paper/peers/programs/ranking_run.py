"""Trains a package's model of implicit feedback on numbered text with its own defaults (irspack's:
with the published parameters), and prints as JSON its seconds, and recall and NDCG of the ten best
items that a user has not rated. Run by in_python.py.
"""
import contextlib
import json
import os
import sys
import time

asked = json.loads(sys.argv[1])
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # their own threads are enough

import numpy  # noqa: E402
import scipy.sparse  # noqa: E402

TOP, CHUNK = 10, 1000


def events(path):
    table = numpy.loadtxt(path, dtype=numpy.float64, usecols=(0, 1), ndmin=2).astype(numpy.int64)
    return scipy.sparse.csr_matrix(
        (numpy.ones(len(table), numpy.float32), (table[:, 0], table[:, 1])),
        shape=(asked["users"], asked["items"]))


def implicit_vectors(matrix):
    from implicit.cpu.als import AlternatingLeastSquares
    model = AlternatingLeastSquares(num_threads=asked["threads"], random_state=asked["seed"])
    model.fit(matrix, show_progress=False)
    return model.user_factors, model.item_factors


def irspack_vectors(matrix):
    from irspack import IALSRecommender
    # The published parameters: by default it gives pairs without an event no weight at all.
    model = IALSRecommender(matrix, n_components=64, alpha0=0.3, reg=0.007,
                            n_threads=asked["threads"], random_seed=asked["seed"])
    model.learn()
    return model.get_user_embedding(), model.get_item_embedding()


def measured(users, items, history, wanted):
    discount = 1 / numpy.log2(numpy.arange(2, TOP + 2))
    recall, ndcg = [], []
    for first in range(0, len(users), CHUNK):
        scores = users[first:first + CHUNK] @ items.T
        scores[history[first:first + CHUNK].toarray() > 0] = -numpy.inf
        best = numpy.argsort(-scores, axis=1, kind="stable")[:, :TOP]
        for row, order in enumerate(best):
            own = set(wanted[first + row].indices) - set(history[first + row].indices)
            if own:
                hits = numpy.isin(order, list(own))
                recall.append(hits.sum() / len(own))
                ndcg.append(
                    (hits * discount[:len(order)]).sum() / discount[:min(TOP, len(own))].sum())
    return {"recall": float(numpy.mean(recall)), "ndcg": float(numpy.mean(ndcg))}


train, test = events(asked["train"]), events(asked["test"])
begun = time.perf_counter()
with contextlib.redirect_stdout(sys.stderr):  # where progress belongs
    vectors = {"implicit": implicit_vectors, "irspack": irspack_vectors}[asked["package"]](train)
seconds = time.perf_counter() - begun
print(json.dumps({"seconds": seconds, **measured(*vectors, train, test)}))
