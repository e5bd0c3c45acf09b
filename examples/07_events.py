"""Without any ratings: from what people did, plays, purchases or clicks, to the items that someone
will want next.

    python3 07_events.py plays.csv ranking.safetensors 42

plays.csv has the columns user, item and perhaps plays and timestamp. Rows of one pair add up.
"""

import csv
import sys

import dpmf


def main(events, output, user):
    # ratings are refused, and not taken for counts
    model = dpmf.Model().fit_file(events, events=True)
    model.save(output)
    with open(events, newline="") as file:
        pairs = {(row["user"], row["item"]) for row in csv.DictReader(file)}
    print(f"{len(pairs)} events of {len(model.users_)} users")
    # What someone did is their history, and the list leaves it out. At home it is all that is
    # needed.
    mine = [item for who, item in sorted(pairs) if who == user]
    for item in model.recommend(ratings=mine, n=5).items:
        print(item)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: 07_events.py EVENTS MODEL USER")
    main(*sys.argv[1:])
