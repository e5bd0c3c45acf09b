"""The paper's figure of throughput by cores, on Yahoo's set at a high dimension: dpmf in its usual
order, in the order that gives the same bits for any number of threads, and by hogwild as the paper
has it; LIBMF beside them.
"""
from report import Plot, Series, Table
from trainers import (dpmf_speed, fits, in_turns, median_speed, peer_speed, ratio_text, ratios,
                      summary)

TITLE = "Throughput by cores"
PAPER = (
    "On Yahoo's set with 2048 dimensions the throughput of C-SGD rises with the number of cores, "
    "up to the 32 of "
    "a c3.8xlarge (a figure without numbers in the text).")
FACTORS = {"tiny": 8, "small": 512, "medium": 2048, "full": 2048}
WAYS = {"C-SGD": [], "C-SGD, deterministic": ["--deterministic"], "C-SGD, hogwild": ["--hogwild"]}
EPOCHS = 3
PEERS = ("LIBMF",)


def thread_counts(most):
    counts, n = [], 1
    while n < most:
        counts.append(n)
        n *= 2
    return counts + [most]


def measure(work):
    dataset, k = work.dataset(work.only_sets("yahoo", "netflix")[0]), FACTORS[work.scale]
    peers = {p.name: p for p in work.peers if p.name in PEERS and fits(p, dataset, k)}
    turns = [(threads, way) for way in [*WAYS, *peers] for threads in thread_counts(work.threads)]
    speeds = {}
    for round_number, (threads, way) in in_turns(turns, work.repeats):
        name = f"{k}.{threads}.{round_number}.{way}"
        if way not in peers:
            run = work.once(name, dpmf_speed, work, dataset, k, EPOCHS, threads, WAYS[way])
        elif round_number == 0:
            run = work.once(name, peer_speed, work, peers[way], dataset, k, EPOCHS - 1, threads)
        else:
            continue
        speeds.setdefault(way, {}).setdefault(str(threads),
                                              {})[str(round_number)] = median_speed(run)
    speeds = {
        way: dict(sorted(found.items(), key=lambda item: int(item[0])))
        for way, found in speeds.items()
    }
    return {"label": dataset.label, "k": k, "speeds": speeds, "repeats": work.repeats}


def show(data):
    series, rows = [], []
    for way, by_threads in data["speeds"].items():
        one = by_threads["1"]
        series.append(Series(way, [[int(t), *(v / 1e6 for v in summary(list(s.values())))]
                                   for t, s in by_threads.items()]))
        for threads, found in by_threads.items():
            rows.append([way, int(threads), round(summary(list(found.values()))[0] / 1e6, 2),
                         ratio_text(ratios(found, one))])
    counts = sorted({row[1] for row in rows})
    plot = Plot(
        "cores", f"Throughput by cores, {data['k']} dimensions", "threads", "million updates/s",
        series, from_zero=True, x_ticks=counts,
        note=f"{data['label']}. Bars are the least and the greatest of {data['repeats']} rounds.")
    return [
        plot,
        Table(
            "threads", ["program", "threads", "million updates/s", "times one thread"], rows,
            f"k = {data['k']}; the median of {data['repeats']} rounds, in turns; peers one round.")
    ]


def verdict(data):
    found = data["speeds"]["C-SGD"]
    most = max(map(int, found))
    if most == 1:
        return "no claim", "This machine has one core."
    middle, low, high = summary(ratios(found[str(most)], found["1"]))
    said = f"{most} threads do {middle:.2f} times the work of one ({low:.2f} to {high:.2f})"
    if middle >= 0.7 * most:
        return "confirmed", f"Throughput rises with cores: {said}."
    return "not confirmed", f"Throughput rises less than cores do: {said}."
