"""The prototype of the paper's authors, named by AUTHORS: the folder with its src/mf and
data/getdata, as built there.

It prints a line when an iteration is done, with its own clock (whose time holds the evaluation of
earlier lines) and the test error. Its global bias is an option; the mean of the ratings is given.
"""
import os
import re
import subprocess
import sys

from peers import Peer
from peers.rating_text import numbered
from work import Failure, sha256_of_file

NAME = "authors' prototype"
HOW = "AUTHORS=DIR with src/mf and data/getdata of the paper's authors"
SHAPES = ("netflix", "yahoo", "movielens")
HAS_ERROR = True
LINE = re.compile(r"^iter#(\d+)\s+([0-9.e+-]+)\s+tRMSE=([0-9.e+-]+)")
BY_USER = '$1 != user { print $1 ":"; user = $1 } { print $2 "," $3 }'


def find(work):
    folder = work.env.get("AUTHORS")
    if not folder:
        return None
    program, getdata = (os.path.join(os.path.realpath(folder), p)
                        for p in ("src/mf", "data/getdata"))
    for path in (program, getdata):
        if not os.access(path, os.X_OK):
            raise Failure(f"AUTHORS={folder}: there is no program {path}")
    digest = sha256_of_file(program)
    return Peer(sys.modules[__name__], f"C-SGD, sha256 {digest[:16]}", digest, program=program,
                getdata=getdata)


def convert(work, peer, dataset):
    files = numbered(work, dataset)
    folder = dataset.folder / "authors"
    folder.mkdir(exist_ok=True)
    found = {**files, "bias": dataset.mean}
    for which in ("train", "test"):
        target, text = str(folder / which), work.temporary(f"authors.{which}")
        found[which] = target
        if os.path.exists(target):
            continue
        with open(text, "w", encoding="ascii") as out:
            subprocess.run(["awk", BY_USER, files[which]], stdout=out, check=True)
        work.run([
            peer.getdata, "-r", text, "-w", target + ".part", "--method", "protobuf", "--size", 1000
        ])
        os.replace(target + ".part", target)
        os.unlink(text)
    return found


def memory_needed(files, k):
    return 4 * k * (files["users"] + files["items"]) + 24 * files["ratings"]


def run(work, peer, files, k, epochs, threads, validate):
    marks = []

    def on_line(_seconds, line):
        if found := LINE.match(line):
            marks.append((float(found[2]), float(found[3])))
        return len(marks) == epochs

    work.run([
        peer.program, "--alg", "mf", "--train", files["train"], "--test", files["test"], "--nu",
        files["users"], "--nv", files["items"], "--dim", k, "--iter", epochs + 1, "--fly", threads,
        "--eta", "0.02", "--lambda", "0.005", "--gam", "1", "--bias", files["bias"]
    ], on_line=on_line)
    if len(marks) != epochs:
        raise Failure(f"the authors' prototype printed {len(marks)} iterations of {epochs}")
    spent = [b[0] - a[0] for a, b in zip([(0, 0), *marks], marks)]
    found = {"updates_per_second": [files["ratings"] / max(s, 1e-6) for s in spent]}
    if validate:
        found["rmse_by_time"] = [list(mark) for mark in marks]
    return found
