"""Kills every verb that writes, at every thing that it does to the disk, and looks at what is there
afterwards (tests/faults/verbs.py says what must be).

    kills.py DPMF KILL_AT_LIBRARY [KILLS [VERB]]

KILLS is how many kills a verb gets at most; 0: one at every moment, with one thread and with three,
and at random times until there are 200. VERB tries one of them alone. The last line is "N passed, N
failed".
"""

import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))
from verbs import Workshop, verbs  # noqa: E402 (found by the line above)

LIBRARY = os.path.abspath(sys.argv[2])
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 0
ONLY = sys.argv[4] if len(sys.argv) > 4 else None
LONG = 200

random.seed(20261117)


class Killer:
    """Kills one verb again and again."""

    def __init__(self, verb, shop, over):
        self.verb, self.shop, self.over = verb, shop, over

    def is_killed(self, place, at=None, after=None, threads=1):
        """Runs it, killed at its at-th moment or after so many seconds. @return whether that came
        in time"""
        environment = {} if at is None else {"KILL_AT": str(at), "LD_PRELOAD": LIBRARY}
        process = self.shop.start(self.verb.arguments(1, threads), place, **environment)
        if after is not None:
            time.sleep(after)
            process.kill()
        process.communicate()
        return process.returncode == -signal.SIGKILL

    def try_all(self):
        """@return how often it was killed, and what was wrong then"""
        faults, killed = [], 0
        moments = self.count()
        step = max(1, -(-moments // KILLS)) if KILLS else 1
        plan = [(at, None, 1) for at in range(1, moments + 1, step)]
        if not KILLS and self.verb.threads:
            plan += [(at, None, 3) for at in range(1, moments + 1)]
        tried = 0
        while tried < len(plan) or (not KILLS and killed < LONG):
            at, after, threads = (plan[tried] if tried < len(plan) else self.random_kill(
                moments, tried))
            tried += 1
            place = self.verb.place(self.over)
            if not self.is_killed(place, at, after, threads):
                continue
            killed += 1
            wrong = self.verb.fault(place, self.over) or self.verb.again(place)
            if wrong:
                faults.append(f"killed at {at or after}: {wrong}")
        return killed, faults

    def random_kill(self, moments, tried):
        """By the clock and by count in turns: the clock also meets what is no call, and often comes
        too late."""
        if tried % 2:
            return None, random.uniform(0, self.seconds), 1
        return random.randint(1, moments), None, 1

    def count(self):
        """How many moments there are, found by doubling and halving."""
        low, high = 0, 1
        started = time.monotonic()
        self.shop.must(self.verb.arguments(1, 1), self.verb.place(self.over))
        self.seconds = time.monotonic() - started
        while self.is_killed(self.verb.place(self.over), high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if self.is_killed(self.verb.place(self.over), middle):
                low = middle
            else:
                high = middle
        return low


passed = failed = total = 0
shop = Workshop(sys.argv[1])
try:
    for verb in verbs(ONLY):
        verb.prepare(shop)
        for over in (False, True) if verb.over else (False,):
            killed, faults = Killer(verb, shop, over).try_all()
            total += killed
            enough = killed >= (min(KILLS, 4) if KILLS else LONG)
            name = f"{verb.name}{' over older outputs' if over else ''}"
            if faults or not enough:
                failed += 1
                print(f"FAILED: {name}: {len(faults)} of {killed} kills")
                for text in faults[:5]:
                    print(f"    {text}")
            else:
                passed += 1
                if not KILLS:
                    print(f"{name}: {killed} kills")
finally:
    shop.remove()
print(f"{total} kills")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
