#!/usr/bin/env python3
"""The caches that cachegrind is told to simulate: those that dpmf sizes its tiles for, as `dpmf
doctor` names them (so DPMF_CACHES counts), with the ways and lines that the system reports.

Cachegrind wants a number of sets (bytes / ways / line) that is a power of two. Caches of which that
is not so are rounded to the nearest that it can simulate, and what was rounded is said. Sections of
the report and bench_cachegrind.sh ask here:

    bench/paper/cachegrind_caches.py build/dpmf

prints the options, a line each, and to standard error what was rounded.
"""
import json
import pathlib
import subprocess
import sys

LINE = 64
# Where nothing reports the ways: the first with which the size needs no rounding, else the last.
USUAL_WAYS = (8, 12, 16)
SYSTEM = "/sys/devices/system/cpu/cpu0/cache"


def is_power_of_two(n):
    return n > 0 and n & (n - 1) == 0


def nearest_power_of_two(n):
    """At least 1; the smaller of two that are as near."""
    below = 1 << max(0, int(n).bit_length() - 1)
    return below if n - below <= 2 * below - n else 2 * below


def simulated(size, ways=None, line=LINE):
    """(bytes, ways, line) of the nearest cache that cachegrind can simulate."""
    if not ways:
        exact = [
            w for w in USUAL_WAYS if size % (w * line) == 0 and is_power_of_two(size // (w * line))
        ]
        ways = exact[0] if exact else USUAL_WAYS[-1]
    return nearest_power_of_two(size / (ways * line)) * ways * line, ways, line


def size_text(size):
    return f"{size >> 20} MiB" if size % (1 << 20) == 0 else f"{size / 1024:g} KiB"


def reported(level, folder=SYSTEM):
    """(ways, line) that the system reports of a data or unified cache; (None, LINE) where it
    reports none."""
    for index in sorted(pathlib.Path(folder).glob("index*")):
        try:
            facts = {name: (index / name).read_text().strip()
                     for name in ("level", "type", "ways_of_associativity", "coherency_line_size")}
            if facts["level"] == str(level) and facts["type"] != "Instruction":
                return int(facts["ways_of_associativity"]) or None, int(
                    facts["coherency_line_size"]) or LINE
        except (OSError, ValueError):
            continue
    return None, LINE


def options(tiles_for, folder=SYSTEM):
    """(cachegrind's options, what a reader must know about them), from doctor's `tiles_for`."""
    system = tiles_for["from"] == "system"
    levels = {"D1": (1, tiles_for["l1"])}
    levels["LL"] = ((3, tiles_for["l3"]) if tiles_for["l3"] > tiles_for["l2"] else
                    (2, tiles_for["l2"]))
    found, notes = [], []
    for name, (level, size) in levels.items():
        bytes_, ways, line = simulated(size, *(reported(level, folder) if system else ()))
        found.append(f"--{name}={bytes_},{ways},{line}")
        if bytes_ != size:
            notes.append(
                f"the level-{level} cache of {size_text(size)} is simulated as one of "
                f"{size_text(bytes_)}: "
                f"cachegrind wants a number of sets that is a power of two")
    if levels["LL"][0] == 2:
        notes.append("there is no third level: the last is the second")
    if tiles_for["from"] == "guess":
        notes.append("nothing reports this machine's caches: these are guessed")
    elif tiles_for["from"] == "environment":
        notes.append("these caches are named by DPMF_CACHES")
    return found, notes


def main(dpmf):
    doctor = json.loads(
        subprocess.run([dpmf, "doctor", "--json"], check=True, capture_output=True,
                       text=True).stdout)
    found, notes = options(doctor["tiles_for"])
    print("\n".join(found))
    for note in notes:
        print(note, file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
