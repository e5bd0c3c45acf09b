"""cmfrec's collective matrix factorization: alternating least squares with biases. Run with its
defaults alone."""
import sys

from peers.in_python import convert, find_package, run_defaults  # noqa: F401

NAME = "cmfrec CMF"
HOW = "the Python package cmfrec (PEER_PYTHON names a Python that has it)"
SHAPES = ()
HAS_ERROR = True
run_with_defaults = run_defaults("cmfrec")


def find(work):
    return find_package(work, sys.modules[__name__], "cmfrec", "alternating least squares")
