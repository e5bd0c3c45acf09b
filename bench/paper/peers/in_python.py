"""Peers that are Python packages run in a Python of their own, so that their threads and memory end with them:
PEER_PYTHON, else this one, else python3 of the PATH, whichever has the package.
"""
import json
import pathlib
import shutil
import subprocess
import sys

from peers import Peer
from work import Failure

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


def find_package(work, adapter, package, note):
    for python in (work.env.get("PEER_PYTHON"), sys.executable, shutil.which("python3")):
        if not python:
            continue
        asked = subprocess.run([python, "-c", f"import {package}; print({package}.__version__)"], capture_output=True,
                               text=True, env=dict(work.env))
        if asked.returncode == 0:
            version = asked.stdout.strip().splitlines()[-1]
            return Peer(adapter, f"version {version}; {note}", version, python=python)
    return None


def run_program(work, peer, name, **parameters):
    """Runs programs/NAME with parameters as JSON; the last line it prints is its result as JSON."""
    printed = work.run([peer.python, PROGRAMS / name, json.dumps(parameters)]).stdout.strip().splitlines()
    if not printed:
        raise Failure(f"{peer.name} printed nothing")
    return json.loads(printed[-1])
