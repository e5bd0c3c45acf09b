"""Ratings as text for the peers that want numbers for ids: a line `user item rating` each, both
counted from 0 in the order they are met. Made once beside a set's stores; users and items of the
test that the training does not have are left out, since no peer has anything to say about them.
"""
import json
import os
import subprocess

from work import Failure, dies_with_parent, write_whole

NUMBER = """
BEGIN { FS = "," }
FNR == 1 { next }
FILENAME == ARGV[1] {
    if (!($1 in u)) u[$1] = users++
    if (!($2 in v)) v[$2] = items++
    print u[$1], v[$2], $3 >train
    n++
    next
}
($1 in u) && ($2 in v) { print u[$1], v[$2], $3 >test; m++ }
END { print users, items, n, m + 0 }
"""


def numbered(work, dataset):
    """{"train", "test": paths, "users", "items", "ratings", "test_ratings"}"""
    folder = dataset.folder
    facts = folder / "numbered.json"
    try:
        found = json.loads(facts.read_text(encoding="utf-8"))
        if (found["key"] == dataset.key and os.path.exists(folder / "train.txt") and
                os.path.exists(folder / "test.txt")):
            return paths(folder, found)
    except (OSError, ValueError, KeyError):
        pass
    work.say(f"  {dataset.name}: as text for the peers")
    pipes = [work.temporary(name) for name in ("train.csv", "test.csv")]
    exports = []
    for store, pipe in zip((dataset.train, dataset.test), pipes):
        if os.path.exists(pipe):
            os.unlink(pipe)
        os.mkfifo(pipe)
        exports.append(
            subprocess.Popen([
                "sh", "-c", 'exec "$1" export "$2" --csv - --quiet >"$3"', "sh", work.dpmf, store,
                pipe
            ], preexec_fn=dies_with_parent))
    counted = work.run([
        "awk", "-v", f"train={folder / 'train.txt'}", "-v", f"test={folder / 'test.txt'}", NUMBER,
        *pipes
    ]).stdout.split()
    for export in exports:
        if export.wait() != 0:
            raise Failure(f"dpmf export of {dataset.name}: exit status {export.returncode}")
    users, items, ratings, test_ratings = map(int, counted)
    found = {
        "key": dataset.key, "users": users, "items": items, "ratings": ratings,
        "test_ratings": test_ratings
    }
    write_whole(facts, json.dumps(found))
    return paths(folder, found)


def paths(folder, found):
    return {**found, "train": str(folder / "train.txt"), "test": str(folder / "test.txt")}
