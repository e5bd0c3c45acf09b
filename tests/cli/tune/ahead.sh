# A trial that is ahead of the best may go on, though its ranking no longer improves: of those that
# are stopped, none is better than what is chosen.
python3 - >plays.csv <<'PYTHON'
import random
draw = random.Random(7).random
print("user,item")
for user in range(200):
    for _ in range(15):
        taste = user % 4 if draw() < 0.7 else int(4 * draw())
        print(f"u{user},s{30 * taste + int(30 * draw() * draw())}")
PYTHON
dpmf import -q plays.csv -o plays.dpr
dpmf tune plays.dpr --trials 6 --json >trials 2>/dev/null
python3 - <<'PYTHON'
import json
trials = [line for line in map(json.loads, open("trials")) if line["event"] == "trial"]
best = max(trial["valid_ndcg"] for trial in trials if trial["end"] == "done")
lost = [trial for trial in trials if trial["end"] == "rising" and trial["valid_ndcg"] > best]
print(len(trials), "trials,", len(lost), "stopped while they were ahead of the best")
PYTHON
