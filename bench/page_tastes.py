#!/usr/bin/python3
"""Whether first recommendations fit a taste: people made up of five titles of one genre or era.

    bench/page_tastes.py BINARY [MOVIELENS] [EPSILON] [SEED]

A release of MovieLens 1M's ratings is made, at epsilon 2, with genre and year as public features.
Ten tastes are drawn, without choosing among them, from the 18 genres and 5 eras of the catalogue.
The person of a taste gives five stars to five titles, drawn from the 30 that are of it, of no more
than one other genre, and best known by the release's own counts. SEED makes all the draws; it was
fixed before any of them was seen, and whoever tunes something should do so with other seeds. Of the
person's first ten recommendations, those that are of the taste are counted: with the dial in the
middle, and at "my taste". Beside it stands how many of all that people chose are of it, which is
what chance would give, and for how many of the ten the reason given is taste. No title is printed
or kept.

It wants 6 of 10 in the middle and 8 of 10 at "my taste", and exits with 1 if a taste has less.
MOVIELENS is the folder with ratings.dat.zst and movies.dat, ../shared/data/ml-1m by default.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TREE, "tests", "browser"))
import release_file  # noqa: E402

GENRES = [
    "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama",
    "Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War",
    "Western"
]
ERAS = ["before 1960", "the 1960s", "the 1970s", "the 1980s", "the 1990s"]
SEED, DRAWN, KNOWN = 2020, 10, 30
MIDDLE, TASTE = 6, 8


def read_movies(path):
    """Year and genres by id; the file is ISO-8859-1."""
    movies = {}
    with open(path, encoding="latin-1") as file:
        for line in file:
            item, title, genres = line.rstrip("\n").split("::")
            movies[item] = int(re.search(r"\((\d{4})\)\s*$", title)[1]), set(genres.split("|"))
    return movies


def fits(taste, movie):
    year, genres = movie
    if taste == "before 1960":
        return year < 1960
    if taste.startswith("the "):
        return year // 10 == int(taste[4:8]) // 10
    return taste in genres


def make_release(binary, folder, movielens, epsilon):
    def dpmf(*arguments):
        subprocess.run([binary, *arguments, "-q"], cwd=folder, check=True)

    ratings, movies = (os.path.join(movielens, name) for name in ["ratings.dat.zst", "movies.dat"])
    dpmf("ledger", "init", "ledger")
    dpmf("train", ratings, "--format", "movielens",
         "--replace", "--epsilon", epsilon, "--rating-range", "1:5",
         "--catalogue", movies, "--item-features", movies, "--ledger", "ledger", "-o",
         "release.safetensors")
    return os.path.join(folder, "release.safetensors")


def picks(binary, release, catalogue, five, dial):
    """The first ten, and whether taste is the reason of each; the page has the catalogue, too."""
    mine = ",".join(f"{item}:5" for item in five)
    done = subprocess.run([
        binary, "recommend", release, "--ratings", mine, "-n", "10", "--catalogue", catalogue,
        "--taste", str(dial), "--json", "-q"
    ], capture_output=True, text=True, check=True)
    items = [json.loads(line)["item"] for line in done.stdout.splitlines()]
    tastes = 0
    for item in items:
        told = subprocess.run([
            binary, "explain", release, "--ratings", mine, "--item", item, "--catalogue", catalogue,
            "--taste", str(dial), "--json", "-q"
        ], capture_output=True, text=True, check=True)
        tastes += json.loads(told.stdout.splitlines()[0]).get("reason") == "taste"
    return items, tastes


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    binary = os.path.abspath(sys.argv[1])
    movielens = os.path.abspath(sys.argv[2] if len(sys.argv) >
                                2 else os.path.join(TREE, "..", "shared", "data", "ml-1m"))
    folder = tempfile.mkdtemp(prefix="dpmf-tastes-")
    try:
        release = make_release(binary, folder, movielens, sys.argv[3] if len(sys.argv) > 3 else "2")
        return measure(binary, release, os.path.join(movielens, "movies.dat"),
                       int(sys.argv[4]) if len(sys.argv) > 4 else SEED)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def draw_tastes(seed, known, movies):
    """Tastes with the five titles of their people."""
    draw = random.Random(seed)
    for taste in draw.sample(GENRES + ERAS, DRAWN):
        yield taste, draw.sample([
            item for item in known if fits(taste, movies[item]) and len(movies[item][1]) <= 2
        ][:KNOWN], 5)


def measure(binary, release, catalogue, seed):
    movies = read_movies(catalogue)
    _, tensors = release_file.read_release(release)
    names, offsets, counts = tensors["item_id_bytes"].tobytes(
    ), tensors["item_id_offsets"], tensors["item_counts"]
    ids = [names[offsets[i]:offsets[i + 1]].decode() for i in range(len(offsets) - 1)]
    known = [ids[i] for i in (-counts).argsort(kind="stable")]
    short, reasons = [], 0
    print(
        f"Seed {seed}.\n\n| taste | of all choices | middle | my taste | reasons of taste "
        "|\n|---|---|---|---|---|"
    )
    for taste, five in draw_tastes(seed, known, movies):
        share = (sum(float(counts[i]) for i, item in enumerate(ids) if fits(taste, movies[item])) /
                 float(counts.sum()))
        results = [picks(binary, release, catalogue, five, dial) for dial in [0.5, 1]]
        found = [sum(fits(taste, movies[item]) for item in items) for items, _ in results]
        reasons += results[0][1]
        if found[0] < MIDDLE or found[1] < TASTE:
            short.append(taste)
        print(
            f"| {taste} | {100 * share:.0f} % | {found[0]} of 10 | {found[1]} of 10 | "
            f"{results[0][1]} of 10 |",
            flush=True)
    print(f"\nOf {DRAWN} tastes {DRAWN - len(short)} have {MIDDLE} and {TASTE}"
          + (f"; short: {', '.join(short)}" if short else "")
          + f". Reasons of taste in the middle: {reasons} of {10 * DRAWN}.")
    return 1 if short or reasons <= 5 * DRAWN else 0


if __name__ == "__main__":
    sys.exit(main())
