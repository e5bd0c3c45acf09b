"""A prototype of the tiled order with everything fixed, named by PROTOTYPE: a speed target. It
makes ratings of its own, of Netflix's shape and as many users as the set has, and prints the median
epoch's speed as JSON.
"""
import json
import os
import sys

from peers import Peer
from work import Failure, sha256_of_file

NAME = "prototype"
HOW = (
    "PROTOTYPE=PATH of a trainer that takes --users, --k, --threads, --solver and --epochs and "
    "prints JSON"
)
SHAPES = ("netflix",)
HAS_ERROR = False  # its ratings are not those of the test


def find(work):
    program = work.env.get("PROTOTYPE")
    if not program:
        return None
    if not os.access(program, os.X_OK):
        raise Failure(f"PROTOTYPE={program}: there is no such program")
    program = os.path.realpath(program)
    digest = sha256_of_file(program)
    return Peer(sys.modules[__name__],
                f"a speed target on ratings of its own, sha256 {digest[:16]}", digest,
                program=program)


def convert(_work, _peer, dataset):
    return {"users": dataset.users, "items": dataset.items, "ratings": dataset.train_ratings}


def memory_needed(files, k):
    return 4 * k * (files["users"] + files["items"]) + 40 * files["ratings"]


def run(work, peer, files, k, epochs, threads, validate):
    if validate:
        raise Failure("the prototype has ratings of its own: there is no error to compare")
    printed = work.run([
        peer.program, "--users", files["users"], "--k", k, "--threads", threads, "--solver", "sgd",
        "--epochs", epochs
    ]).stdout
    for line in printed.splitlines():
        found = json.loads(line)
        if found.get("solver") == "sgd":
            return {"updates_per_second": [found["updates_per_second"]]}
    raise Failure("the prototype printed no speed")
