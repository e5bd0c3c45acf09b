"""myFM's factorization machines, sampled by Gibbs. Run with its defaults alone."""
import sys

from peers.in_python import convert, find_package, run_defaults  # noqa: F401

NAME = "myFM"
HOW = "the Python package myfm (PEER_PYTHON names a Python that has it)"
SHAPES = ()
HAS_ERROR = True
run_with_defaults = run_defaults("myfm")


def find(work):
    return find_package(work, sys.modules[__name__], "myfm",
                        "factorization machines by Gibbs sampling, one thread")
