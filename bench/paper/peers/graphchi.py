"""GraphChi's collaborative filtering toolkit, by its sgd program: the paper's main comparison.

It shards its input beside it at the first run and keeps the shards. It prints a line when an
iteration is done, with its own clock and both errors; times are the differences of that clock.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from peers import Peer
from peers.rating_text import numbered
from work import Failure, sha256_of_file

NAME = "GraphChi"
HOW = (
    "GRAPHCHI=PATH/sgd of its collaborative filtering toolkit; GRAPHCHI_BUILD tells how it was "
    "built"
)
SHAPES = ("netflix", "yahoo", "movielens")
HAS_ERROR = True
LINE = re.compile(r"^\s*([0-9.e+]+)\) Iteration:\s*(\d+) Training RMSE:\s*([0-9.e+-]+)"
                  r"(?:\s+Validation\s+RMSE:\s*([0-9.e+-]+))?")


def find(work):
    program = work.env.get("GRAPHCHI")
    if not program:
        return None
    if not os.access(program, os.X_OK):
        raise Failure(f"GRAPHCHI={program}: there is no such program")
    program = os.path.realpath(program)
    digest = sha256_of_file(program)
    flags = work.env.get("GRAPHCHI_BUILD", "build flags not told (GRAPHCHI_BUILD)")
    return Peer(sys.modules[__name__], f"sgd, {flags}, sha256 {digest[:16]}", digest,
                program=program, root=root_of(program))


def root_of(program):
    """The folder above it that has conf/graphchi.cnf, without which GraphChi does not start."""
    for folder in pathlib.Path(program).parents:
        if (folder / "conf" / "graphchi.cnf").exists():
            return str(folder)
    raise Failure(f"GRAPHCHI={program}: no folder above it has conf/graphchi.cnf")


def matrix_market(source, target, users, items, ratings):
    """The numbered text in MatrixMarket's form, counted from 1."""
    if os.path.exists(target):
        return
    part = target + ".part"
    with open(part, "w", encoding="ascii") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n{users} {items} {ratings}\n")
        out.flush()
        subprocess.run(["awk", "{ print $1 + 1, $2 + 1, $3 }", source], stdout=out, check=True)
    os.replace(part, target)


def convert(work, _peer, dataset):
    files = numbered(work, dataset)
    folder = dataset.folder / "graphchi"
    folder.mkdir(exist_ok=True)
    train, test = str(folder / "train.mm"), str(folder / "test.mm")
    matrix_market(files["train"], train, files["users"], files["items"], files["ratings"])
    matrix_market(files["test"], test, files["users"], files["items"], files["test_ratings"])
    low, high = dataset.range.split(":")
    return {**files, "train": train, "test": test, "low": low, "high": high}


def memory_needed(files, k):
    return 8 * k * (files["users"] + files["items"]) + 24 * files["ratings"]


def run_with_defaults(work, peer, files, threads):
    """Its defaults: 20 factors, 6 iterations. Shards of an earlier run are removed: making them is
    part of the way."""
    for path in pathlib.Path(files["train"]).parent.glob("*.mm*"):
        if not path.name.endswith(".mm"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    errors = []

    def on_line(_seconds, line):
        if (found := LINE.match(line)) and found[4]:
            errors.append(float(found[4]))

    seconds = work.run([
        peer.program, f"--training={files['train']}", f"--validation={files['test']}",
        f"--minval={files['low']}", f"--maxval={files['high']}", "--quiet=1", "execthreads", threads
    ], on_line=on_line, env={"GRAPHCHI_ROOT": peer.root}).seconds
    if not errors:
        raise Failure("GraphChi printed no validation error")
    return {"seconds": seconds, "rmse": errors[-1]}


def run(work, peer, files, k, epochs, threads, validate):
    marks = []

    def on_line(_seconds, line):
        if found := LINE.match(line):
            marks.append((float(found[1]), found[4]))
        return len(marks) == epochs + 1

    # The paper's step size and decay for it are not told: GraphChi's examples, with the paper's
    # penalty.
    work.run([
        peer.program, f"--training={files['train']}", f"--validation={files['test']}", f"--D={k}",
        f"--max_iter={epochs + 1}", "--sgd_gamma=0.02", "--sgd_lambda=0.005",
        f"--minval={files['low']}", f"--maxval={files['high']}", "--allow_zeros=1", "--quiet=1",
        "execthreads", threads
    ], on_line=on_line, env={"GRAPHCHI_ROOT": peer.root})
    if len(marks) != epochs + 1:
        raise Failure(f"GraphChi printed {len(marks)} iterations of {epochs + 1}")
    spent = [b[0] - a[0] for a, b in zip(marks, marks[1:])]
    found = {"updates_per_second": [files["ratings"] / max(s, 1e-6) for s in spent]}
    if validate:
        if any(error is None for _, error in marks):
            raise Failure("GraphChi printed no validation error")
        # The first iteration took about as long as the others: its own time has the reading in it.
        first = sorted(spent)[len(spent) // 2]
        found["rmse_by_time"] = [[first + at - marks[0][0], float(error)]
                                 for at, error in marks[:epochs]]
    return found
