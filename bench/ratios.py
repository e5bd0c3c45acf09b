#!/usr/bin/env python3
"""Medians of speeds measured in turns, and the spread of their ratios round by round.

    bench/ratios.py SPEEDS A/B [A/C ...]

SPEEDS has a line "k round program updates_per_second" a run, as bench_peers.sh and bench_threads.sh
write it. A ratio is taken within each round, whose runs follow each other directly, so that what
else the machine does falls on both; printed are the ratios' median and, in brackets, the least and
the greatest.
"""
import sys
from collections import defaultdict
from statistics import median


def read_speeds(path):
    speeds = defaultdict(dict)  # (k, program) -> round -> speed
    programs = []
    for line in open(path):
        fields = line.split()
        if len(fields) != 4:  # the run printed no speed
            continue
        k, round_number, program, speed = fields
        if program not in programs:
            programs.append(program)
        speeds[int(k), program][int(round_number)] = float(speed)
    return speeds, programs


def ratio_text(above, below):
    ratios = [above[r] / below[r] for r in above if r in below and below[r] > 0]
    if not ratios:
        return "-"
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def main(path, *pairs):
    speeds, programs = read_speeds(path)
    pairs = [pair.split("/") for pair in pairs]
    pairs = [(a, b) for a, b in pairs if a in programs and b in programs]
    header = ["k"] + programs + [f"{a} / {b}" for a, b in pairs]
    widths = [6] + [15] * len(programs) + [31] * len(pairs)
    print("".join(text.rjust(width) for text, width in zip(header, widths)))
    for k in sorted({k for k, _ in speeds}):
        row = [str(k)]
        for program in programs:
            found = speeds[k, program].values()
            row.append(f"{median(found) / 1e6:.2f}" if found else "-")
        row += [ratio_text(speeds[k, a], speeds[k, b]) for a, b in pairs]
        print("".join(text.rjust(width) for text, width in zip(row, widths)))


if __name__ == "__main__":
    main(*sys.argv[1:])
