"""LensKit's biased matrix factorization by alternating least squares. Run with its defaults
alone."""
import sys

from peers.in_python import convert, find_package, run_defaults  # noqa: F401

NAME = "LensKit ALS"
HOW = "the Python package lenskit (PEER_PYTHON names a Python that has it)"
SHAPES = ()
HAS_ERROR = True
run_with_defaults = run_defaults("lenskit")


def find(work):
    return find_package(work, sys.modules[__name__], "lenskit",
                        "biased matrix factorization by alternating least squares")
