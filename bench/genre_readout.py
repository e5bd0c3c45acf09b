"""How much of genres a release of ratings knows, and what that gives at the dial's middle.

    python3 bench/genre_readout.py DPMF MOVIELENS [DRAWS [EPSILON...]]

Releases of MovieLens 1M's ratings without features are made (noise from the operating system, in a
ledger of their own), and three models that are not private. Of each, two things. First the best
that a linear rule could know: genre by genre, a regression on the item vectors that is told the
genre of nine tenths of the 1,000 best known films, and picks ten of the rest, tenth by tenth, ten
in all; a person's six ratings say far less. Second what people get: six well-known films of the
genre at five stars, and how many of their first ten recommendations are of it, at the dial's
middle, by the release alone and with the years and kinds of the catalogue at home. Averages over
draws and over the genres of at least 30 of the 1,000; NumPy does the regressions.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {"F32": "<f4", "I64": "<i8", "U8": "u1"}
KNOWN, FOLDS, TEN, SIX, SHOWN = 1000, 10, 10, 6, "Sci-Fi"


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout


def read_genres(path):
    with open(path, encoding="latin-1") as file:
        rows = (line.rstrip("\n").split("::") for line in file)
        return {item: set(genres.split("|")) for item, _, genres in rows}


def read_tensors(path):
    """Of releases and of checkpoints: both are safetensors files."""
    with open(path, "rb") as file:
        data = file.read()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    return {
        name: np.frombuffer(data[begin + at["data_offsets"][0]:begin + at["data_offsets"][1]],
                            TYPES[at["dtype"]])
        for name, at in header.items() if name != "__metadata__"
    }


def read_items(path):
    """Ids, vectors in units of their deviation, and counts."""
    tensors = read_tensors(path)
    names, at = bytes(tensors["item_id_bytes"]), [int(x) for x in tensors["item_id_offsets"]]
    counts = np.array(tensors["item_counts"], float)
    ids = [names[a:b].decode() for a, b in zip(at, at[1:])]
    vectors = np.array(tensors["item_factors"], float).reshape(len(ids), -1)
    share = counts / counts.sum()
    vectors -= share @ vectors
    return ids, vectors / np.sqrt(share @ vectors**2), counts


def read_out(vectors, is_of):
    """How many of the ten that the regressions like best are of the genre."""
    fold = np.random.default_rng(0).integers(0, FOLDS, len(is_of))
    columns, score = np.c_[np.ones(len(is_of)), vectors], np.zeros(len(is_of))
    for f in range(FOLDS):
        told = fold != f
        weight = np.where(is_of[told], 0.5 / is_of[told].sum(), 0.5 / (~is_of[told]).sum())
        left = columns[told].T * weight
        penalty = 1e-3 * np.eye(columns.shape[1])
        rule = np.linalg.solve(left @ columns[told] + penalty, left @ np.where(is_of[told], 1, -1))
        score[~told] = columns[~told] @ rule
    return int(is_of[np.argsort(-score)[:TEN]].sum())


def recommended(dpmf, path, six, *facts):
    lines = run(dpmf, "recommend", path, "--ratings", ",".join(f"{item}:5" for item in six), "-n",
                str(TEN), *facts, "--json", "-q").splitlines()
    return [json.loads(line)["item"] for line in lines]


def measure(dpmf, path, movies, genres, coins):
    """By genre: of ten by the read-out, of ten recommended, and of ten recommended with the
    catalogue at home."""
    ids, vectors, counts = read_items(path)
    best = np.argsort(-counts)[:KNOWN]
    found = {}
    for genre in sorted(set().union(*genres.values())):
        is_of = np.array([genre in genres[ids[j]] for j in best])
        if is_of.sum() < 30:
            continue
        six = coins.sample([ids[j] for j in best[is_of]][:20], SIX)
        shown = [
            sum(genre in genres[item] for item in recommended(dpmf, path, six, *facts))
            for facts in ((), ("--catalogue", movies))
        ]
        found[genre] = read_out(vectors[best], is_of), *shown
    return found


def main():
    dpmf, folder = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    draws = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    movies = os.path.join(folder, "movies.dat")
    genres = read_genres(movies)
    print("| epsilon | all genres: read-out | recommended | with the catalogue "
          f"| {SHOWN}: read-out | recommended, by draw | with the catalogue |\n"
          "|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        run(dpmf, "import", os.path.join(folder, "ratings.dat.zst"), "--format", "movielens",
            "--on-error", "skip", "-o", "all.dpr", "-q")
        run(dpmf, "ledger", "init", "ledger")
        for epsilon in [*(sys.argv[4:] or ["2", "5", "10", "20"]), None]:
            results = []
            for draw in range(draws if epsilon else 3):
                private = ("--seed", str(draw + 1)) if not epsilon else (
                    "--epsilon", epsilon, "--rating-range", "1:5", "--catalogue", movies,
                    "--ledger", "ledger", "--population", f"{epsilon} {draw}")
                run(dpmf, "train", "all.dpr", *private, "--replace", "-o", "m.safetensors", "-q")
                results.append(measure(dpmf, "m.safetensors", movies, genres, random.Random(draw)))
            every = np.mean([list(found.values()) for found in results], axis=(0, 1))
            shown = np.array([found[SHOWN] for found in results])
            print(f"| {epsilon or 'not private'} "
                  f"| {every[0]:.1f} | {every[1]:.1f} | {every[2]:.1f} "
                  f"| {shown[:, 0].mean():.1f} | {', '.join(f'{n:.0f}' for n in shown[:, 1])} "
                  f"| {', '.join(f'{n:.0f}' for n in shown[:, 2])} |", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
