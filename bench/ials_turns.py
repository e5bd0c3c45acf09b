"""The two halves of bench_ials.sh, in its directory: `speed` and `best`, each with the path of
dpmf."""
import csv
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sparse
from implicit.cpu.als import AlternatingLeastSquares

THREADS = int(os.environ.get("THREADS", "2"))


def dpmf_epochs(binary, *arguments):
    """Seconds by the wall clock of each epoch, and the processor's of the whole."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = subprocess.run(
        [binary, "train", *arguments, "--goal", "ranking", "-j",
         str(THREADS), "--json", "-q"], check=True, capture_output=True,
        text=True).stdout.splitlines()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    at = ([0.0] + [
        json.loads(line)["seconds"] for line in lines if '"epoch"' in line and '"done"' not in line
    ])
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [b - a for a, b in zip(at, at[1:])], spent


def implicit_epochs(matrix, factors, iterations, watch=None, **options):
    walls, spent = [], [time.process_time()]
    model = AlternatingLeastSquares(factors=factors, iterations=iterations, num_threads=THREADS,
                                    random_state=1, calculate_training_loss=False, **options)

    def after(_, seconds, *rest):
        walls.append(seconds)
        spent.append(time.process_time())
        if watch:
            watch(model)
            spent[-1] = time.process_time()

    model.fit(matrix, show_progress=False, callback=after)
    return walls, [b - a for a, b in zip(spent, spent[1:])]


def speed(binary):
    table = np.loadtxt("netflix.csv", delimiter=",", skiprows=1, dtype=np.int64)
    likes = table[table[:, 2] >= 4]
    matrix = sparse.csr_matrix((np.ones(len(likes), np.float32), (likes[:, 0], likes[:, 1])))
    print(f"{matrix.nnz} likes, {THREADS} threads; seconds an iteration, the best of those seen")
    print("factors   dpmf wall  implicit wall  ratio   dpmf cpu  implicit cpu  ratio")
    for factors in map(int, os.environ.get("FACTORS", "64 128 256").split()):
        own, other, own_cpu, other_cpu = [], [], [], []
        for _ in range(int(os.environ.get("ROUNDS", "3"))):
            arguments = ("netflix.dpr", "--like", "4", "-k", str(factors), "-o",
                         "model.safetensors", "--epochs")
            few = dpmf_epochs(binary, *arguments, "1")
            many = dpmf_epochs(binary, *arguments, "5")
            own += few[0] + many[0]
            own_cpu.append((many[1] - few[1]) / 4)
            walls, cpus = implicit_epochs(matrix, factors, 4)
            other += walls
            other_cpu += cpus
        print(
            f"{factors:7}   {min(own):9.3f}  {min(other):13.3f}  {min(other) / min(own):5.2f}"
            f"   {min(own_cpu):8.3f}  {min(other_cpu):12.3f}  {min(other_cpu) / min(own_cpu):5.2f}",
            flush=True)


def write_split(path):
    """One event of each user among 99 others: train.csv and candidates.csv; the same as arrays."""
    random = np.random.default_rng(17)
    by_user = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            by_user.setdefault(row["user"], []).append(row["item"])
    items = sorted({item for some in by_user.values() for item in some})
    rows = []
    with open("train.csv", "w") as train, open("candidates.csv", "w") as held:
        train.write("user,item,rating\n")
        held.write("user,item," + ",".join(f"n{i}" for i in range(99)) + "\n")
        for user, own in by_user.items():
            chosen = own[random.integers(len(own))] if len(own) > 1 else None
            for item in own:
                if item != chosen:
                    train.write(f"{user},{item},1\n")
            if chosen is None:
                continue
            others, known = [], set(own)
            while len(others) < 99:
                item = items[random.integers(len(items))]
                if item not in known:
                    known.add(item)
                    others.append(item)
            rows.append((user, [chosen, *others]))
            held.write(",".join([user, chosen, *others]) + "\n")
    return by_user, items, rows


def best(binary):
    by_user, items, rows = write_split("ratings.csv")
    subprocess.run([binary, "import", "-q", "train.csv", "-o", "train.dpr"], check=True)
    places = {item: i for i, item in enumerate(items)}
    users = {user: i for i, user in enumerate(by_user)}
    held = {user: candidates[0] for user, candidates in rows}
    pairs = [(users[u], places[i]) for u, own in by_user.items() for i in own if held.get(u) != i]
    at = np.array(pairs)
    matrix = sparse.csr_matrix((np.ones(len(at), np.float32), (at[:, 0], at[:, 1])),
                               (len(users), len(items)))
    who = np.array([users[user] for user, _ in rows])
    which = np.array([[places[item] for item in candidates] for _, candidates in rows])

    def hits(model):
        scores = np.einsum("uk,unk->un", model.user_factors[who], model.item_factors[which])
        return float(np.mean((scores[:, 1:] >= scores[:, :1]).sum(1) < 10))

    record = None
    for factors in (64, 128):
        for regularization in (0.01, 1.0, 10.0):
            for alpha in (1.0, 5.0):
                found = []
                walls, _ = implicit_epochs(matrix, factors, 15,
                                           lambda model: found.append(hits(model)),
                                           regularization=regularization, alpha=alpha)
                top = int(np.argmax(found))
                if record is None or found[top] > record[0]:
                    record = (found[top], sum(walls[:top + 1]), factors, regularization, alpha,
                              top + 1)
    print(
        f"implicit: HR@10 {record[0]:.4f} after {record[1]:.2f} s (factors {record[2]}, "
        f"regularization {record[3]}, "
        f"alpha {record[4]}, {record[5]} iterations; the best of 12 settings)")
    reached, top = None, (0, 0, 0)
    for epochs in (2, 3, 4, 6, 8, 12, 16):
        seconds = sum(
            dpmf_epochs(binary, "train.dpr", "--epochs", str(epochs), "-o", "model.safetensors")[0])
        out = subprocess.run([
            binary, "evaluate", "model.safetensors", "--candidates", "candidates.csv", "--json",
            "-q"
        ], check=True, capture_output=True, text=True).stdout
        rate = json.loads(out)["hr"]
        if reached is None and rate >= record[0]:
            reached = (rate, seconds, epochs)
        top = max(top, (rate, seconds, epochs))
    print(f"dpmf, as it is by default: HR@10 {top[0]:.4f} after {top[1]:.2f} s ({top[2]} epochs)")
    if reached:
        print(
            f"dpmf reaches implicit's best after {reached[1]:.2f} s ({reached[2]} epochs): "
            f"{record[1] / reached[1]:.2f} x"
        )


if __name__ == "__main__":
    {"speed": speed, "best": best}[sys.argv[1]](sys.argv[2])
