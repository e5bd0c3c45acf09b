"""Surprise's SVD: stochastic gradient descent with biases in compiled Python, one thread."""
import sys

from peers.in_python import convert, find_package, run_defaults, run_program  # noqa: F401

NAME = "Surprise SVD"
HOW = "the Python package scikit-surprise (PEER_PYTHON names a Python that has it)"
SHAPES = ("netflix", "yahoo", "movielens")
HAS_ERROR = True

run_with_defaults = run_defaults("surprise")


def find(work):
    return find_package(work, sys.modules[__name__], "surprise", "SVD, one thread")


def memory_needed(files, k):
    return 8 * k * (files["users"] + files["items"]) + 500 * files["ratings"]


def run(work, peer, files, k, epochs, _threads, validate):
    return run_program(work, peer, "surprise_svd_run.py", train=files["train"],
                       test=files["test"] if validate else None, low=files["low"],
                       high=files["high"], k=k, epochs=epochs, seed=work.seed)
