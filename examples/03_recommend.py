"""Recommending: the five best items for a user that the model was trained on, without those that
they have rated.

    python3 03_recommend.py model.safetensors most.dpr 42
"""

import sys

import dpmf


def main(path, ratings, user):
    model = dpmf.load(path, history=ratings, ids="str")
    best = model.recommend(user=user, n=5)
    for item, score in zip(best.items, best.scores):
        print(f"{item} {score:.4f}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: 03_recommend.py MODEL RATINGS USER")
    main(*sys.argv[1:])
