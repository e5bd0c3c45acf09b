"""What dpmf computes at home against an independent dense solve in double: dense_solve.py DPMF
RELEASE RATINGS.csv USERS.

Takes USERS random users of the ratings. Recommendations must come in exactly the order of the dense
scores, which they must equal to 1e-4, as predictions, explanations and similarities must. Says
"passed: WHAT" or "FAILED: WHAT" a line."""
import csv
import json
import random
import subprocess
import sys
import tempfile

import numpy as np

from release_file import Release

TOP = 20
CLOSE = 1e-4  # what scores may differ by
TIE = 1e-11  # what the rounding of two solves in double may differ by

dpmf, release_path, ratings_path, n_users = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
release = Release(release_path)
rng = random.Random(7)


def run(*arguments, text=None):
    done = subprocess.run([dpmf, *arguments, "--quiet"], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{arguments[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def lines(*arguments, text=None):
    return [json.loads(line) for line in run(*arguments, "--json", text=text).splitlines()]


def write_csv(rows):
    file = tempfile.NamedTemporaryFile("w", dir=".", suffix=".csv", delete=False, newline="")
    with file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return file.name


def read_users():
    users = {}
    with open(ratings_path, newline="") as file:
        rows = csv.reader(file)
        assert next(rows)[:3] == ["user", "item", "rating"]
        for user, item, rating, *_ in rows:
            users.setdefault(user, []).append((item, float(rating)))
    return {id: users[id] for id in rng.sample(sorted(users), min(n_users, len(users)))}


users = read_users()
known = {id: [(i, r) for i, r in rated if i in release.number] for id, rated in users.items()}
mine = {
    id: ([release.number[i] for i, _ in rated], [r for _, r in rated])
    for id, rated in known.items()
}
dense = {id: release.scores(*own) for id, own in mine.items()}
predicted = {id: release.ratings(*own) for id, own in mine.items()}
history = write_csv([("user", "item", "rating")] + [(id, i, r) for id, rated in users.items()
                                                    for i, r in rated])


def expected_list(id, scores):
    """The best items that were not rated, equal scores in the catalogue's order."""
    scores = scores.copy()
    scores[[release.number[i] for i, _ in known[id]]] = -np.inf
    order = np.argsort(-scores, kind="stable")[: TOP + 1]
    gaps = scores[order[:-1]] - scores[order[1:]]
    assert not np.any((gaps > 0) & (gaps < TIE)), f"user {id}: a tie that rounding decides"
    return [(release.ids[i], scores[i]) for i in order[:TOP]]


def compare_list(id, found, scores=None):
    expected = expected_list(id, dense[id] if scores is None else scores)
    assert [row["item"]
            for row in found] == [item for item, _ in expected], (f"user {id}: another order")
    assert [row["rank"] for row in found] == list(range(1, len(found) + 1)), f"user {id}: ranks"
    worst = max(abs(row["score"] - score) for row, (_, score) in zip(found, expected))
    assert worst < CLOSE, f"user {id}: scores differ by {worst}"
    on_scale = np.clip(predicted[id], release.min, release.max)
    for row in found:
        assert abs(row["rating"] - on_scale[release.number[row["item"]]]) < CLOSE, (
            f"user {id}: ratings")
    return worst


def check_everyone():
    found = {}
    for row in lines("recommend", release_path, "--history", history, "-n", str(TOP)):
        found.setdefault(row["user"], []).append(row)
    assert found.keys() == users.keys(), "not the users of the history"
    worst = max(compare_list(id, rows) for id, rows in found.items())
    return f"{len(found)} users, scores within {worst:.1e}"


def check_own(ways, n):
    for id in rng.sample(sorted(users), min(n, len(users))):
        for way in ways:
            given, text = "-", None
            if way == "pairs":
                given = ",".join(f"{i}:{r}" for i, r in users[id])
            elif way == "stdin":
                text = "".join(f"{i},{r}\n" for i, r in users[id])
            else:
                given = write_csv([(id, i, r) for i, r in users[id]])
            compare_list(
                id, lines("recommend", release_path, "--ratings", given, "-n", str(TOP), text=text))
    return ""


def check_dial():
    for id in rng.sample(sorted(users), min(10, len(users))):
        pairs = ",".join(f"{i}:{r}" for i, r in users[id])
        for taste in (0, 0.25, 1):
            found = lines("recommend", release_path, "--ratings", pairs, "-n", str(TOP), "--taste",
                          str(taste))
            compare_list(id, found, release.scores(*mine[id], taste))
        found = lines("recommend", release_path, "--ratings", pairs, "-n", str(TOP), "--by",
                      "rating")
        compare_list(id, found, predicted[id])
    return ""


def check_predictions():
    pairs = [(id, item) for id in users for item in rng.sample(release.ids, 20)]
    worst = 0
    rows = csv.DictReader(
        run("predict", release_path, write_csv(pairs), "--history", history).splitlines())
    for (id, item), row in zip(pairs, rows, strict=True):
        assert (row["user"], row["item"]) == (id, item), "another pair"
        expected = np.clip(predicted[id][release.number[item]], release.min, release.max)
        worst = max(worst, abs(float(row["prediction"]) - expected))
    assert worst < CLOSE, f"predictions differ by {worst}"
    return f"{len(pairs)} pairs, within {worst:.1e}"


def check_own_predictions():
    id = next(iter(users))
    found = lines("predict", release_path, "--ratings", ",".join(f"{i}:{r}" for i, r in users[id]))
    assert [row["item"] for row in found] == release.ids, "not all items in their order"
    worst = np.abs([row["prediction"]
                    for row in found] - np.clip(predicted[id], release.min, release.max)).max()
    assert worst < CLOSE, f"predictions differ by {worst}"
    return ""


def check_explanations():
    for id in rng.sample(sorted(users), min(10, len(users))):
        item = rng.choice(release.ids)
        path = write_csv([("item", "rating")] + users[id])
        head, *reasons = lines("explain", release_path, "--ratings", path, "--item", item, "-n",
                               "100000")
        number = release.number[item]
        crowd, habit, taste, parts = release.parts(*mine[id])
        assert abs(head["prediction"] - predicted[id][number]) < CLOSE, f"user {id}: the prediction"
        for name, expected in (("score", dense[id][number]), ("crowd", crowd[number]),
                               ("habit", habit), ("taste", taste[number])):
            assert abs(head[name] - expected) < CLOSE, f"user {id}: {name}"
        sizes = [abs(reason["share"]) for reason in reasons]
        assert sizes == sorted(sizes, reverse=True), f"user {id}: not sorted by size"
        assert {reason["because"]
                for reason in reasons} == {i for i, _ in known[id]}, (f"user {id}: other ratings")
        for side, sign in (("for", 1), ("against", -1)):
            shares = [reason["share"] for reason in reasons if sign * reason["share"] > 0]
            assert head[side]["ratings"] == len(shares), f"user {id}: how many speak {side} it"
            assert abs(head[side]["sum"] - sum(shares)) < 1e-9, f"user {id}: the sum {side} it"
        assert abs(sum(reason["share"]
                       for reason in reasons) - head["taste"]) < 1e-6, (f"user {id}: no sum")
        for reason in reasons:
            (place,) = [j for j, (i, _) in enumerate(known[id]) if i == reason["because"]]
            assert abs(parts[place, number] - reason["share"]) < CLOSE, f"user {id}: a share"
    return ""


def check_similar():
    for item in rng.sample(release.ids, 10):
        cosines = release.cosines(release.number[item])
        found = lines("similar", release_path, "--item", item, "-n", "10")
        for row in found:
            assert abs(row["cosine"] -
                       cosines[release.number[row["item"]]]) < CLOSE, (f"{item}: {row['item']}")
        others = np.delete(cosines, release.number[item])
        best = -np.sort(-others)[: len(found)]
        assert np.abs(best - [row["cosine"]
                              for row in found]).max() < CLOSE, (f"{item}: not the most alike")
    return ""


CHECKS = [
    ("recommendations for everyone in a history: the order of a dense solve", check_everyone),
    ("recommendations from one's own ratings, on standard input", lambda: check_own(["stdin"], 10)),
    ("recommendations from one's own ratings, in a file and as pairs",
     lambda: check_own(["file", "pairs"], 10)),
    ("the dial, and lists by the predicted rating", check_dial),
    ("predictions for pairs and a history", check_predictions),
    ("predictions of all items from one's own ratings", check_own_predictions),
    ("explanations: the parts and the shares of a dense solve", check_explanations),
]
if release.factors.shape[1] > 0:
    CHECKS.append(("similar items: the cosines of their vectors", check_similar))

failed = 0
for name, check in CHECKS:
    try:
        note = check()
        print(f"passed: {name}" + (f" ({note})" if note else ""))
    except AssertionError as problem:
        failed += 1
        print(f"FAILED: {name}: {problem}")
sys.exit(failed > 0)
