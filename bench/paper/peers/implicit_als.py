"""implicit's alternating least squares. It learns how likely an item is used, not ratings: its
speed is comparable (a pass over all ratings is an iteration), its error is not.
"""
import sys

from peers.in_python import (
    convert,
    find_package,
    run_defaults,
    run_program,  # noqa: F401
    run_ranking)

NAME = "implicit ALS"
HOW = "the Python package implicit (PEER_PYTHON names a Python that has it)"
SHAPES = ("netflix", "yahoo", "movielens")
HAS_ERROR = False

run_with_defaults = run_defaults("implicit")
rank_with_defaults = run_ranking("implicit")


def find(work):
    return find_package(work, sys.modules[__name__], "implicit",
                        "alternating least squares for implicit feedback")


def memory_needed(files, k):
    return 4 * k * (files["users"] + files["items"]) + 100 * files["ratings"]


def run(work, peer, files, k, epochs, threads, _validate):
    return run_program(work, peer, "implicit_als_run.py", train=files["train"],
                       users=files["users"], items=files["items"], k=k, epochs=epochs,
                       threads=threads, seed=work.seed)
