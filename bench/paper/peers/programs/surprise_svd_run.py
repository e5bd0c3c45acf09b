"""Trains Surprise's SVD on numbered text, and prints its speed and, once at the end, its test error
as JSON. Run by surprise_svd.py."""
import json
import sys
import time

from surprise import SVD, Dataset, Reader, accuracy

asked = json.loads(sys.argv[1])
reader = Reader(line_format="user item rating", sep=" ", rating_scale=(asked["low"], asked["high"]))
train = Dataset.load_from_file(asked["train"], reader).build_full_trainset()
model = SVD(n_factors=asked["k"], n_epochs=asked["epochs"], random_state=asked["seed"])
begun = time.perf_counter()
model.fit(train)
spent = time.perf_counter() - begun
found = {"updates_per_second": [train.n_ratings * asked["epochs"] / spent]}
if asked["test"]:
    pairs = [(u, i, float(r))
             for u, i, r in (line.split() for line in open(asked["test"], encoding="ascii"))]
    found["rmse_by_time"] = [[spent, accuracy.rmse(model.test(pairs), verbose=False)]]
print(json.dumps(found))
