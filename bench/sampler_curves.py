#!/usr/bin/env python3
"""The tables and the figure of bench_samplers.sh.

    bench/sampler_curves.py RUNS [DOCS]

RUNS is a folder with a NAME.json (dpmf train --json) and a NAME.cpu ("user system", seconds) for
each run. The tables go to standard output and, with DOCS, into the marked part of DOCS/samplers.md;
the figure to DOCS/images/samplers.svg.
"""
import json
import math
import os
import sys

BY_TIME = [
    ("sgd", "SGD, the defaults", "#888888"),
    ("sgd-no-penalty", "SGD, no penalty", "#c8a000"),
    ("sgld", "SGLD", "#0072b2"),
    ("sghmc", "SGHMC", "#d55e00"),
    ("gibbs", "block Gibbs", "#009e73"),
]
BY_EPOCH = [
    ("sgld-256", "SGLD", "#0072b2"),
    ("sghmc-256", "SGHMC", "#d55e00"),
    ("sgnht-256", "SGNHT", "#cc79a7"),
]
BEGIN, END = "<!-- bench_samplers.sh writes from here -->", "<!-- to here -->"


def read_run(folder, name):
    """The epochs of a run, each with the processor time up to its end: the run's, divided as the
    clock divided it."""
    lines = [json.loads(line) for line in open(os.path.join(folder, name + ".json"))]
    epochs = [line for line in lines if line["event"] == "epoch"]
    cpu = sum(float(word) for word in open(os.path.join(folder, name + ".cpu")).read().split())
    for epoch in epochs:
        epoch["cpu"] = cpu * epoch["seconds"] / epochs[-1]["seconds"]
    return epochs, lines[-1]


def rmse(epochs, at):
    return "%.4f" % epochs[at - 1]["valid_rmse"] if at <= len(epochs) else ""


def table_by_time(runs):
    yield ("| k = 16 | epochs | burn-in | processor seconds | best error | in epoch | last error "
           "| on the ratings learned from |")
    yield "|---|---|---|---|---|---|---|---|"
    for name, title, _ in BY_TIME:
        epochs, done = runs[name]
        best = min(epochs, key=lambda epoch: epoch["valid_rmse"])
        yield "| %s | %d | %s | %.1f | %.4f | %d | %.4f | %.4f |" % (
            title, len(epochs), done.get("burn_in") or "", epochs[-1]["cpu"], best["valid_rmse"],
            best["epoch"], epochs[-1]["valid_rmse"], epochs[-1]["train_rmse"])


def table_by_epoch(runs):
    last = runs["sgld-256"][0][-1]
    counts = [n for n in (30, 50, 100, 150) if n <= last["epoch"]]
    yield "| k = 256 | %s | epochs until %.4f |" % (
        " | ".join("after %d epochs" % n for n in counts), last["valid_rmse"])
    yield "|---|" + "---|" * (len(counts) + 1)
    for name, title, _ in BY_EPOCH:
        epochs = runs[name][0]
        reached = [e["epoch"] for e in epochs if e["valid_rmse"] <= last["valid_rmse"]]
        yield "| %s | %s | %s |" % (title, " | ".join(rmse(epochs, n) for n in counts),
                                    reached[0] if reached else "not reached")


# ---- the figure ----------------------------------------------------------------------------------

WIDTH, HEIGHT, TOP, BOTTOM = 380, 330, 44, 48
LOW, HIGH = 0.83, 0.97  # of the errors that are shown


def height_of(error):
    part = (min(max(error, LOW), HIGH) - LOW) / (HIGH - LOW)
    return TOP + (1 - part) * (HEIGHT - TOP - BOTTOM)


def panel(left, title, axis, curves, place, marks):
    """place maps an abscissa to 0 .. 1."""
    inner, out = WIDTH - 70, []
    across = lambda x: left + 50 + place(x) * inner
    out.append('<text x="%d" y="24" class="title">%s</text>' % (left + 50, title))
    for step in range(8):
        error = LOW + 0.02 * step
        y = height_of(error)
        out.append('<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>'
                   '<text x="%d" y="%.1f" text-anchor="end">%.2f</text>' %
                   (left + 50, left + 50 + inner, y, y, left + 44, y + 4, error))
    for mark in marks:
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%g</text>' %
                   (across(mark), HEIGHT - BOTTOM + 18, mark))
    out.append('<text x="%d" y="%d" text-anchor="middle">%s</text>' %
               (left + 50 + inner // 2, HEIGHT - 10, axis))
    for row, (title, colour, points) in enumerate(curves):
        path, column = [], None
        for x, error in points:
            here = round(across(x))
            if here != column and error <= HIGH:  # a point a pixel is enough
                path.append("%d,%.1f" % (here, height_of(error)))
                column = here
        out.append('<polyline points="%s" stroke="%s"/>' % (" ".join(path), colour))
        y = TOP + 12 + 16 * row
        out.append('<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="%s" stroke-width="2"/>'
                   '<text x="%d" y="%d">%s</text>' % (left + inner - 96, left + inner - 76, y - 4,
                                                      y - 4, colour, left + inner - 70, y, title))
    return out


def figure(runs):
    by_time = [(title, colour, [(e["cpu"], e["valid_rmse"]) for e in runs[name][0]])
               for name, title, colour in BY_TIME]
    by_epoch = [(title, colour, [(e["epoch"], e["valid_rmse"]) for e in runs[name][0]])
                for name, title, colour in BY_EPOCH]
    first = min(points[0][0] for _, _, points in by_time)
    last = max(points[-1][0] for _, _, points in by_time)
    tens = [10.0 ** n for n in range(-3, 4) if first <= 10.0 ** n <= last]
    epochs = max(points[-1][0] for _, _, points in by_epoch)
    body = panel(0, "k = 16, one thread", "processor seconds", by_time,
                 lambda x: math.log(x / first) / math.log(last / first), tens)
    body += panel(WIDTH, "k = 256", "epochs", by_epoch, lambda x: x / epochs,
                  [n for n in (0, 50, 100, 150) if n <= epochs])
    style = (
        "text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.grid{stroke:#ddd}"
        "polyline{fill:none;stroke-width:2}.page{fill:#fff}"
        "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.page{fill:#1b1b1b}}")
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" '
        'aria-label="Error on held-out '
        'ratings by time and by epochs"><style>%s</style><rect class="page" width="%d" '
        'height="%d"/>\n%s\n</svg>\n'
        % (2 * WIDTH, HEIGHT, style, 2 * WIDTH, HEIGHT, "\n".join(body)))


def main():
    folder, docs = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    runs = {name: read_run(folder, name) for name, _, _ in BY_TIME + BY_EPOCH}
    text = "\n".join([*table_by_time(runs), "", *table_by_epoch(runs)])
    print(text)
    if not docs:
        return
    with open(os.path.join(docs, "images", "samplers.svg"), "w") as file:
        file.write(figure(runs))
    path = os.path.join(docs, "samplers.md")
    page = open(path).read()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    with open(path, "w") as file:
        file.write("%s%s\n\n%s\n\n%s%s" % (before, BEGIN, text, END, after))


main()
