"""What the checksum of a checkpoint costs whoever opens it, in processor time: the same model
opened with its checksum and, as dpmf 0.1.0 would have written it, without.

    bench/checksum_cost.py DPMF [USERS [FACTORS]]

Processor time and not that of the clock, so that what else the machine does counts little; the
least of several runs, in turns.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile

DPMF = os.path.abspath(sys.argv[1])
USERS = sys.argv[2] if len(sys.argv) > 2 else "300000"
FACTORS = sys.argv[3] if len(sys.argv) > 3 else "64"
RUNS = 15


def seconds(path):
    """Processor time of one `dpmf describe`, which opens a model and reads its ids."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([DPMF, "describe", "-q", path, "--json"], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def without_checksum(path, other):
    """The same in format 1."""
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    head = json.loads(data[8:8 + size])
    del head["__metadata__"]["dpmf.checksum"]
    head["__metadata__"]["dpmf.format"] = "1"
    text = json.dumps(head, separators=(",", ":")).encode().ljust(size)
    with open(other, "wb") as file:
        file.write(data[:8] + text + data[8 + size:])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for command in (f"synth -q --users {USERS} --items 3000 --ratings {3 * int(USERS)} -o r.dpr",
                    f"train -q r.dpr --no-adapt --epochs 1 -k {FACTORS} -o 2.safetensors"):
        subprocess.run([DPMF, *command.split()], check=True)
    without_checksum("2.safetensors", "1.safetensors")
    times = {"1": [], "2": []}
    for _ in range(RUNS):
        for name, found in times.items():
            found.append(seconds(f"{name}.safetensors"))
    megabytes = os.path.getsize("2.safetensors") / 1e6
    least = {name: min(found) for name, found in times.items()}
    cost = least["2"] - least["1"]
    print(f"a checkpoint of {megabytes:.0f} MB: {1e3 * least['2']:.0f} ms of processor time to "
          f"open, {1e3 * least['1']:.0f} ms without a checksum; "
          f"{1e6 * cost / megabytes:.0f} us a MB")
