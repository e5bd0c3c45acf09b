#!/usr/bin/env python3
"""How far a continued model is from one trained anew: the figures of docs/continuing.md.

    bench/continuing.py DPMF ML-100K/u.data ML-1M/ratings.dat [SEED]

Of each set a tenth is held back for measuring: of MovieLens 100K the latest ratings, of MovieLens
1M at random. The rest comes in ten slices, by time or at random. One model is trained on the first
slice and continued with each of the others; at each step another is trained anew on all slices so
far, and a third is the model trained anew on all but the last slice, continued once. Training anew
is with fixed settings (--no-adapt). Prints a Markdown table for each: RMSE, and the seconds of the
whole command.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

SLICES = 10


def read_ratings(path, separator):
    rows = []
    with open(path, encoding="latin-1") as file:
        for line in file:
            user, item, rating, when = line.rstrip("\n").split(separator)[:4]
            rows.append((user, item, rating, int(when)))
    return rows


def write_ratings(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("user,item,rating\n")
        file.writelines(f"{user},{item},{rating}\n" for user, item, rating, _ in rows)


class Bench:
    def __init__(self, dpmf, folder):
        self.dpmf = dpmf
        self.folder = pathlib.Path(folder)

    def path(self, name):
        return str(self.folder / name)

    def train(self, ratings, output, *options):
        begun = time.perf_counter()
        subprocess.run([self.dpmf, "train", self.path(ratings), "-o", self.path(output), "-q",
                        *options], check=True)
        return time.perf_counter() - begun

    def error(self, model):
        out = subprocess.run([self.dpmf, "evaluate", self.path(model), self.path("test.csv"),
                              "--json", "-q"], check=True, capture_output=True, text=True).stdout
        return json.loads(out)["rmse"]

    def store(self, name, rows):
        write_ratings(self.path("rows.csv"), rows)
        subprocess.run([self.dpmf, "import", self.path("rows.csv"), "-o", self.path(name), "-q"],
                       check=True)

    def run(self, title, rows, n_test):
        held, rest = rows[len(rows) - n_test:], rows[:len(rows) - n_test]
        slices = [rest[len(rest) * i // SLICES:len(rest) * (i + 1) // SLICES]
                  for i in range(SLICES)]
        write_ratings(self.path("test.csv"), held)
        print(f"\n{title}\n\n| slices | anew | seconds | continued from the slices before | behind "
              "| seconds | share | continued from the first | behind |\n"
              "|---|---|---|---|---|---|---|---|---|")
        for i in range(1, SLICES + 1):
            self.store("all.dpr", [row for part in slices[:i] for row in part])
            self.store("new.dpr", slices[i - 1])
            seconds = self.train("all.dpr", f"anew{i}.safetensors", "--no-adapt")
            anew = self.error(f"anew{i}.safetensors")
            if i == 1:
                (self.folder / "chain.safetensors").write_bytes(
                    (self.folder / "anew1.safetensors").read_bytes())
                print(f"| 1 | {anew:.4f} | {seconds:.2f} | | | | | | |")
                continue
            own = self.train("new.dpr", "once.safetensors", "--continue",
                             self.path(f"anew{i - 1}.safetensors"))
            self.train("new.dpr", "chain.safetensors", "--continue", self.path("chain.safetensors"))
            once, chain = self.error("once.safetensors"), self.error("chain.safetensors")
            behind = [f"{100 * (found / anew - 1):+.2f} %" for found in (once, chain)]
            print(f"| {i} | {anew:.4f} | {seconds:.2f} | {once:.4f} | {behind[0]} | {own:.2f} "
                  f"| {own / seconds:.2f} | {chain:.4f} | {behind[1]} |", flush=True)


def main():
    dpmf, small, large = sys.argv[1:4]
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(dpmf, folder)
        rows = sorted(read_ratings(small, "\t"), key=lambda row: row[3])
        bench.run("MovieLens 100K by time", rows, len(rows) // 10)
        rows = read_ratings(large, "::")
        random.Random(seed).shuffle(rows)
        bench.run(f"MovieLens 1M at random, seed {seed}", rows, len(rows) // 10)


main()
