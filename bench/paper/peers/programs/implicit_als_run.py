"""Trains implicit's ALS on numbered text, and prints the speed of its iterations as JSON. Run by
implicit_als.py."""
import json
import os
import sys
import time

asked = json.loads(sys.argv[1])
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # its own threads are enough

import numpy  # noqa: E402
import scipy.sparse  # noqa: E402
from implicit.cpu.als import AlternatingLeastSquares  # noqa: E402

table = numpy.loadtxt(asked["train"], dtype=numpy.float32)
matrix = scipy.sparse.csr_matrix(
    (table[:, 2], (table[:, 0].astype(numpy.int32), table[:, 1].astype(numpy.int32))),
    shape=(asked["users"], asked["items"]))
marks = [time.perf_counter()]
model = AlternatingLeastSquares(factors=asked["k"], iterations=asked["epochs"] + 1,
                                num_threads=asked["threads"], random_state=asked["seed"],
                                calculate_training_loss=False)
model.fit(matrix, show_progress=False, callback=lambda *_: marks.append(time.perf_counter()))
spent = [b - a for a, b in zip(marks[1:], marks[2:])]  # the first has the setting up in it
print(json.dumps({"updates_per_second": [matrix.nnz / s for s in spent]}))
