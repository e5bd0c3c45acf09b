#!/usr/bin/env python3
"""Puts small faults into the code, one at a time, and runs the tests: one that no test notices
shows what is not tested.

    scripts/mutate.py [--each 50] [--folders lib/random lib/privacy ...] [--minutes M] [--again]

A mutant changes one token or removes one statement; what is in an assertion is left alone, because
the library is built without them. So are mutants that the compiler refuses, or of which it makes
the same code. Each folder gives as many as --each says, chosen by a hash of what they are: so the
same command continues where it was stopped, and a larger number tries more.

What makes it quick: everything is compiled once (mutated_tree.py), and a mutant costs compiling its
file and linking a shared library. Every test is run once with clang's coverage, and a mutant is
tried with those tests alone that reach its line, the most likely to notice it first, until one
fails. What takes five times the processor time that it should is ended, and has noticed. A mutant
whose tests have taken TEST_SECONDS without noticing has survived; tests that take longer than
LONGEST are left out. JOBS says how many mutants are tried at a time.

The results are in docs/testing/mutants.csv (what was changed, killed by what, or `survived`, or
`not reached` by any test, and the processor time), and the table of docs/testing.md is made anew. A
mutant is known by its function and the line in it, counted from the function's first, 0, so that it
is found again when other lines of the file have moved; one of code that is no longer there leaves
the table. --again tries those that survived and are not explained once more, which is what a new
test is for. Why a survivor makes no difference is for a person to find out, and in
docs/testing/mutants_explained.csv.
"""

import argparse
import csv
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from mutated_tree import (COPY, JOBS, OUT, ROOMS, ROOT, Tests, Tree, bytes_of, hash_of,
                          in_parallel, make_copy, place, processor_seconds, read, worker)

TABLE = os.path.join(ROOT, "docs", "testing", "mutants.csv")
EXPLAINED = os.path.join(ROOT, "docs", "testing", "mutants_explained.csv")
KNOWN_BY = ("file", "function", "line", "column", "change")

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|^\s*\#(?:\\\n|[^\n])*
      |^\s*(?:static_)?assert\([^;]*;)
  | (?P<op><=|>=|==|!=|&&|\|\||\+=|-=|->|\+\+|--|(?<=\s)(?:<<|>>|[<>+*/-])(?=\s)
      |(?<=[\s(])!(?=[\w(]))
  | (?P<word>\b(?:true|false|continue|fmin|fmax)\b)
  | (?P<real>(?<![\w.])[0-9]+\.[0-9]*(?:e[+-]?[0-9]+)?(?![\w.]))
  | (?P<number>(?<![\w.])[0-9]+(?![\w.]))
""", re.X | re.S | re.M)
SWAPS = {
    "<=": "<", ">=": ">", "<": "<=", ">": ">=", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "++": "--", "--": "++",
    "<<": ">>", ">>": "<<", "!": "!!", "true": "false", "false": "true", "continue": "break",
    "fmin": "fmax", "fmax": "fmin"
}
STATEMENT = re.compile(
    r"^ +(?!return|break|continue|goto|const|static|struct|enum|int|double|float|bool|size_t|"
    r"u?int\d+_t|char|void|assert|unsigned|else|for|while|do|case|default)"
    r"[\w>.\[\]*()&-]+[^;{}]*;$", re.M)
OPENING = re.compile(r"[A-Za-z_](?!.*:$).*")  # a line with which a function or table begins
NAME = re.compile(r"(\w+)(?=[(\[]| =)|(\w+)\W*$")


# ---- mutants -------------------------------------------------------------------------------------

def changes_of(text):
    """Every (begin, end, replacement) in a file."""
    for match in TOKEN.finditer(text):
        found = match["op"] or match["word"]
        if found in SWAPS:
            yield match.start(), match.end(), SWAPS[found]
        elif match["real"]:
            yield match.start(), match.end(), f"({match['real']} + 1)"
        elif match["number"]:
            yield match.start(), match.end(), str(int(match["number"]) + 1)
    for match in STATEMENT.finditer(text):
        begin = match.end() - len(match[0].lstrip())
        yield begin, match.end(), ";"


@functools.lru_cache(maxsize=None)
def mutants_of(path):
    """The mutants of a file, by what they are known by: where in the text, and what comes there."""
    text, mutants = read(path), {}
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    opened, name, openings = 0, "", []
    for i, line in enumerate(lines):
        if OPENING.fullmatch(line):
            found = NAME.search(line)
            opened, name = i, found[1] or found[2]
        openings.append((opened, name))
    for begin, end, new in changes_of(text):
        row = text.count("\n", 0, begin)
        first, name = openings[row]
        change = f"{' '.join(text[begin:end].split())} -> {new}"
        mutants[path, name, str(row - first), str(begin - starts[row] + 1), change] = (
            begin, end, new, row + 1)
    return mutants


def in_order(room):
    """The mutants of a folder, in an order that no change elsewhere changes."""
    keys = [key for folder, _, names in os.walk(os.path.join(COPY, room)) for name in names
            if name.endswith(".c")
            for key in mutants_of(os.path.relpath(os.path.join(folder, name), COPY))]
    return sorted(keys, key=lambda key: hash_of("\n".join(key)))


def try_mutant(tree, tests, path, where):
    """@return what noticed it; None when the compiler does, or makes the same code of it"""
    begin, end, new, line = where
    text, source = read(path), os.path.join(place(), "mutated", path)
    os.makedirs(os.path.dirname(source), exist_ok=True)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text[:begin] + new + text[end:])
    made = tree.object_of(path, "mutated")
    try:
        if not tree.compiles(path, made, source, cached=False):
            return None
        if bytes_of(made) == bytes_of(tree.object_of(path)):
            return None
        if not tree.links_library({path: made}):
            return None
        found = tests.killer(path, line, {path: made})
        if found in ("survived", "not reached"):  # perhaps it is the same for a better compiler
            both = [tree.object_of(path, kind) for kind in ("mutated", "best")]
            for output, what in zip(both, (source, os.path.join(COPY, path))):
                tree.compiles(path, output, what, ("-O3",), cached=False)
            if bytes_of(both[0]) == bytes_of(both[1]):
                return None
        return found
    finally:
        os.remove(source)


# ---- the table -----------------------------------------------------------------------------------

def rows_of(table):
    """Rows by what a mutant is known by."""
    if not os.path.exists(table):
        return {}
    with open(table, encoding="utf-8", newline="") as file:
        return {tuple(row[key] for key in KNOWN_BY): row for row in csv.DictReader(file)}


def write_rows(rows):
    with open(TABLE + ".new", "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, [*KNOWN_BY, "killed_by", "seconds"], lineterminator="\n")
        out.writeheader()
        out.writerows(sorted(rows.values(), key=lambda row: (
            row["file"], row["function"], int(row["line"]), int(row["column"]), row["change"])))
    os.replace(TABLE + ".new", TABLE)


def chosen(options, rows):
    """In turns over the folders, those that are to be tried, as long as there are too few; or,
    with --again, those that survived."""
    explained = rows_of(EXPLAINED)
    if options.again:
        for key, row in list(rows.items()):
            if (row["killed_by"] in ("survived", "not reached") and key not in explained and
                    key[0].startswith(tuple(folder + "/" for folder in options.folders))):
                yield key
        return
    left = {room: [key for key in in_order(room) if key not in rows] for room in options.folders}
    while any(left.values()):
        for room, keys in left.items():
            if sum(key[0].startswith(room + "/") for key in rows) >= options.each:
                keys.clear()
            if keys:
                yield keys.pop(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--folders", nargs="+", default=ROOMS, choices=ROOMS)
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))  # and not after the other threads
    make_copy()
    tree = Tree()
    tree.build()
    tests = Tests(tree)
    today = {key for room in ROOMS for key in in_order(room)}
    rows = {key: row for key, row in rows_of(TABLE).items() if key in today}
    end, left = time.monotonic() + 60 * options.minutes, chosen(options, rows)
    lock = threading.Lock()

    def work(number):
        worker.place = os.path.join(OUT, f"worker-{number}")
        shutil.rmtree(os.path.join(worker.place, "mutated"), ignore_errors=True)
        os.makedirs(worker.place, exist_ok=True)
        while time.monotonic() < end:
            with lock:
                key = next(left, None)
            if not key:
                break
            before, where = processor_seconds(), mutants_of(key[0])[key]
            found = try_mutant(tree, tests, key[0], where)
            spent = processor_seconds() - before
            print(f"{key[0]}:{where[3]}: {key[4]}: {found or 'the same'} ({spent:.1f} s)",
                  flush=True)
            if found:
                with lock:
                    rows[key] = {**dict(zip(KNOWN_BY, key)), "killed_by": found,
                                 "seconds": f"{spent:.1f}"}
                    write_rows(rows)
    in_parallel(work, range(JOBS))
    subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "testing_page.py"), "mutants"],
                   check=True)


main()
