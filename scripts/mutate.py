#!/usr/bin/env python3
"""Puts small faults into the code, one at a time, and runs the tests: one that no test notices
shows what is not tested.

    scripts/mutate.py [--mutants 100] [--seed 1] [--folders lib/random lib/privacy lib/mechanisms]
    [--keep]

A mutant changes one token or removes one statement. It is compiled in a copy of the tree,
build/mutants, and tried with the unit tests that include the headers of its folder, then with the
golden tests of private releases. The results are added to docs/testing/mutants.csv (file, line,
change, killed by what, or survived), and the table of docs/testing.md is made anew. --keep
continues with a copy that is there.

Survivors are for a person to look at: either the change makes no difference, or a test is missing.
"""

import argparse
import csv
import os
import random
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPY = os.path.join(ROOT, "build", "mutants")
CORES = os.environ.get("JOBS") or str(os.cpu_count() or 2)

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|^\s*\#(?:\\\n|[^\n])*)
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


def mutants_of(path):
    """Every (begin, end, replacement) in a file."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    for match in TOKEN.finditer(text):
        if match["op"] in SWAPS:
            yield match.start(), match.end(), SWAPS[match["op"]]
        elif match["number"]:
            yield match.start(), match.end(), str(int(match["number"]) + 1)
    for match in STATEMENT.finditer(text):
        yield match.start(), match.end(), ";"


def run(command, seconds=600):
    """@return whether it ended well"""
    try:
        return subprocess.run(command, cwd=COPY, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds,
                              check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def tests_of(path):
    """The unit tests of a file: those that include its header, then those that include one of its
    folder."""
    header, folder = re.sub(r"^lib/(.*)\.c$", r"\1.h", path), os.path.dirname(path)[len("lib/"):]
    own, near = [], []
    for name in sorted(os.listdir(os.path.join(ROOT, "tests", "unit"))):
        if not re.fullmatch(r"test_\w+\.c", name):
            continue
        with open(os.path.join(ROOT, "tests", "unit", name), encoding="utf-8") as file:
            text = file.read()
        if f'"{header}"' in text:
            own.append(name[:-2])
        elif f'"{folder}/' in text:
            near.append(name[:-2])
    return own + near


def killer(path):
    """What notices the mutant that is in the copy now, or None."""
    build = ["cmake", "--build", "build", "-j", CORES, "--target"]
    for test in tests_of(path):
        if not run(build + [test]):
            return "compiler"
        if not run([f"build/tests/unit/{test}"]):
            return test
    if not run(build + ["dpmf"]):
        return "compiler"
    if not run(["tests/cli/run.sh", "build/dpmf", "private/*"]):
        return "tests/cli private"
    return None


def make_copy():
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE,
                           check=True).stdout.decode().split("\0")
    for name in filter(None, files):
        target = os.path.join(COPY, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, name), target)
    if not run(["cmake", "--preset", "release", "-DDPMF_TESTS=ON", "-DDPMF_WEB=OFF"], 3600):
        sys.exit("the copy cannot be configured")


def check_unchanged(files):
    """Without a mutant everything passes, or the figure would mean nothing."""
    if not run(["cmake", "--build", "build", "-j", CORES, "--target", "dpmf", "tests"], 7200):
        sys.exit("the copy does not build")
    for path in files:
        found = killer(path)
        if found:
            sys.exit(f"{found} fails without any mutant")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", nargs="+",
                        default=["lib/random", "lib/privacy", "lib/mechanisms"])
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if not options.keep:
        shutil.rmtree(COPY, ignore_errors=True)
        make_copy()
    files = sorted(
        os.path.relpath(os.path.join(folder, name), ROOT) for top in options.folders
        for folder, _, names in os.walk(os.path.join(ROOT, top)) for name in names
        if name.endswith(".c"))
    all_mutants = [(path, mutant) for path in files for mutant in mutants_of(path)]
    random.Random(options.seed).shuffle(all_mutants)
    chosen = all_mutants[:options.mutants]
    check_unchanged(sorted({path for path, _ in chosen})[:3])
    table = os.path.join(ROOT, "docs", "testing", "mutants.csv")
    os.makedirs(os.path.dirname(table), exist_ok=True)
    is_new = not os.path.exists(table)
    with open(table, "a", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        if is_new:
            out.writerow(["file", "line", "change", "killed_by"])
        for path, (begin, end, new) in chosen:
            with open(os.path.join(ROOT, path), encoding="utf-8") as source:
                text = source.read()
            line = (
                text.count("\n", 0, begin + len(text[begin:end]) - len(text[begin:end].lstrip())) +
                1)
            with open(os.path.join(COPY, path), "w", encoding="utf-8") as source:
                source.write(text[:begin] + new + text[end:])
            found = killer(path)
            with open(os.path.join(COPY, path), "w", encoding="utf-8") as source:
                source.write(text)
            if found == "compiler":
                continue
            change = f"{' '.join(text[begin:end].split())} -> {new}"
            out.writerow([path, line, change, found or "survived"])
            file.flush()
            print(f"{path}:{line}: {change}: {found or 'SURVIVED'}", flush=True)
    subprocess.run([sys.executable,
                    os.path.join(ROOT, "scripts", "testing_page.py"), "mutants"], check=True)


main()
