"""Kills every verb that writes, at every thing that it does to the disk, and looks at what is there afterwards.

    kills.py DPMF KILL_AT_LIBRARY [KILLS]

Each case is tried where there is nothing yet and, where it may write over older outputs, over those of another input. After a kill
every output must be old, new or absent; no two outputs may be one old and one new (where one of them is of no use without
the other, as long as it is there); and the same command run
again must succeed, or refuse because everything is there, and leave exactly what a run that was never killed leaves. KILLS is how many
kills a case gets at most; 0: one at every moment, with one thread and with three, and at random times until there are 200.
The last line is "N passed, N failed".
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DPMF, LIBRARY = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 0
LONG = 200

os.environ.update(LC_ALL="C.UTF-8")
# In memory where that can be had: flushing tells a killed process nothing, and takes most of the time on a disk.
work = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None)
os.environ["XDG_STATE_HOME"] = os.path.join(work, "state")
random.seed(20261117)


def run(arguments, place, at=None, after=None):
    """The exit status of the command, killed at its at-th moment or after so many seconds."""
    environment = dict(os.environ)
    if at is not None:
        environment.update(KILL_AT=str(at), LD_PRELOAD=LIBRARY)
    process = subprocess.Popen([DPMF, *arguments], cwd=place, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if after is not None:
        time.sleep(after)
        process.kill()
    _, messages = process.communicate()
    run.said = messages.decode(errors="replace")
    return process.returncode


def must(arguments, place):
    if run(arguments, place) != 0:
        raise SystemExit(f"{' '.join(arguments)}: {run.said}")


def files(place):
    """What is there under names of its own: relative path to bytes. Empty files count as absent."""
    found = {}
    for folder, _, names in os.walk(place):
        for name in names:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, place)
            if not any(part.startswith(".") for part in relative.split("/")) and os.path.getsize(path):
                with open(path, "rb") as file:
                    found[relative] = file.read()
    return found


def hidden(place):
    return [name for folder, folders, names in os.walk(place) for name in folders + names if name.startswith(".")]


class Case:
    """command: of one run, in a folder of its own; {} stands for the number of the input. last: of several outputs the one
    that makes sense of the others: where it is, everything must be."""

    def __init__(self, name, command, over=True, last=None, threads=False):
        self.name, self.command, self.over, self.last, self.threads = name, command, over, last, threads

    def arguments(self, number, threads=None):
        words = [word.format(number, inputs=inputs) for word in self.command]
        return words + (["-j", str(threads)] if threads and self.threads else [])

    def prepare(self, over):
        place = os.path.join(work, "place")
        shutil.rmtree(place, ignore_errors=True)
        if over:
            shutil.copytree(self.whole[0], place)
        else:
            os.mkdir(place)
        return place

    def fault(self, place, over):
        """What is wrong with what a killed run left, or None."""
        old, new, there = files(self.whole[0]) if over else {}, files(self.whole[1]), files(place)
        is_old = [name for name in there if there[name] == old.get(name) and there[name] != new.get(name)]
        is_new = [name for name in there if there[name] == new.get(name) and there[name] != old.get(name)]
        odd = [name for name in there if there[name] not in (old.get(name), new.get(name))]
        if odd:
            return f"{odd[0]} is neither old nor new"
        if is_old and is_new and (self.last is None or self.last in there):
            return f"{is_old[0]} is old, and {is_new[0]} is new"
        if self.last and self.last in there and there != new and there != old:
            return f"{self.last} is there, and not all that belongs to it"
        return None

    def again(self, place):
        """The same command once more. @return what is wrong, or None"""
        was_whole = files(place) == files(self.whole[1])
        status = run(self.arguments(1), place)
        if status != 0 and not (was_whole and status == 4) and not (was_whole and "already" in run.said):
            return f"the next run is refused: {run.said.strip()}"
        if files(place) != files(self.whole[1]):
            return "the next run leaves something else"
        if status == 0 and hidden(place):
            return f"the next run leaves {hidden(place)[0]}"
        return None

    def try_all(self, over):
        faults, killed = [], 0
        moments = self.count(over)
        step = max(1, -(-moments // KILLS)) if KILLS else 1
        plan = [(at, None, 1) for at in range(1, moments + 1, step)]
        if not KILLS and self.threads:
            plan += [(at, None, 3) for at in range(1, moments + 1)]
        tried = 0
        while tried < len(plan) or (not KILLS and killed < LONG):
            at, after, threads = plan[tried] if tried < len(plan) else self.random_kill(moments, tried)
            tried += 1
            place = self.prepare(over)
            if run(self.arguments(1, threads), place, at, after) != -signal.SIGKILL:
                continue
            killed += 1
            wrong = self.fault(place, over) or self.again(place)
            if wrong:
                faults.append(f"killed at {at or after}: {wrong}")
        return killed, faults

    def random_kill(self, moments, tried):
        """By the clock and by count in turns: the clock also meets what is no call, and often comes too late."""
        if tried % 2:
            return None, random.uniform(0, self.seconds), 1
        return random.randint(1, moments), None, 1

    def count(self, over):
        """How many moments there are, found by doubling and halving."""
        low, high = 0, 1
        started = time.monotonic()
        must(self.arguments(1, 1), self.prepare(over))
        self.seconds = time.monotonic() - started
        while run(self.arguments(1, 1), self.prepare(over), high) == -signal.SIGKILL:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if run(self.arguments(1, 1), self.prepare(over), middle) == -signal.SIGKILL:
                low = middle
            else:
                high = middle
        return low

    def make_whole(self):
        self.whole = []
        for number in range(2):
            place = os.path.join(work, f"whole-{number}")
            shutil.rmtree(place, ignore_errors=True)
            os.mkdir(place)
            must([word for word in self.arguments(number) if word != "--replace"], place)
            self.whole.append(place)


def make_inputs():
    """Two of everything that verbs read."""
    folder = os.path.join(work, "inputs")
    os.mkdir(folder)
    with open(os.path.join(folder, "items.csv"), "w", encoding="ascii") as file:
        file.write("item,title\n" + "".join(f"i{i},Title {i}\n" for i in range(1, 61)))
    for n in range(2):
        must(["synth", "-q", "--users", "90", "--items", "60", "--ratings", "1500", "--seed", str(n + 1), "-o", f"{n}.dpr"], folder)
        must(["export", "-q", f"{n}.dpr", "--csv", f"{n}.csv"], folder)
        must(["train", "-q", f"{n}.dpr", "-k", "4", "--epochs", "1", "--deterministic", "-o", f"{n}.safetensors"], folder)
        must(["import", "-q", f"{n}.csv", "--format", "csv", "--on-error", "skip", "-o", f"p{n}.dpr"], folder)
        must(["train", "-q", f"p{n}.dpr", "--epsilon", "2", "--rating-range", "1:5", "--catalogue", "items.csv", "--population",
              f"p{n}", "-o", f"r{n}.safetensors"], folder)
    return folder


MODEL = ["export", "-q", "{inputs}/{}.safetensors", "--not-private", "--users"]


def cases():
    return [
        Case("import", ["import", "-q", "{inputs}/{}.csv", "-o", "out.dpr"], threads=True),
        Case("synth", ["synth", "-q", "--users", "90", "--items", "60", "--ratings", "1500", "--seed", "{}", "-o", "out.dpr"]),
        Case("split", ["split", "-q", "{inputs}/{}.dpr", "--train", "a.dpr", "--test", "b.dpr"], threads=True),
        Case("split, the test set first by name", ["split", "-q", "{inputs}/{}.dpr", "--train", "z.dpr", "--test", "b.dpr"]),
        Case("shard", ["shard", "-q", "{inputs}/{}.dpr", "--parts", "5", "-o", "out"], over=False, last="out/shards.json"),
        Case("train", ["train", "-q", "{inputs}/{}.dpr", "-k", "4", "--epochs", "3", "--deterministic", "-o", "out.safetensors",
                       "--kernels", "ref"]),
        Case("train --solver ials", ["train", "-q", "{inputs}/{}.dpr", "--solver", "ials", "-k", "4", "--epochs", "2", "-o",
                                     "out.safetensors"]),
        Case("export --csv FILE", ["export", "-q", "{inputs}/{}.dpr", "--csv", "out.csv"]),
        Case("export --npy", MODEL + ["--npy", "out"], over=False),
        Case("export --csv of vectors", MODEL + ["--csv", "out"], over=False),
        Case("export --libmf", MODEL + ["--libmf", "out"], over=False, last="out"),
        Case("export --libmf --replace", MODEL + ["--libmf", "out", "--replace"], last="out"),
        Case("export --sqlite --replace", MODEL + ["--sqlite", "out.db", "--replace"]),
        Case("export --web", ["export", "-q", "{inputs}/r{}.safetensors", "--web", "out", "--catalogue", "{inputs}/items.csv"],
             over=False, last="out/index.html"),
    ]


passed = failed = total = 0
try:
    inputs = make_inputs()
    for case in cases():
        case.make_whole()
        for over in (False, True) if case.over else (False,):
            killed, faults = case.try_all(over)
            total += killed
            enough = killed >= (min(KILLS, 4) if KILLS else LONG)
            if faults or not enough:
                failed += 1
                print(f"FAILED: {case.name}{' over older outputs' if over else ''}: {len(faults)} of {killed} kills")
                for text in faults[:5]:
                    print(f"    {text}")
            else:
                passed += 1
                if not KILLS:
                    print(f"{case.name}{' over older outputs' if over else ''}: {killed} kills")
finally:
    shutil.rmtree(work, ignore_errors=True)
print(f"{total} kills")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
