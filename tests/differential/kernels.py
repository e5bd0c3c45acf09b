"""Made-up ratings of many shapes, learnt from with the reference's inner loops and with all others
that the machine has: private releases must be the same to the last bit, and other models must
predict the same up to the rounding of floats.

    kernels.py DPMF [SETS [SEED]]

A set that differs is printed with its seed. The last line is "N passed, N failed[, N skipped]".
"""

import json
import os
import random
import subprocess
import sys
import tempfile

CLOSE = 2e-3  # of predictions on a scale from 1 to 5, after a few epochs of floats


def run(folder, *arguments):
    done = subprocess.run([DPMF, *arguments], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def published(folder, name):
    """What a release publishes: its numbers, and its statement but for the random name."""
    with open(os.path.join(folder, name), "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        head, numbers = json.loads(file.read(size)), file.read()
    statement = json.loads(head["__metadata__"]["dpmf.statement"])
    del statement["release_id"], head["__metadata__"]
    return head, statement, numbers


class Set:
    """One set of ratings, and what is made of it with some kernels."""

    def __init__(self, seed, folder):
        sizes = random.Random(seed)
        self.folder = folder
        self.factors = str(sizes.choice([1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 70]))
        self.solver = sizes.choice(["sgd", "gibbs"])
        self.epsilon = str(sizes.choice([0.5, 1, 5, 20]))
        users, items = sizes.randint(3, 300), sizes.randint(2, 120)
        ratings = max(users, items, int(users * items * sizes.uniform(0.05, 0.6)))
        self.name = f"{users} users, {items} items, {ratings} ratings, -k {self.factors}"
        run(folder, "synth", "-q", "--users", str(users), "--items", str(items), "--ratings",
            str(ratings), "--seed", str(seed), "--catalogue-out", "items.csv", "-o", "r.dpr",
            "--replace")

    def release(self, kernels):
        run(self.folder, "train", "-q", "r.dpr", "--epsilon", self.epsilon, "--delta", "1e-6",
            "--rating-range", "1:5", "--catalogue", "items.csv", "--insecure-noise-seed", "1",
            "--kernels", kernels, "-o", "m", "--replace")
        return published(self.folder, "m")

    def predictions(self, kernels):
        own = {"sgd": ["--no-adapt", "--lanes", "1"], "gibbs": []}[self.solver]
        run(self.folder, "train", "-q", "r.dpr", "--solver", self.solver, "-k", self.factors,
            "--deterministic", "--epochs", "3", "--kernels", kernels, "-o", "c.safetensors", *own)
        lines = run(self.folder, "predict", "-q", "c.safetensors", "pairs.csv").splitlines()
        return [float(line.rsplit(",", 1)[1]) for line in lines if line[-1].isdigit()]

    def write_pairs(self):
        text = run(self.folder, "export", "-q", "r.dpr", "--csv", "-").splitlines()
        with open(os.path.join(self.folder, "pairs.csv"), "w", encoding="utf-8") as file:
            file.writelines(line.rsplit(",", 1)[0] + "\n" for line in text[:500])

    def faults(self, others):
        self.write_pairs()
        release, wanted, faults = self.release("ref"), self.predictions("ref"), []
        if not wanted:
            faults.append("the reference predicts nothing")
        for kernels in others:
            if self.release(kernels) != release:
                faults.append(f"another release with {kernels}")
            found = self.predictions(kernels)
            worst = max(map(lambda a, b: abs(a - b), wanted, found), default=0)
            if len(found) != len(wanted) or not worst < CLOSE:
                faults.append(f"{self.solver} predicts otherwise with {kernels}, by {worst}")
        return faults


def main():
    sets = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    known = json.loads(run(".", "doctor", "--json"))["kernels"]
    others = [kernels["name"] for kernels in known
              if kernels["supported"] and kernels["name"] != "ref"]
    passed = failed = 0
    for seed in range(first, first + sets) if others else ():
        with tempfile.TemporaryDirectory() as folder:
            made = Set(seed, folder)
            faults = made.faults(others)
            passed, failed = passed + (not faults), failed + bool(faults)
            for fault in faults:
                print(f"FAILED: set {seed} ({made.name}): {fault}")
    print(f"{passed} passed, {failed} failed" + ("" if others else ", 1 skipped"))
    sys.exit(failed > 0)


DPMF = os.path.abspath(sys.argv[1])
main()
