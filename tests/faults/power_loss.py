"""What a loss of power would leave of every verb that writes: disk_record.c records what a run does
to the disk, and this takes the power away after each step of the record, in every way that a disk
may have kept it.

    power_loss.py DPMF RECORD_LIBRARY DRAWS [--no-flushes]

What was flushed (fsync) is on the disk. Of what was written to a file since, any part may be; of
the names made, renamed and removed in a directory since it was flushed, those up to any moment, in
their order, whatever became of the bytes behind them. So after each step there are the two
extremes, nothing more than was flushed and everything, and DRAWS states at random.

In each of them every output must be old, new or absent (verbs.py), and where the run had ended
well, it must be whole even if nothing more was kept than what it flushed. The same command must
succeed afterwards. Of a private release: what is there verifies and is in the ledger, and the
ledger can be read. --no-flushes takes no flush for one: the outputs of all verbs are then lost,
which shows that the test can tell. The last line is "N passed, N failed".
"""

import hashlib
import json
import os
import random
import shutil
import sys

from verbs import Workshop, verbs

LIBRARY = os.path.abspath(sys.argv[2])
DRAWS = int(sys.argv[3])
FLUSHES = "--no-flushes" not in sys.argv[4:]

random.seed(20261117)


class Record:
    """The steps of a run, read from its log."""

    def __init__(self, path):
        with open(path, "rb") as file:
            text = file.read()
        self.steps, at = [], 0
        while at < len(text):
            end = text.index(b"\n", at)
            words = text[at:end].decode().split(" ", 2)
            at = end + 1
            if words[0] == "W":
                offset, n = map(int, words[2].split())
                self.steps.append(("W", int(words[1]), offset, text[at:at + n]))
                at += n
            elif words[0] == "T":
                self.steps.append(("T", int(words[1]), int(words[2])))
            elif words[0] == "S":
                self.steps.append(("S", int(words[1])))
            elif words[0] in "ND":
                self.steps.append((words[0], int(words[1]), words[2]))
            elif words[0] == "R":
                end = text.index(b"\n", at)
                self.steps.append(("R", " ".join(words[1:]), text[at + 2:end].decode()))
                at = end + 1
            else:
                self.steps.append(("U", " ".join(words[1:])))


def changed(content, step):
    """A file's bytes after a write or a cut."""
    if step[0] == "T":
        return content[:step[2]] + bytes(max(0, step[2] - len(content)))
    _, _, offset, data = step
    content = content + bytes(max(0, offset - len(content)))
    return content[:offset] + data + content[offset + len(data):]


class Disk:
    """A folder: what is on the disk for sure, and what else may be."""

    def __init__(self, root):
        self.root = root
        self.flushed, self.pending = {}, {}  # of files: inode to bytes; inode to steps since
        # path to (inode, is a directory); inode of a directory to its steps since
        self.names, self.changes = {}, {}
        self.directories = {root: os.stat(root).st_ino}
        for folder, folders, files in os.walk(root):
            for name in folders + files:
                path = os.path.join(folder, name)
                inode = os.lstat(path).st_ino
                self.names[path] = (inode, name in folders)
                if name in folders:
                    self.directories[path] = inode
                else:
                    with open(path, "rb") as file:
                        self.flushed[inode] = file.read()

    def is_inside(self, path):
        return path.startswith(self.root + "/")

    def take(self, step):
        kind = step[0]
        if kind in "WT":
            self.pending.setdefault(step[1], []).append(step)
        elif kind == "S":
            for change in self.pending.pop(step[1], []):
                self.flushed[step[1]] = changed(self.flushed.get(step[1], b""), change)
            for change in self.changes.pop(step[1], []):
                apply_name(self.names, change)
        elif self.is_inside(step[-1]):
            above = self.directories[os.path.dirname(step[-1])]
            self.changes.setdefault(above, []).append(step)
            if kind == "D":
                self.directories[step[2]] = step[1]
            if kind == "R" and step[1] in self.directories:
                self.rename_directory(step[1], step[2])

    def rename_directory(self, old, new):
        for path in list(self.directories):
            if path == old or path.startswith(old + "/"):
                self.directories[new + path[len(old):]] = self.directories.pop(path)

    def after_loss(self, keep):
        """@return path to bytes, None for a directory; keep(steps) chooses what else became of
        them"""
        names = dict(self.names)
        for steps in self.changes.values():
            for change in keep_names(steps, keep):
                apply_name(names, change)
        found = {}
        for path, (inode, is_directory) in names.items():
            content = self.flushed.get(inode, b"")
            for change in keep(self.pending.get(inode, [])):
                content = changed(content, change)
            found[path] = None if is_directory else content
        return {
            path: content for path, content in found.items() if has_parents(path, names, self.root)
        }


def has_parents(path, names, root):
    above = os.path.dirname(path)
    return above == root or (above in names and has_parents(above, names, root))


def keep_names(steps, keep):
    """Names are kept in their order: those up to the last that is kept."""
    kept = keep(steps)
    return steps[:steps.index(kept[-1]) + 1] if kept else []


def apply_name(names, step):
    kind = step[0]
    if kind in "ND":
        names[step[2]] = (step[1], kind == "D")
    elif kind == "U":
        names.pop(step[1], None)
    elif step[1] in names:
        moved = {
            path: names[path] for path in names if path == step[1] or path.startswith(step[1] + "/")
        }
        for path, entry in moved.items():
            del names[path]
            names[step[2] + path[len(step[1]):]] = entry


KEEPS = ([lambda steps: [], lambda steps: list(steps)] +
         [lambda steps: [s for s in steps if random.random() < 0.5]] * DRAWS)


def lay_out(state, root, place):
    """Makes the folder that a loss of power left."""
    shutil.rmtree(place, ignore_errors=True)
    os.mkdir(place)
    for path in sorted(state):
        there = os.path.join(place, os.path.relpath(path, root))
        if state[path] is None:
            os.makedirs(there, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(there), exist_ok=True)
            with open(there, "wb") as file:
                file.write(state[path])
            os.chmod(there, 0o600)


def fingerprint(state):
    return hashlib.sha256(repr(sorted(state.items(), key=lambda pair: pair[0])).encode()).digest()


def recorded(shop, arguments, place):
    log = os.path.join(shop.folder, "record.log")
    if os.path.exists(log):
        os.remove(log)
    status, _, messages = shop.run(arguments, place, LD_PRELOAD=LIBRARY, RECORD_LOG=log)
    if status != 0:
        raise SystemExit(f"{' '.join(arguments)}: {messages}")
    return [step for step in Record(log).steps if FLUSHES or step[0] != "S"]


def losses(shop, arguments, place):
    """Every state that a loss of power during the command may leave, once each: (what happened,
    state, whether it had ended)."""
    disk = Disk(place)
    steps = recorded(shop, arguments, place)
    seen = set()
    for i in range(len(steps) + 1):
        for keep in KEEPS:
            state = disk.after_loss(keep)
            key = (fingerprint(state), i == len(steps))
            if key not in seen:
                seen.add(key)
                yield f"after step {i} of {len(steps)}", state, i == len(steps)
        if i < len(steps):
            disk.take(steps[i])


def try_verb(shop, verb, over):
    """@return how many states there were, and what was wrong"""
    found, n_states = [], 0
    place, after = verb.place(over), os.path.join(shop.folder, "after")
    for name, state, has_ended in losses(shop, verb.arguments(1, 1), place):
        n_states += 1
        lay_out(state, place, after)
        wrong = verb.fault(after, over)
        if not wrong and has_ended and not verb.is_whole(after):
            wrong = "it had ended well, and its output is not all there"
        wrong = wrong or verb.again(after)
        if wrong:
            found.append(f"{name}: {wrong}")
    return n_states, found


def try_release(shop):
    """Three private releases into one ledger, the power lost during the last."""
    place, after = os.path.join(shop.folder, "release"), os.path.join(shop.folder, "after")
    os.mkdir(place)
    shop.must(["ledger", "init", "ledger"], place)

    def command(n):
        return [
            "train", "-q", f"{shop.inputs}/p0.dpr",
            "--replace", "--epsilon", "0.1", "--rating-range", "1:5",
            "--catalogue", f"{shop.inputs}/items.csv", "--population", "people", "--ledger",
            "ledger", "-o", f"out{n}.safetensors"
        ]

    for n in range(2):
        shop.must(command(n), place)
    found, n_states = [], 0
    for name, state, has_ended in losses(shop, command(2), place):
        n_states += 1
        lay_out(state, place, after)
        wrong = release_fault(shop, after, has_ended)
        if wrong:
            found.append(f"{name}: {wrong}")
    return n_states, found


def release_fault(shop, place, has_ended):
    status, output, messages = shop.run(["ledger", "show", "--ledger", "ledger", "--json"], place)
    if status != 0:
        return f"the ledger cannot be read: {messages.strip()}"
    entries = {
        entry["release"]: entry["state"] for entry in map(json.loads,
                                                          output.decode().splitlines())
        if entry["event"] == "release"
    }
    for n in range(3):
        path = f"out{n}.safetensors"
        if not os.path.exists(os.path.join(place, path)):
            if n < 2 or has_ended:
                return f"{path} is gone"
            continue
        status, output, messages = shop.run(["privacy", "show", path, "--json"], place)
        if status != 0 or shop.run(["privacy", "verify", path], place)[0] != 0:
            return f"{path} does not verify: {messages.strip()}"
        state = entries.get(json.loads(output)["release_id"])
        if state not in ("committed", "reserved") or (has_ended and state != "committed"):
            return f"the ledger has {path} as {state}"
    return None


passed = failed = total = 0
shop = Workshop(sys.argv[1])


def judge(name, n_states, found):
    global passed, failed, total
    total += n_states
    if found or n_states < 4:
        failed += 1
        print(f"FAILED: {name}: {len(found)} of {n_states} states")
        for text in found[:5]:
            print(f"    {text}")
    else:
        passed += 1


try:
    for verb in verbs():
        verb.prepare(shop)
        for over in (False, True) if verb.over else (False,):
            judge(f"{verb.name}{' over older outputs' if over else ''}",
                  *try_verb(shop, verb, over))
    judge("train --epsilon", *try_release(shop))
finally:
    shop.remove()
print(f"{total} states after a loss of power")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
