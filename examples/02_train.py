"""Learning: a tenth of the ratings is held back, a model is fitted to the others, and what it
expects of those held back is compared with what they are.

    python3 02_train.py ratings.csv model.safetensors
"""

import sys

import numpy as np

import dpmf


def main(path, output):
    users, items, ratings = np.loadtxt(path, delimiter=",", skiprows=1, usecols=(0, 1, 2)).T
    users, items = users.astype(np.int64), items.astype(np.int64)
    held_back = np.random.default_rng(1).random(len(ratings)) < 0.1
    most = ~held_back
    # Of users and items without any other rating, averages are predicted, and a warning says so.
    held_back &= np.isin(users, users[most]) & np.isin(items, items[most])

    model = dpmf.Model(deterministic=True)
    model.fit(users[most], items[most], ratings[most])
    model.save(output)

    expected = model.predict(users[held_back], items[held_back])
    error = expected - ratings[held_back]
    print(f"RMSE {np.sqrt(np.mean(error ** 2)):.4f} and MAE {np.mean(np.abs(error)):.4f} "
          f"of {held_back.sum()} ratings held back")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: 02_train.py RATINGS MODEL")
    main(*sys.argv[1:])
