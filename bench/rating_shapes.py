#!/usr/bin/env python3
"""Makes synthetic ratings of shapes that are unlike MovieLens: one-sided scales, users with few
ratings, very many items.

    bench/rating_shapes.py NAME DIRECTORY     writes ratings.csv and catalogue.csv there
    bench/rating_shapes.py --list             every NAME, range and a description, a line each

Ratings follow a planted model: an offset, a bias for each user and item, the product of two short
vectors, and noise. How often an item is rated falls as a power of its rank; how much a user rates
is log-normal. The same name gives the same file everywhere.
"""
import bisect
import itertools
import math
import random
import sys

# users, items, ratings, lowest, highest, step (0: any number), offset, spreads of user biases, item
# biases and noise, rank, spread of the factors' product, exponent of popularity, and the spread of
# the logarithm of users' lengths
SHAPES = {
    "one-sided": (21000, 12600, 142000, 0, 10, 1, 7.3, 0.9, 0.7, 1.4, 4, 0.5, 0.9, 0.9),
    "many items": (22000, 296000, 900000, 1, 5, 1, 4.2, 0.45, 0.35, 0.95, 4, 0.2, 0.7, 1.2),
    "sparse": (53000, 10000, 600000, 1, 5, 1, 3.9, 0.4, 0.3, 0.8, 6, 0.3, 0.7, 0.6),
    "few items": (12000, 100, 430000, -10, 10, 0, 0.7, 2.0, 1.5, 4.0, 5, 2.2, 0.3, 0.5),
    "square": (10000, 1000, 200000, 1, 5, 1, 3.5, 0.4, 0.5, 0.9, 8, 0.4, 0.8, 0.6),
    "few users": (400, 1000, 40000, 1, 5, 1, 3.6, 0.4, 0.45, 0.85, 6, 0.45, 0.9, 0.7),
    "no taste": (6000, 3000, 300000, 1, 5, 1, 3.6, 0.45, 0.5, 0.9, 1, 0.0, 0.9, 0.8),
    "low end": (15000, 4000, 150000, 1, 5, 1, 1.8, 0.5, 0.4, 0.9, 4, 0.35, 0.8, 0.7),
}


def pick_items(cumulative, n, choose):
    """n different items, each by its popularity."""
    chosen = set()
    while len(chosen) < n:
        chosen.add(bisect.bisect_left(cumulative, choose.random() * cumulative[-1]))
    return chosen


def lengths(users, ratings, spread, most, choose):
    """How many ratings each user has: log-normal, about `ratings` in all."""
    raw = [math.exp(choose.gauss(0, spread)) for _ in range(users)]
    scale = ratings / sum(raw)
    return [min(max(1, round(x * scale)), most) for x in raw]


def make(name, write):
    (users, items, ratings, low, high, step, offset, user_spread, item_spread, noise, rank, taste,
     power, length) = SHAPES[name]
    choose = random.Random("dpmf " + name)
    popularity = list(itertools.accumulate((rank_of + 10) ** -power for rank_of in range(items)))
    biases = [choose.gauss(0, item_spread) for _ in range(items)]
    size = math.sqrt(taste / math.sqrt(rank)) if taste else 0
    vectors = [[choose.gauss(0, size) for _ in range(rank)] for _ in range(items)]
    for user, n in enumerate(lengths(users, ratings, length, items // 2, choose)):
        own = offset + choose.gauss(0, user_spread)
        vector = [choose.gauss(0, size) for _ in range(rank)]
        for item in sorted(pick_items(popularity, n, choose)):
            value = (own + biases[item] + sum(a * b for a, b in zip(vector, vectors[item])) +
                     choose.gauss(0, noise))
            value = min(max(value, low), high)
            write(f"u{user},i{item},{round(value / step) * step if step else round(value, 2)}\n")


def main():
    if sys.argv[1:] == ["--list"]:
        for name, shape in SHAPES.items():
            print(
                f"{name}\t{shape[3]}:{shape[4]}\t{shape[0]:,} users, {shape[1]:,} items, "
                f"{shape[2]:,} ratings"
            )
        return
    if len(sys.argv) != 3 or sys.argv[1] not in SHAPES:
        sys.exit(__doc__)
    name, directory = sys.argv[1:]
    with open(f"{directory}/ratings.csv", "w", encoding="ascii") as out:
        out.write("user,item,rating\n")
        make(name, out.write)
    with open(f"{directory}/catalogue.csv", "w", encoding="ascii") as out:
        out.write("item\n" + "".join(f"i{item}\n" for item in range(SHAPES[name][1])))


if __name__ == "__main__":
    main()
