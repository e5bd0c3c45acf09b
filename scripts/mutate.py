#!/usr/bin/env python3
"""Puts small faults into the code, one at a time, and runs the tests: one that no test notices
shows what is not tested.

    scripts/mutate.py [--mutants 100] [--seed 1] [--folders lib/random lib/privacy ...]
    [--minutes M] [--again] [--keep]

A mutant changes one token or removes one statement; what is in an assertion is left alone, because
the library is built without them. Its file is compiled in a copy of the tree, build/mutants, and
linked with the unit tests that include its header, then with some of those that include one of its
folder, the quickest of those called like the file first, and at last with the program, for the
golden tests of its folder (GOLDENS). A test that takes ten times the processor time it should is
ended, and has noticed.

The results are added to docs/testing/mutants.csv (where, change, killed by what, or survived), and
the table of docs/testing.md is made anew. Mutants that are there already are not tried again: the
same command with a larger number continues. --again tries those that survived and are not
explained once more, which is what a new test is for. --minutes stops after that long. --keep takes
the copy that is there, as it is: for a run that was stopped.

Survivors are for a person to look at: either the change makes no difference, or a test is missing.
What was found out about one is in docs/testing/mutants_explained.csv.
"""

import argparse
import csv
import itertools
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPY = os.path.join(ROOT, "build", "mutants")
TIMES = os.path.join(COPY, "build", "mutant-times.json")
BUILD = os.path.join(COPY, "build")
TABLE = os.path.join(ROOT, "docs", "testing", "mutants.csv")
EXPLAINED = os.path.join(ROOT, "docs", "testing", "mutants_explained.csv")
CORES = os.environ.get("JOBS") or str(os.cpu_count() or 2)

# The golden tests that a folder's code decides, as tests/cli/run.sh takes them.
PRIVATE = ("private/*", "privacy/*", "ledger/*")
READING = ("import/*", "reading/*", "bad_input/*")
GOLDENS = {
    "lib/random": ("private/*", "split/*", "synth/*"), "lib/privacy": PRIVATE,
    "lib/mechanisms": PRIVATE, "lib/statement": PRIVATE, "lib/ledger": PRIVATE,
    "lib/store": ("store/*", "import/*", "shard/*", "describe/*"),
    "lib/model": ("model/*", "release/*", "vectors/*"), "lib/ratings": READING,
    "lib/arrow": READING, "lib/parquet": READING
}
KNOWN_BY = ("file", "line", "column", "change")
MOST_NEAR = 8  # tests that include another header of the room; the quickest

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|^\s*\#(?:\\\n|[^\n])*
      |^\s*(?:static_)?assert\([^;]*;)
  | (?P<op><=|>=|==|!=|&&|\|\||\+=|-=|->|\+\+|--|<<|>>|(?<=\s)[<>+*/-](?=\s))
  | (?P<number>(?<![\w.])[0-9]+(?![\w.]))
""", re.X | re.S | re.M)
SWAPS = {
    "<=": "<", ">=": ">", "<": "<=", ">": ">=", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+="
}
STATEMENT = re.compile(
    r"^ +(?!return|break|continue|goto|const|static|struct|enum|int|double|float|bool|size_t|"
    r"u?int\d+_t|char|void|assert|unsigned|else|for|while|do|case|default)"
    r"[\w>.\[\]*()&-]+[^;{}]*;$", re.M)


# Minutes of statistics about the samplers, which these folders have no part in.
SLOW = {f"test_{name}.c" for name in (
    "langevin", "langevin_train", "gibbs", "gibbs_train", "convergence", "samplers_agree",
    "search")}

# A test that compiles a file of the library once more, for what is static in it.
INCLUDED = re.compile(r'^#include "\w+/[\w/]+\.c"', re.M)


def read(path):
    """A file of the copy."""
    with open(os.path.join(COPY, path), encoding="utf-8") as file:
        return file.read()


def mutants_of(path):
    """Every (begin, end, replacement) in a file."""
    text = read(path)
    for match in TOKEN.finditer(text):
        if match["op"] in SWAPS:
            yield match.start(), match.end(), SWAPS[match["op"]]
        elif match["number"]:
            yield match.start(), match.end(), str(int(match["number"]) + 1)
    for match in STATEMENT.finditer(text):
        yield match.start(), match.end(), ";"


def described(path, begin, end, new):
    """What a mutant is known by: file, line, column and change, as in the table."""
    text = read(path)
    begin += len(text[begin:end]) - len(text[begin:end].lstrip())
    return {"file": path, "line": str(text.count("\n", 0, begin) + 1),
            "column": str(begin - text.rfind("\n", 0, begin)),
            "change": f"{' '.join(text[begin:end].split())} -> {new}"}


def limited(seconds):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return limit


def run(command, seconds=600, folder=COPY):
    """@return whether it ended well, within that much processor time"""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True, preexec_fn=limited(int(seconds) + 1))
    try:
        return process.wait(20 * seconds + 60) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return False


class Tests:
    """What can notice a mutant: unit tests, each linked with the mutant's object, and goldens."""

    def __init__(self):
        with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
            self.compile = {os.path.relpath(entry["file"], COPY): entry for entry in
                            json.load(file)}
        # Of processor time that a test takes without a mutant; kept while the copy is the same.
        self.seconds = {}
        if os.path.exists(TIMES):
            with open(TIMES, encoding="utf-8") as file:
                self.seconds = json.load(file)
        self.linker = ["-fuse-ld=lld"] if shutil.which("ld.lld") else []

    def object_of(self, path):
        command = shlex.split(self.compile[path]["command"])
        return os.path.join(self.compile[path]["directory"], command[command.index("-o") + 1])

    def compiles(self, path):
        command = shlex.split(self.compile[path]["command"])
        return run([word for word in command if word != "-g"], 300,
                   self.compile[path]["directory"])

    def links(self, target, path):
        """Links a target's objects with the mutant's before the library, which is then not asked
        for that member."""
        with open(os.path.join(BUILD, "CMakeFiles", target + ".dir", "link.txt"),
                  encoding="utf-8") as file:
            command = shlex.split(file.read())
        at = command.index("libdpmf.a")
        command[at:at] = [self.object_of(path)] if path else []
        return run(command + self.linker, 300, BUILD)

    def passes(self, test, path):
        """Whether a unit test passes with the mutant of `path`."""
        source = f"tests/unit/{test}.c"
        if INCLUDED.search(read(source)):  # it compiles some file of lib/ itself, perhaps this one
            if not self.compiles(source):
                return False
            if path and f'"{path[4:]}"' in read(source):
                path = None
        if not self.links(test, path):
            return False
        if test not in self.seconds:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            passed = run([f"build/tests/unit/{test}"])
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.seconds[test] = (after.ru_utime + after.ru_stime - before.ru_utime -
                                  before.ru_stime)
            return passed
        return run([f"build/tests/unit/{test}"], 2 + 10 * self.seconds[test])

    def of(self, path, everything=False):
        """The unit tests of a file: those that include its header, then the quickest of those that
        include one of its folder."""
        header, folder = re.sub(r"^lib/(.*)\.c$", r"\1.h", path), path.split("/")[1]
        own, near = [], []
        for name in sorted(os.listdir(os.path.join(COPY, "tests", "unit"))):
            if not re.fullmatch(r"test_\w+\.c", name) or name in SLOW:
                continue
            text = read(f"tests/unit/{name}")
            if (f'"{header}"' in text or f'"{path[4:]}"' in text or
                    name == "test_" + os.path.basename(path)):
                own.append(name[:-2])
            elif f'"{folder}/' in text:
                near.append(name[:-2])

        words = {*os.path.basename(path)[:-2].split("_"), folder}

        def quickest(names):
            """First of those that are called like the file."""
            return sorted(names, key=lambda test: (words.isdisjoint(test.split("_")),
                                                   self.seconds.get(test, 0)))
        return quickest(own) + (near if everything else quickest(near)[:MOST_NEAR])

    def killer(self, path):
        """What notices the mutant of this file that is in the copy now, or None."""
        if not self.compiles(path):
            return "compiler"
        for test in self.of(path):
            if not self.passes(test, path):
                return test
        if not self.links("dpmf", path):
            return "compiler"
        room = "/".join(path.split("/")[:2])
        for goldens in GOLDENS.get(room, ()):
            if not run(["tests/cli/run.sh", "build/dpmf", goldens], 600):
                return f"tests/cli {goldens}"
        return None


def make_copy():
    """What is in git, as it is in this folder."""
    shutil.rmtree(COPY, ignore_errors=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE,
                           check=True).stdout.decode().split("\0")
    for name in filter(None, files):
        target = os.path.join(COPY, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, name), target)
    if not run(["cmake", "--preset", "release", "-DDPMF_TESTS=ON"], 3600):
        sys.exit("the copy cannot be configured")


def build(tests, files):
    """The program and the tests that are wanted, without a mutant."""
    wanted = sorted({test for path in files for test in tests.of(path, everything=True)})
    if not run(["cmake", "--build", "build", "-j", CORES, "--target", "dpmf", "dpmf-manpages",
                *wanted], 7200):
        sys.exit("the copy does not build")
    # Without what debuggers want, tests are linked in half the time.
    run(["strip", "-g", "build/libdpmf.a"])


def check_unchanged(tests, files):
    """Without a mutant everything passes, or the figure would mean nothing."""
    for path in files:
        for test in tests.of(path):
            if test not in tests.seconds and not tests.passes(test, None):
                sys.exit(f"{test} fails without any mutant")
    if not tests.links("dpmf", None):
        sys.exit("dpmf cannot be linked")
    rooms = {"/".join(path.split("/")[:2]) for path in files}
    for goldens in sorted({name for room in rooms for name in GOLDENS.get(room, ())}):
        if goldens not in tests.seconds:
            if not run(["tests/cli/run.sh", "build/dpmf", goldens], 600):
                sys.exit(f"tests/cli {goldens} fails without any mutant")
            tests.seconds[goldens] = 0
    with open(TIMES, "w", encoding="utf-8") as file:
        json.dump(tests.seconds, file)


def rows(table):
    if not os.path.exists(table):
        return []
    with open(table, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(table):
    os.makedirs(os.path.dirname(TABLE), exist_ok=True)
    with open(TABLE + ".new", "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, [*KNOWN_BY, "killed_by"], lineterminator="\n")
        out.writeheader()
        out.writerows(table)
    os.replace(TABLE + ".new", TABLE)


def mutants_below(top, seed):
    """All of a folder, in the random order of the seed."""
    files = sorted(
        os.path.relpath(os.path.join(folder, name), COPY)
        for folder, _, names in os.walk(os.path.join(COPY, top)) for name in names
        if name.endswith(".c"))
    mutants = [(path, mutant) for path in files for mutant in mutants_of(path)]
    random.Random(f"{seed} {top}").shuffle(mutants)
    return mutants


def in_turns(lists):
    """One of each list, then the next of each: any number of the first has as many of each."""
    return [entry for entries in itertools.zip_longest(*lists) for entry in entries if entry]


def chosen_mutants(options, table):
    """Those of the sample that were not tried yet, or, with --again, those that survived."""
    everything = in_turns([mutants_below(top, options.seed) for top in options.folders])
    def known(path, mutant):
        return tuple(described(path, *mutant).values())

    if options.again:
        survived = {tuple(row[key] for key in KNOWN_BY) for row in table
                    if row["killed_by"] == "survived"}
        survived -= {tuple(row[key] for key in KNOWN_BY) for row in rows(EXPLAINED)}
        return [(path, mutant) for path, mutant in everything if known(path, mutant) in survived]
    tried = {tuple(row[key] for key in KNOWN_BY) for row in table}
    return [(path, mutant) for path, mutant in everything[:options.mutants]
            if known(path, mutant) not in tried]


def try_mutant(tests, path, mutant):
    begin, end, new = mutant
    text = read(path)
    try:
        with open(os.path.join(COPY, path), "w", encoding="utf-8") as source:
            source.write(text[:begin] + new + text[end:])
        return tests.killer(path)
    finally:
        with open(os.path.join(COPY, path), "w", encoding="utf-8") as source:
            source.write(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--folders", nargs="+",
                        default=["lib/random", "lib/privacy", "lib/mechanisms"])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the copy is put back first
    if not options.keep:
        make_copy()
    table = rows(TABLE)
    chosen = chosen_mutants(options, table)
    tests, files = Tests(), sorted({path for path, _ in chosen})
    build(tests, files)
    check_unchanged(tests, files)
    end = time.monotonic() + 60 * options.minutes
    for path, mutant in chosen:
        if time.monotonic() > end:
            break
        found = try_mutant(tests, path, mutant)
        if found == "compiler":
            continue
        row = {**described(path, *mutant), "killed_by": found or "survived"}
        table = [old for old in table if any(old[key] != row[key] for key in KNOWN_BY)] + [row]
        write_rows(table)
        print(f"{path}:{row['line']}:{row['column']}: {row['change']}: {found or 'SURVIVED'}",
              flush=True)
    subprocess.run([sys.executable,
                    os.path.join(ROOT, "scripts", "testing_page.py"), "mutants"], check=True)


main()
