"""Inside another program: ratings that are in memory already, progress on the way, and an end when
it is asked for.

    python3 06_in_memory.py model.safetensors
"""

import sys

import numpy as np

import dpmf

USERS, ITEMS, RATINGS, EPOCHS_ENOUGH = 400, 60, 8000, 4


def made_up():
    """What a database, a message queue or a form would have: everyone likes items with a number
    near their own."""
    i = np.arange(RATINGS)
    users, items = i % USERS, (i * 7 + i // USERS) % ITEMS
    return users, items, 5 - 4 * np.abs(users % ITEMS - items) / ITEMS


def main(output):
    seen = []

    def watch(progress):
        if progress.epoch:
            seen.append(progress.epoch)
            return len(seen) < EPOCHS_ENOUGH  # False ends training with what there is by then

    model = dpmf.Model(n_factors=8, deterministic=True, adapt=False, memory="64MiB",
                       progress=watch)
    model.fit(*made_up())
    model.save(output)
    print(f"{len(seen)} epochs, error on the ratings {seen[-1].train_rmse:.4f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: 06_in_memory.py MODEL")
    main(sys.argv[1])
