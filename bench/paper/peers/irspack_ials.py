"""irspack's implicit alternating least squares, with the loss and the penalties that dpmf's has,
too. It ranks and predicts no ratings, so it is in the section on ranking alone.
"""
import sys

from peers.in_python import convert, find_package, run_ranking  # noqa: F401

NAME = "irspack iALS"
HOW = "the Python package irspack (PEER_PYTHON names a Python that has it)"
SHAPES = ()
HAS_ERROR = False

rank_with_defaults = run_ranking("irspack")


def find(work):
    return find_package(work, sys.modules[__name__], "irspack",
                        "iALS of Rendle et al. for implicit feedback")


def memory_needed(files, k):
    return 4 * k * (files["users"] + files["items"]) + 100 * files["ratings"]
