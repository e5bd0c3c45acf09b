"""Spark's ALS of MLlib, by pyspark on this machine alone. Spark tells nothing of single iterations:
a run of all is timed, and its error measured once."""
import sys

from peers.in_python import convert, find_package, run_defaults, run_program  # noqa: F401

NAME = "Spark ALS"
HOW = "the Python package pyspark and a Java (PEER_PYTHON names a Python that has it)"
SHAPES = ("netflix", "yahoo", "movielens")
HAS_ERROR = True

run_with_defaults = run_defaults("pyspark")


def find(work):
    return find_package(work, sys.modules[__name__], "pyspark",
                        "alternating least squares of MLlib, local mode")


def memory_needed(files, k):
    return 12 * k * (files["users"] + files["items"]) + 200 * files["ratings"]


def run(work, peer, files, k, epochs, threads, validate):
    return run_program(work, peer, "spark_als_run.py", train=files["train"],
                       test=files["test"] if validate else None, k=k, epochs=epochs,
                       threads=threads, seed=work.seed)
