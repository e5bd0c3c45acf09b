"""Runs every verb under calls of the system that fail (fault_inject.c), seed by seed, and looks at
what it says and leaves.

    faults.py DPMF INJECT_LIBRARY SEEDS [FIRST_SEED]

- Whatever fails, the program ends by itself, within a minute, with one of its exit statuses and
never as a bug of its own (70).
- Status 0 means that everything is as in an undisturbed run: every output file, every byte on
standard output.
- Any other status leaves every output old, new or absent (verbs.py), and the same command succeeds
afterwards.
- A private release that is there verifies and is in the ledger, with all that was there before; the
ledger can always be read.

SEEDS is the number of seeds for each verb; what they were, and what failed, is printed. The last
line is "N passed, N failed".
"""

import json
import os
import subprocess
import sys

from verbs import Workshop, verbs

LIBRARY = os.path.abspath(sys.argv[2])
SEEDS = int(sys.argv[3])
FIRST = int(sys.argv[4]) if len(sys.argv) > 4 else 1
STATUSES = (0, 1, 2, 3, 4, 5, 6)


class Faults:
    """Runs commands under faults; counts runs and those in which something failed."""

    def __init__(self, shop):
        self.shop, self.n_runs, self.n_faulty, self.kinds = shop, 0, 0, {}

    def run(self, arguments, place, seed):
        """@return exit status or None when it did not end, standard output, messages"""
        log = os.path.join(self.shop.folder, "faults.log")
        if os.path.exists(log):
            os.remove(log)
        process = self.shop.start(arguments, place, FAULT_SEED=str(seed), FAULT_LOG=log,
                                  LD_PRELOAD=LIBRARY)
        try:
            output, messages = process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None, b"", "did not end"
        self.n_runs += 1
        if os.path.exists(log):
            with open(log, encoding="ascii") as file:
                failed = file.read()
            self.n_faulty += 1 if failed else 0
            for letter in failed:
                self.kinds[letter] = self.kinds.get(letter, 0) + 1
        return process.returncode, output, messages.decode(errors="replace")


def bad_end(status, messages):
    if status is None:
        return "it did not end"
    if status not in STATUSES:
        return f"it ended with status {status}: {messages.strip()}"
    if status != 0 and "dpmf: error:" not in messages:
        return f"it ended with status {status} and no error: {messages.strip()!r}"
    return None


def try_writer(faults, verb, seed):
    over = bool(verb.over and seed % 2)
    place = verb.place(over)
    status, _, messages = faults.run(verb.arguments(1, 1 + seed % 3), place, seed)
    wrong = bad_end(status, messages)
    if not wrong and status == 0 and not verb.is_whole(place):
        return "status 0, and the output is not what it should be"
    return wrong or verb.fault(place, over) or verb.again(place)


READERS = [
    "describe {inputs}/0.dpr --json",
    "describe {inputs}/0.csv --json",
    "describe {inputs}/0.safetensors --json",
    "evaluate {inputs}/0.safetensors {inputs}/1.dpr --history {inputs}/0.dpr --ranking --json",
    "evaluate {inputs}/r0.safetensors {inputs}/1.dpr --history {inputs}/0.dpr --json",
    "recommend {inputs}/0.safetensors --user 5 --history {inputs}/0.dpr --json",
    "recommend {inputs}/r0.safetensors --ratings 3:5,7:1 --catalogue {inputs}/items.csv",
    "explain {inputs}/r0.safetensors --ratings 3:5,7:1 --item 9",
    "similar {inputs}/0.safetensors --item 9",
    "predict {inputs}/0.safetensors {inputs}/1.csv",
    "privacy show {inputs}/r0.safetensors",
    "privacy verify {inputs}/r0.safetensors",
    "privacy account --epsilon 1",
    "export {inputs}/0.dpr --csv -",
    "ledger show --json",
]


def try_reader(faults, words, expected, seed):
    status, output, messages = faults.run(words, faults.shop.inputs, seed)
    wrong = bad_end(status, messages) if status != 1 else None
    if not wrong and status == 0 and output != expected:
        return f"status 0, and the output is not what it should be: {messages.strip()}"
    if not wrong and status == 1 and not messages.strip():
        return "status 1 without a word"
    return wrong


class Releases:
    """Private releases under faults, into one ledger that must never forget."""

    def __init__(self, shop):
        self.shop = shop
        self.place = os.path.join(shop.folder, "releases")
        os.mkdir(self.place)
        self.ledger = os.path.join(self.place, "ledger")
        shop.must(["ledger", "init", self.ledger], self.place)
        self.known = {}

    def entries(self):
        lines = self.shop.must(["ledger", "show", "--ledger", self.ledger, "--json"],
                               self.place).decode().splitlines()
        return {
            entry["release"]: entry["state"] for entry in map(json.loads, lines)
            if entry["event"] == "release"
        }

    def try_one(self, faults, seed):
        path = os.path.join(self.place, "out.safetensors")
        if os.path.exists(path):
            os.remove(path)
        status, _, messages = faults.run([
            "train", "-q", f"{self.shop.inputs}/p0.dpr",
            "--replace", "--epsilon", "0.1", "--rating-range",
            "1:5", "--catalogue", f"{self.shop.inputs}/items.csv", "--population", "people",
            "--ledger", self.ledger, "-o", path, "-j", "2"
        ], self.place, seed)
        before, self.known = self.known, self.entries()
        wrong = bad_end(status, messages)
        if wrong:
            return wrong
        said = " ".join(messages.split())
        lost = [release for release in before if release not in self.known]
        if lost:
            return f"the ledger has forgotten {lost[0]}"
        if not os.path.exists(path):
            return "status 0, and no release" if status == 0 else None
        verified, output, messages = self.shop.run(["privacy", "verify", path, "--json"],
                                                   self.place)
        shown, output, _ = self.shop.run(["privacy", "show", path, "--json"], self.place)
        if verified != 0 or shown != 0:
            return f"there is a release that does not verify: {messages.strip()}"
        release = json.loads(output)["release_id"]
        if release not in self.known or self.known[release] not in ("committed", "reserved"):
            return f"there is a release that the ledger does not know: {release}"
        if status == 0 and self.known[release] != "committed":
            return "status 0, and the release is not committed"
        if self.known[release] == "reserved" and ("published, and its reservation in the ledger "
                                                  "counts as spent: do not return it" not in said):
            return f"there is a release, and no word of it: {said}"
        return None


passed = failed = 0
shop = Workshop(sys.argv[1])
faults = Faults(shop)


def judge(name, attempt):
    """Runs attempt(seed) for every seed."""
    global passed, failed
    found = []
    for seed in range(FIRST, FIRST + SEEDS):
        wrong = attempt(seed)
        if wrong:
            found.append(f"seed {seed}: {wrong}")
    if found:
        failed += 1
        print(f"FAILED: {name}: {len(found)} of {SEEDS} seeds")
        for text in found[:5]:
            print(f"    {text}")
    else:
        passed += 1


try:
    for verb in verbs():
        verb.prepare(shop)
        judge(verb.name, lambda seed, verb=verb: try_writer(faults, verb, seed))
    for reader in READERS:
        words = reader.format(inputs=shop.inputs).split()
        expected = shop.must(words, shop.inputs)
        judge(
            reader.split(" {")[0],
            lambda seed, words=words, expected=expected: try_reader(faults, words, expected, seed))
    releases = Releases(shop)
    judge("train --epsilon", lambda seed: releases.try_one(faults, seed))
finally:
    shop.remove()
names = {
    "m": "memory", "r": "read", "w": "write", "f": "flush", "n": "rename", "o": "open", "p": "map",
    "t": "thread", "h": "random", "c": "clock"
}
print(f"{faults.n_runs} runs, something failed in {faults.n_faulty}; failed calls: " +
      ", ".join(f"{names[letter]} {n}"
                for letter, n in sorted(faults.kinds.items(), key=lambda pair: -pair[1])))
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
