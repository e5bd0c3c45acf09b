"""What the tests of the package share: folders, made-up ratings, the program, and a reader of
safetensors files that has nothing in common with the library's.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np

import dpmf

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT.parent / "shared" / "data"
BINARY = os.environ.get("DPMF_BINARY", "")


class FolderTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dpmf-python-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)


def run_dpmf(*arguments):
    """Runs the program; @return what it printed."""
    if not BINARY:
        raise unittest.SkipTest("DPMF_BINARY is not set")
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"dpmf {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def made_up(n_users=300, n_items=60, n=6000, seed=5, rank=3):
    """Ratings that follow from a few hidden tastes, no pair twice: users, items, ratings 1 to 5."""
    rng = np.random.default_rng(seed)
    users, items = np.divmod(rng.permutation(n_users * n_items)[:n], n_items)
    tastes, kinds = rng.normal(size=(n_users, rank)), rng.normal(size=(n_items, rank))
    liking = np.einsum("ij,ij->i", tastes[users], kinds[items]) + rng.normal(size=n_items)[items]
    return users, items, np.clip(np.round(3 + liking), 1, 5)


def private_model(folder, **parameters):
    """Settings of a private fit that leave no trace outside the test's folder."""
    settings = {"epsilon": 2.0, "rating_range": (1, 5), "ledger": folder / "ledger", **parameters}
    if settings["ledger"] == folder / "ledger" and not settings["ledger"].exists():
        dpmf.init_ledger(settings["ledger"])
    return dpmf.Model(**settings)


def releases_in(ledger):
    """How many releases a ledger knows, returned ones too."""
    return ledger.read_bytes().count(b'{"release"') if ledger.exists() else 0


class quiet:
    """Without the package's warnings."""

    def __enter__(self):
        self._catch = warnings.catch_warnings()
        self._catch.__enter__()
        warnings.simplefilter("ignore", dpmf.DpmfWarning)

    def __exit__(self, *reason):
        self._catch.__exit__(*reason)


def read_safetensors(data):
    """Tensors and metadata of a safetensors file, by the format's own description: eight bytes of
    length, little-endian; a JSON header; and the tensors' bytes, at offsets from the end of the
    header."""
    types = {
        "F32": "<f4", "F64": "<f8", "I64": "<i8", "U64": "<u8", "I32": "<i4", "U32": "<u4",
        "U8": "u1"
    }
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length].decode("utf-8"))
    metadata = header.pop("__metadata__", {})
    body = data[8 + length:]
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = np.frombuffer(body[begin:end], dtype=types[entry["dtype"]])
        tensors[name] = array.reshape(entry["shape"])
    return tensors, metadata


def movielens_1m():
    """Users, items, ratings and the catalogue of MovieLens 1M, or a skip."""
    folder = DATA / "ml-1m"
    packed = folder / "ratings.dat.zst"
    if not packed.exists() or not shutil.which("zstd"):
        raise unittest.SkipTest(f"there is no {packed}, or no zstd")
    text = subprocess.run(["zstd", "-dcq", str(packed)], capture_output=True, check=True).stdout
    table = np.fromstring(text.replace(b"::", b" "), dtype=np.int64, sep=" ").reshape(-1, 4)
    return table[:, 0].copy(), table[:,
                                     1].copy(), table[:,
                                                      2].astype(np.float64), folder / "movies.dat"
