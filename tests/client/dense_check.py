"""Lists of the client library against a dense solve in double: dense_check.py RELEASE RATINGS
LISTS.

RATINGS has "user item rating" a line, LISTS "user item score" a line, best first, as client_lists
prints them. Scores must agree to 1e-4 and the order of every list exactly. Says how far off the
worst score is."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "home"))
from release_file import Release  # noqa: E402

CLOSE = 1e-4

release = Release(sys.argv[1])


def groups(path):
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            user, item, number = line.split()
            found.setdefault(user, []).append((item, float(number)))
    return found


ratings, lists = groups(sys.argv[2]), groups(sys.argv[3])
assert lists and lists.keys() == ratings.keys(), "not the lists of these users"
worst = 0.0
for user, own in ratings.items():
    own = {release.number[item]: rating for item, rating in own if item in release.number}
    scores = release.scores(list(own), list(own.values()))
    order = np.lexsort((np.arange(len(scores)), -scores))[: len(lists[user])]
    found = [release.number[item] for item, _ in lists[user]]
    assert list(order) == found, f"user {user}: {found} and not {list(order)}"
    worst = max(worst,
                max(abs(scores[release.number[item]] - score) for item, score in lists[user]))
assert worst < CLOSE, f"a score is {worst} off"
print(
    f"{len(lists)} users, {len(release.ids)} items, k = {release.factors.shape[1]}: the worst "
    f"score is {worst:.2g} off"
)
