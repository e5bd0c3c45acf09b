"""LIBMF, by mf-train: squared error, its own defaults for what an accuracy is compared by, biases
none.

It prints a line when an iteration is done. Times are from line to line, so reading the text and
writing the model, which take longer than many iterations, do not count; the first iteration, which
includes the reading, is left out.
"""
import os
import re
import shutil
import subprocess
import sys

from peers import Peer
from peers.rating_text import numbered
from work import Failure, sha256_of_file

NAME = "LIBMF"
HOW = "LIBMF=PATH/mf-train, or mf-train in the PATH; LIBMF_BUILD tells how it was built"
SHAPES = ("netflix", "yahoo", "movielens")
HAS_ERROR = True


def find(work):
    program = work.env.get("LIBMF") or shutil.which("mf-train")
    if not program:
        return None
    if not os.access(program, os.X_OK):
        raise Failure(f"LIBMF={program}: there is no such program")
    program = os.path.realpath(program)
    commit = subprocess.run(
        ["git", "-C", os.path.dirname(program), "rev-parse", "--short=7", "HEAD"],
        capture_output=True, text=True)
    version = f"commit {commit.stdout.strip()}" if commit.returncode == 0 else "commit unknown"
    flags = work.env.get("LIBMF_BUILD", "build flags not told (LIBMF_BUILD)")
    digest = sha256_of_file(program)
    return Peer(sys.modules[__name__],
                f"{version}, {flags}, sha256 {digest[:16]}; it has no biases", digest,
                program=program)


def convert(work, _peer, dataset):
    return numbered(work, dataset)


def memory_needed(files, k):
    return 4 * k * (files["users"] + files["items"]) + 28 * files["ratings"]


def run_with_defaults(work, peer, files, threads):
    """Its defaults: 8 factors, 20 iterations. mf-predict, built beside mf-train, computes the
    error."""
    predict = os.path.join(os.path.dirname(peer.program), "mf-predict")
    if not os.access(predict, os.X_OK):
        raise Failure(
            f"{os.path.dirname(peer.program)} has no mf-predict, which LIBMF's make builds")
    model, out = work.temporary("libmf.model"), work.temporary("libmf.predicted")
    seconds = work.run([peer.program, "-s", threads, files["train"], model]).seconds
    found = re.search(r"RMSE = ([0-9.]+)", work.run([predict, files["test"], model, out]).stdout)
    if not found:
        raise Failure("mf-predict printed no RMSE")
    for path in (model, out):
        os.unlink(path)
    return {"seconds": seconds, "rmse": float(found[1])}


def run(work, peer, files, k, epochs, threads, validate):
    marks = []

    def on_line(seconds, line):
        fields = line.split()
        if fields and fields[0].isdigit():
            marks.append((seconds, fields))
        return len(marks) == epochs + 1

    # Of accuracy nothing but its defaults is asked; of speed, the penalties and rate that dpmf's
    # benches always used.
    options = ["-p", files["test"]] if validate else ["-r", "0.02", "-l2", "0.05"]
    work.run([
        peer.program, "-k", k, "-s", threads, "-t", epochs + 1, *options, files["train"],
        "/dev/null"
    ], on_line=on_line)
    if len(marks) != epochs + 1:
        raise Failure(f"LIBMF printed {len(marks)} iterations of {epochs + 1}")
    spent = [b[0] - a[0] for a, b in zip(marks, marks[1:])]
    found = {"updates_per_second": [files["ratings"] / s for s in spent]}
    if validate:
        # The first iteration took about as long as the others: its own time has the reading in it.
        first = sorted(spent)[len(spent) // 2]
        found["rmse_by_time"] = [[first + mark[0] - marks[0][0],
                                  float(mark[1][2])] for mark in marks[:epochs]]
    return found
