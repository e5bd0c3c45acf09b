#!/usr/bin/env python3
"""Makes the tables of docs/testing.md from what the commands measured, between the marks <!--
figures: NAME --> and <!-- end -->.

    scripts/testing_page.py coverage SUMMARY.json [ROOM...]
                                                     from gcovr's summary; kept in
                                                     docs/testing/coverage.json; with rooms, only
                                                     their figures are new
    scripts/testing_page.py fuzzing                  from docs/testing/fuzzing.csv
    scripts/testing_page.py mutants                  from docs/testing/mutants.csv and
                                                     mutants_explained.csv
    scripts/testing_page.py misses                   from docs/testing/audit_misses.csv
"""

import collections
import csv
import json
import math
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "testing.md")


def data(name):
    return os.path.join(ROOT, "docs", "testing", name)


def rows_of(name):
    with open(data(name), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def commit():
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE,
                          check=True, text=True).stdout.strip()


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "lib" else parts[0]


def coverage(summary, *only):
    """Adds up gcovr's figures by room, keeps them with the commit, and makes a table."""
    with open(summary, encoding="utf-8") as file:
        found = json.load(file)
    rooms = collections.defaultdict(lambda: [0, 0, 0, 0])
    for entry in found["files"]:
        room = rooms[room_of(entry["filename"])]
        for i, name in enumerate(("line_covered", "line_total", "branch_covered", "branch_total")):
            room[i] += entry[name]
    rooms = {name: {"figures": figures, "commit": commit()} for name, figures in rooms.items()}
    if only:
        with open(data("coverage.json"), encoding="utf-8") as file:
            rooms = {**json.load(file), **{name: rooms[name] for name in only}}
    with open(data("coverage.json"), "w", encoding="utf-8") as file:
        json.dump(dict(sorted(rooms.items())), file, indent=1)
        file.write("\n")
    lines = ["| room | lines | reached | branches | reached | commit |",
             "|---|---|---|---|---|---|"]
    total = [sum(room["figures"][i] for room in rooms.values()) for i in range(4)]
    for name, room in sorted(rooms.items()) + [("all", {"figures": total, "commit": ""})]:
        figures = room["figures"]
        lines.append(
            f"| `{name}` | {figures[1]:,} | {percent(figures[0], figures[1])} | {figures[3]:,} | "
            f"{percent(figures[2], figures[3])} | {room['commit']} |"
        )
    return lines + ["", "(`make coverage`.)"]


def merge_fuzzing():
    """One row a day, commit and fuzzer, in the order in which they came."""
    rows = {}
    for row in rows_of("fuzzing.csv"):
        sums = rows.setdefault((row["date"], row["commit"], row["fuzzer"]), [0, 0, 0])
        for i, name in enumerate(("cpu_seconds", "runs", "found")):
            sums[i] += int(row[name])
    with open(data("fuzzing.csv"), "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["date", "commit", "fuzzer", "cpu_seconds", "runs", "found"])
        out.writerows([*key, *sums] for key, sums in rows.items())


def fuzzing():
    merge_fuzzing()
    rows, by_name = rows_of("fuzzing.csv"), collections.defaultdict(lambda: [0, 0, 0])
    for row in rows:
        sums = by_name[row["fuzzer"]]
        for i, name in enumerate(("cpu_seconds", "runs", "found")):
            sums[i] += int(row[name])
    lines = ["| fuzzer | processor hours | inputs tried | found |", "|---|---|---|---|"]
    total = [sum(sums[i] for sums in by_name.values()) for i in range(3)]
    for name, sums in sorted(by_name.items()) + [("all", total)]:
        lines.append(f"| `{name}` | {sums[0] / 3600:.2f} | {sums[1]:,} | {sums[2]} |")
    return (lines + [
        "",
        f"(`docs/testing/fuzzing.csv`, {min(row['date'] for row in rows)} to "
        f"{max(row['date'] for row in rows)}.)"
    ])


def mutants():
    """Survivors that make no difference are in mutants_explained.csv, with the reason."""
    where = "file", "function", "line", "column", "change"
    explained = {tuple(row[key] for key in where) for row in rows_of("mutants_explained.csv")}
    by_room, seconds = collections.defaultdict(lambda: [0, 0, 0, 0]), 0
    for row in rows_of("mutants.csv"):
        room, found = by_room[room_of(row["file"])], row["killed_by"]
        room[0] += 1
        room[1] += found not in ("survived", "not reached")
        room[2] += found == "not reached"
        room[3] += found in ("survived", "not reached") and tuple(
            row[key] for key in where) in explained
        seconds += float(row["seconds"] or 0)
    lines = ["| room | mutants | noticed | survived | of these on lines that no test reaches | "
             "of these explained |", "|---|---|---|---|---|---|"]
    total = [sum(room[i] for room in by_room.values()) for i in range(4)]
    for name, (n, killed, away, known) in sorted(by_room.items()) + [("all", total)]:
        lines.append(f"| `{name}` | {n} | {percent(killed, n)} | {n - killed} | {away} | {known} |")
    return lines + ["", f"(`make mutate`; {seconds / max(1, total[0]):.1f} s of processor time "
                    "a mutant.)"]


def most(missed, tried, chance=0.01):
    """The largest probability with which as few misses still happen with that chance (Clopper and
    Pearson), by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        tail = sum(math.comb(tried, k) * p**k * (1 - p)**(tried - k) for k in range(missed + 1))
        low, high = (p, high) if tail > chance else (low, p)
    return high


def misses():
    sums = collections.defaultdict(lambda: [0, 0])
    for row in rows_of("audit_misses.csv"):
        key = f"`{row['mutant']}` | {row['mechanism']}, {row['runs']} runs"
        sums[key][0] += int(row["audits"])
        sums[key][1] += int(row["missed"])
    lines = ["| mutant | audit | audits | missed | misses, at most | all four miss, at most |",
             "|---|---|---|---|---|---|"]
    for key, (tried, missed) in sums.items():
        bound = most(missed, tried)
        lines.append(f"| {key} | {tried} | {missed} | {bound:.3f} | {bound**4:.1e} |")
    return lines + ["", "(`tests/audit/miss_rates.sh`; at most: with a confidence of 99 %.)"]


name = sys.argv[1]
lines = {"coverage": coverage, "fuzzing": fuzzing, "mutants": mutants,
         "misses": misses}[name](*sys.argv[2:])
with open(PAGE, encoding="utf-8") as file:
    page = file.read()
pattern = re.compile(rf"(<!-- figures: {name} -->\n).*?(<!-- end -->)", re.S)
if not pattern.search(page):
    sys.exit(f"docs/testing.md has no place for {name}")
with open(PAGE, "w", encoding="utf-8") as file:
    file.write(pattern.sub(lambda match: match[1] + "\n".join(lines) + "\n" + match[2], page))
