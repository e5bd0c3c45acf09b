"""Peers that are Python packages run in a Python of their own, so that their threads and memory end
with them: PEER_PYTHON, else this one, else python3 of the PATH, whichever has the package.
"""
import json
import pathlib
import shutil
import subprocess
import sys

from peers import Peer
from peers.rating_text import numbered
from work import Failure, sha256_of_file

# Loads the package, so that one that is there but cannot be loaded counts as absent. Some tell no
# version themselves.
VERSION = """
import importlib, importlib.metadata, sys
name = sys.argv[1]
module = importlib.import_module(name)
names = importlib.metadata.packages_distributions().get(name, [name])
print(getattr(module, "__version__", None) or importlib.metadata.version(names[0]))
"""
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


def find_package(work, adapter, package, note):
    for python in (work.env.get("PEER_PYTHON"), sys.executable, shutil.which("python3")):
        if not python:
            continue
        asked = subprocess.run([python, "-c", VERSION, package], capture_output=True, text=True,
                               env=dict(work.env))
        if asked.returncode == 0:
            version = asked.stdout.strip().splitlines()[-1]
            ours = [sha256_of_file(path) for path in sorted(PROGRAMS.glob("*.py"))]  # how we run it
            return Peer(adapter, f"version {version}; {note}", [version, ours], python=python)
    return None


def convert(work, _peer, dataset):
    low, high = dataset.range.split(":")
    return {**numbered(work, dataset), "low": float(low), "high": float(high)}


def run_defaults(package):
    """An adapter's `run_with_defaults` of a package that programs/defaults_run.py knows."""
    def run_with_defaults(work, peer, files, threads):
        asked = {key: files[key] for key in ("train", "test", "users", "items", "low", "high")}
        return run_program(work, peer, "defaults_run.py", package=package, threads=threads,
                           seed=work.seed, **asked)
    return run_with_defaults


def run_ranking(package):
    """An adapter's `rank_with_defaults` of a package that programs/ranking_run.py knows."""
    def rank_with_defaults(work, peer, files, threads):
        asked = {key: files[key] for key in ("train", "test", "users", "items")}
        return run_program(work, peer, "ranking_run.py", package=package, threads=threads,
                           seed=work.seed, **asked)
    return rank_with_defaults


def run_program(work, peer, name, **parameters):
    """Runs programs/NAME with parameters as JSON; the last line it prints is its result as JSON."""
    printed = work.run([peer.python, PROGRAMS / name,
                        json.dumps(parameters)]).stdout.strip().splitlines()
    if not printed:
        raise Failure(f"{peer.name} printed nothing")
    return json.loads(printed[-1])
