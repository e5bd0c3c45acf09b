#!/usr/bin/env python3
"""dpmf's accountant against another's: Google's dp-accounting (pip install dp-accounting), which
dpmf neither contains nor calls.

    tests/audit/check_accountant.py DPMF [RELEASE ...]

For a grid of epsilon and delta, the mu that dpmf allows (dpmf privacy plan --json) must keep delta
by dp-accounting's formula for Gaussian noise, and a mu larger by 1e-6 of itself must not: dpmf
gives away nothing else. Of every RELEASE the rounds that its statement lists are composed by
dp-accounting's privacy loss distributions, and the epsilon must not be above the one that is
claimed. The last line is "N passed, N failed".
"""
import json
import struct
import subprocess
import sys

from dp_accounting import dp_event
from dp_accounting.pld import pld_privacy_accountant, privacy_loss_mechanism

EPSILONS = [0.01, 0.1, 0.5, 1, 2, 3, 5, 10, 20, 50]
DELTAS = [1e-4, 1e-5, 1e-6, 1e-8, 1e-10]

counts = {True: 0, False: 0}
slackest = 0.0


def verdict(ok, what):
    counts[bool(ok)] += 1
    if not ok:
        print("FAILED:", what)


def delta_of(mu, epsilon):
    return privacy_loss_mechanism.GaussianPrivacyLoss(1 / mu).get_delta_for_epsilon(epsilon)


def check_grid(dpmf):
    global slackest
    for delta in DELTAS:
        plan = subprocess.run([
            dpmf, "privacy", "plan", "--users", "100", "--items", "100", "--ratings-per-user", "20",
            "--json", "--epsilon", ",".join(map(str, EPSILONS)), "--delta",
            repr(delta)
        ], check=True, capture_output=True, text=True).stdout
        for line in plan.splitlines():
            row = json.loads(line)
            epsilon, mu = row["epsilon"], row["mu"]
            theirs, more = delta_of(mu, epsilon), delta_of(mu * (1 + 1e-6), epsilon)
            slackest = max(slackest, 1 - theirs / delta)
            verdict(theirs <= delta * (1 + 1e-9),
                    f"epsilon {epsilon} delta {delta}: mu {mu} has delta {theirs}")
            verdict(more > delta, f"epsilon {epsilon} delta {delta}: mu {mu} could be larger")


def statement_of(path):
    with open(path, "rb") as file:
        (n,) = struct.unpack("<Q", file.read(8))
        return json.loads(json.loads(file.read(n))["__metadata__"]["dpmf.statement"])


def check_release(path):
    statement = statement_of(path)
    accountant = pld_privacy_accountant.PLDAccountant(value_discretization_interval=1e-4)
    for release in statement["releases"]:
        accountant.compose(dp_event.GaussianDpEvent(release["sigma"] / 2 ** release["bits"]))
    theirs = accountant.get_epsilon(statement["delta"])
    print(
        f"{path}: {len(statement['releases'])} rounds, epsilon {theirs:.6f} by dp-accounting, "
        f"{statement['epsilon']} claimed"
    )
    # Their distributions are rounded up, by half a step of 1e-4 a round at most.
    verdict(theirs <= statement["epsilon"] + 1e-4 * len(statement["releases"]), path)


check_grid(sys.argv[1])
for release in sys.argv[2:]:
    check_release(release)
print(f"largest relative distance to the delta allowed: {slackest:.2e}")
print(f"{counts[True]} passed, {counts[False]} failed")
sys.exit(counts[False] > 0)
