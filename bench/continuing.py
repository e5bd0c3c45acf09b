#!/usr/bin/env python3
"""How far a continued model is from one trained anew: the figures of docs/continuing.md.

    bench/continuing.py DPMF ML-100K/u.data ML-1M/ratings.dat [SEED [TURNS]]

Of each set a tenth is held back for measuring: of MovieLens 100K the latest ratings, of MovieLens
1M at random. The rest comes in ten slices, by time or at random. One model is trained on the first
slice and continued with each of the others; at each step another is trained anew on all slices so
far, and a third is the model trained anew on all but the last slice, continued once. Training anew
is `dpmf train` with nothing else said, so that it adapts to the ratings. Prints a Markdown table of
each set for models that predict ratings, by RMSE, and one for models that rank, of the same ratings
as events, by NDCG@10, with a fourth that had the old events as its --history. Seconds are processor
time of the whole command, from a store to a written model, the least of TURNS (3) of all in turns.
A file that ends in .zst is read with zstd.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SLICES = 10


def read_ratings(path, separator):
    if path.endswith(".zst"):
        text = subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout
    else:
        text = pathlib.Path(path).read_bytes()
    rows = []
    for line in text.decode("latin-1").splitlines():
        user, item, rating, when = line.split(separator)[:4]
        rows.append((user, item, rating, int(when)))
    return rows


def processor_seconds(command):
    """Runs a command. @return its processor time, of all threads"""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


class Bench:
    """The ten slices of a set, in a folder."""

    def __init__(self, dpmf, folder, turns, ranks):
        self.dpmf = dpmf
        self.folder = pathlib.Path(folder)
        self.turns = turns
        self.ranks = ranks

    def path(self, name):
        return str(self.folder / name)

    def train(self, ratings, output, *options):
        return processor_seconds([self.dpmf, "train", self.path(ratings), "-o",
                                  self.path(output), "-q", *options])

    def measure(self, model):
        ranking = ["--ranking", "-n", "10", "--history", self.path("all.dpr")] * self.ranks
        out = subprocess.run([self.dpmf, "evaluate", self.path(model), self.path("test.dpr"),
                              "--json", "-q", *ranking], check=True, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True).stdout
        found = json.loads(out)
        return found["ndcg"] if self.ranks else found["rmse"]

    def store(self, name, rows):
        with open(self.path("rows.csv"), "w", encoding="utf-8") as file:
            file.write("user,item,rating\n")
            file.writelines(f"{user},{item},{rating}\n" for user, item, rating, _ in rows)
        subprocess.run([self.dpmf, "import", self.path("rows.csv"), "-o", self.path(name), "-q",
                        *["--like", "any"] * self.ranks], check=True)

    def behind(self, found, anew):
        return f"{100 * (1 - found / anew if self.ranks else found / anew - 1):+.2f} %"

    def run(self, title, rows):
        n_test = len(rows) // 10
        held, rest = rows[len(rows) - n_test:], rows[:len(rows) - n_test]
        slices = [rest[len(rest) * i // SLICES:len(rest) * (i + 1) // SLICES]
                  for i in range(SLICES)]
        self.store("test.dpr", held)
        print(f"\n{title}, {'NDCG@10' if self.ranks else 'RMSE'}\n\n| slices | anew | seconds | "
              "continued from the slices before | behind | seconds | share "
              "| continued from the first | behind |"
              f"{' with the history | behind | seconds | share |' * self.ranks}"
              f"\n|---|---|---|---|---|---|---|---|---|{'---|---|---|---|' * self.ranks}")
        for i in range(1, SLICES + 1):
            self.store("all.dpr", [row for part in slices[:i] for row in part])
            if i > 1:
                self.store("old.dpr", [row for part in slices[:i - 1] for row in part])
            self.store("new.dpr", slices[i - 1])
            seconds, own, again = [], [], []
            for _ in range(self.turns):
                seconds.append(self.train("all.dpr", f"anew{i}.safetensors"))
                if i > 1:
                    own.append(self.train("new.dpr", "once.safetensors", "--continue",
                                          self.path(f"anew{i - 1}.safetensors")))
                if i > 1 and self.ranks:
                    again.append(self.train("new.dpr", "again.safetensors", "--continue",
                                            self.path(f"anew{i - 1}.safetensors"), "--history",
                                            self.path("old.dpr")))
            anew = self.measure(f"anew{i}.safetensors")
            if i == 1:
                (self.folder / "chain.safetensors").write_bytes(
                    (self.folder / "anew1.safetensors").read_bytes())
                print(f"| 1 | {anew:.4f} | {min(seconds):.2f} | | | | | | |"
                      f"{' | | | |' * self.ranks}")
                continue
            self.train("new.dpr", "chain.safetensors", "--continue", self.path("chain.safetensors"))
            once, chain = self.measure("once.safetensors"), self.measure("chain.safetensors")
            more = ""
            if self.ranks:
                found = self.measure("again.safetensors")
                more = (f" {found:.4f} | {self.behind(found, anew)} | {min(again):.3f} "
                        f"| {min(again) / min(seconds):.2f} |")
            print(f"| {i} | {anew:.4f} | {min(seconds):.2f} | {once:.4f} "
                  f"| {self.behind(once, anew)} | {min(own):.3f} "
                  f"| {min(own) / min(seconds):.2f} | {chain:.4f} "
                  f"| {self.behind(chain, anew)} |{more}", flush=True)


def main():
    dpmf, small, large = sys.argv[1:4]
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    turns = int(sys.argv[5]) if len(sys.argv) > 5 else 3
    by_time = sorted(read_ratings(small, "\t"), key=lambda row: row[3])
    at_random = read_ratings(large, "::")
    random.Random(seed).shuffle(at_random)
    for ranks in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(dpmf, folder, turns, ranks)
            bench.run("MovieLens 100K by time", by_time)
            bench.run(f"MovieLens 1M at random, seed {seed}", at_random)


main()
