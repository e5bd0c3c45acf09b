"""The paper's figure of the power law: how many items have how many ratings.

The counts come from the stores themselves, by way of `dpmf export`; `describe` gives the shares.
"""
import subprocess
from collections import Counter
from itertools import accumulate

from report import Plot, Series, Table
from work import Failure, dies_with_parent

TITLE = "Items by their number of ratings"
PAPER = (
    "Ratings follow a power law: many films have 100 ratings or less, and most ratings are for "
    "few films. In "
    "Netflix's set the 500 most rated films hold 44 % of all ratings, so keeping these in the "
    "nearest cache pays."
)
QUOTED_NETFLIX_TOP_500 = 0.44
BUCKETS_A_DECADE = 5


def item_counts(work, dataset):
    """How many items have how many ratings, in buckets of equal width on a logarithmic axis."""
    export = [work.dpmf, "export", dataset.path, "--csv", "-", "--quiet"]
    count = ["awk", "-F,", "NR > 1 { n[$2]++ } END { for (i in n) print n[i] }"]
    with subprocess.Popen(export, stdout=subprocess.PIPE, preexec_fn=dies_with_parent) as exporter:
        counted = subprocess.run(count, stdin=exporter.stdout, capture_output=True, text=True,
                                 check=True, preexec_fn=dies_with_parent)
        exporter.stdout.close()
    if exporter.returncode != 0:
        raise Failure(f"{work.shown(export)}: exit status {exporter.returncode}")
    work.record([*export, "|", *count], 0, 0)
    counts = sorted((int(line) for line in counted.stdout.split()), reverse=True)
    if sum(counts) != dataset.ratings:
        raise Failure(f"{sum(counts)} ratings were counted in a set of {dataset.ratings}")
    return summary(counts)


def summary(counts):
    total = sum(counts)
    buckets = Counter()
    edges = bucket_edges(counts[0])
    at = 0
    for count in reversed(counts):
        while at + 1 < len(edges) - 1 and count >= edges[at + 1]:
            at += 1
        buckets[at] += 1
    points = []
    for i, (low, high) in enumerate(zip(edges, edges[1:])):
        if buckets[i]:
            points.append([(low * (high - 1))**0.5, buckets[i] / (high - low), low, high - 1,
                           buckets[i]])
    return {
        "points": points, "items": len(counts), "ratings": total,
        "at_most_100": sum(1 for c in counts if c <= 100) / len(counts),
        "top_500": sum(counts[:500]) / total, "next_4000": sum(counts[500:4500]) / total,
        "half_of_ratings": next(i for i, held in enumerate(accumulate(counts), 1)
                                if 2 * held >= total),
    }


def bucket_edges(largest):
    edges, i = [1], 0
    while edges[-1] <= largest:
        i += 1
        edge = round(10 ** (i / BUCKETS_A_DECADE))
        if edge > edges[-1]:
            edges.append(edge)
    return edges


def measure(work):
    sets = []
    for name in work.only_sets("netflix", "yahoo"):
        dataset = work.dataset(name)
        found = work.once(name, item_counts, work, dataset)
        sets.append({
            "title": dataset.title, "label": dataset.label, "real": dataset.real, "name": name,
            **found
        })
    return {"sets": sets}


def show(data):
    plot = Plot("items", "Items by their number of ratings", "ratings of an item",
                "items with so many ratings", [
                    Series(f"{s['title']} ({'real' if s['real'] else 'synthetic'})",
                           [p[:2] for p in s["points"]]) for s in data["sets"]
                ], log_x=True, log_y=True,
                note="Items in buckets of a fifth of a decade, divided by the bucket's width.")
    rows = [[
        s["label"], s["at_most_100"], s["top_500"], s["next_4000"],
        s["half_of_ratings"] / s["items"]
    ] for s in data["sets"]]
    table = Table("shares", [
        "set", "items with at most 100 ratings", "ratings of the top 500", "of the next 4,000",
        "items that hold half of the ratings"
    ], rows, "Shares, from 0 to 1.")
    return [plot, table]


def verdict(data):
    netflix = data["sets"][0]
    said = (f"the top 500 items hold {netflix['top_500']:.0%} of the ratings, and "
            f"{netflix['half_of_ratings'] / netflix['items']:.1%} of the items hold half of them")
    if netflix["name"] != "netflix" or not netflix["real"]:
        how = ("real, but not Netflix's"
               if netflix["real"] else "synthetic and made to have this shape")
        return "no claim", f"The set is {how}: {said}."
    if abs(netflix["top_500"] - QUOTED_NETFLIX_TOP_500) < 0.02:
        return "confirmed", f"In Netflix's ratings {said}."
    return "not confirmed", f"In Netflix's ratings {said}, where the paper has 44 %."
