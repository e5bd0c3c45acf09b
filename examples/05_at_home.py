"""At home: a public release and ratings of one's own. Nothing leaves the process.

    python3 05_at_home.py release.safetensors 3 5 17 1 8 4

The numbers are items and ratings, in pairs. python/examples/movie_night.py has two people and a
choice to make.
"""

import sys

import dpmf


def main(path, *pairs):
    release = dpmf.load(path, ids="str")
    me = release.fold_in({item: float(rating) for item, rating in zip(pairs[::2], pairs[1::2])})
    best = me.recommend(n=5, exclude_seen=False)
    for item, score in zip(best.items, best.scores):
        print(f"{item} {score:.4f}")


if __name__ == "__main__":
    if len(sys.argv) < 2 or len(sys.argv) % 2:
        sys.exit("usage: 05_at_home.py RELEASE [ITEM RATING]...")
    main(*sys.argv[1:])
