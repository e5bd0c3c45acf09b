"""The report of a run: one HTML page that needs nothing else, report.json, and a CSV file for each
table and plot.

Fed by paper.py with what the sections showed; publish.py reads the JSON. Everything that comes from
outside (labels, error messages, commands) is escaped here, in one place.
"""
import base64
import csv
import io
import json
import re
import time
from html import escape

from plot import Plot, Series, number_text  # noqa: F401  (sections take them from here)
from work import write_whole

VERDICTS = {
    "confirmed": "good", "exceeded": "good", "not confirmed": "bad", "no claim": "none",
    "failed": "bad"
}


class Text:
    """A paragraph of plain text; `code` in backquotes is set as code."""

    def __init__(self, text):
        self.text = text


class Table:
    """Columns and rows. `name` is what its CSV file and its block in the documents are called;
    `quoted` the indices of columns that hold the paper's figures; `timed` whether other work on the
    machine could have changed it."""

    def __init__(self, name, columns, rows, caption="", quoted=(), timed=True):
        self.name, self.caption, self.timed = name, caption, timed
        self.table_columns = [str(c) for c in columns]
        self.table_rows = [list(row) for row in rows]
        self.quoted = set(quoted)
        for row in self.table_rows:
            if len(row) != len(self.table_columns):
                raise ValueError(
                    f"{name}: a row of {len(row)} in a table of {len(self.table_columns)} columns")

    def columns(self):
        return [
            c + (" (quoted from the paper)" if i in self.quoted else "")
            for i, c in enumerate(self.table_columns)
        ]

    def rows(self):
        return self.table_rows


def csv_text(shown):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(shown.columns())
    writer.writerows([["" if cell is None else cell for cell in row] for row in shown.rows()])
    return out.getvalue()


def data_url(text, kind):
    return f"data:{kind};base64," + base64.b64encode(text.encode("utf-8")).decode("ascii")


def prose(text):
    """Plain text as HTML: escaped, `code` as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


# ---- parts of the page ---------------------------------------------------------------------------


def table_html(shown):
    numeric = [all(isinstance(row[i], (int, float, type(None))) for row in shown.rows())
               for i in range(len(shown.columns()))]
    quoted = getattr(shown, "quoted", set())

    def kind(i):
        names = " ".join(n for n, on in (("n", numeric[i]), ("q", i in quoted)) if on)
        return f' class="{names}"' if names else ""

    head = "".join(f"<th{kind(i)}>{escape(c)}</th>" for i, c in enumerate(shown.columns()))
    body = "".join("<tr>" + "".join(f"<td{kind(i)}>{prose(number_text(cell))}</td>"
                                    for i, cell in enumerate(row)) + "</tr>"
                   for row in shown.rows())
    return (f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def csv_link(shown, section):
    name = f"{section}.{shown.name}.csv"
    return (
        f'<a download="{escape(name)}" '
        f'href="{data_url(csv_text(shown), "text/csv")}">{escape(name)}</a>'
    )


def shown_html(shown, section):
    if isinstance(shown, Text):
        return f"<p>{prose(shown.text)}</p>"
    if isinstance(shown, Plot):
        note = f" {prose(shown.note)}" if shown.note else ""
        return (f"<figure>{shown.svg()}<figcaption><b>{escape(shown.title)}.</b>{note}</figcaption>"
                f"<details><summary>The numbers</summary>{table_html(shown)}</details>"
                f'<p class="csv">{csv_link(shown, section)}</p></figure>')
    caption = f"<figcaption>{prose(shown.caption)}</figcaption>" if shown.caption else ""
    return (
        f'<figure>{table_html(shown)}{caption}<p '
        f'class="csv">{csv_link(shown, section)}</p></figure>'
    )


def badge(verdict):
    return f'<span class="badge {VERDICTS[verdict]}">{escape(verdict)}</span>'


def section_html(section):
    anchor = escape(section["name"])
    parts = [
        f'<section id="{anchor}"><h2>{escape(section["title"])} {badge(section["verdict"])}</h2>',
        f'<p class="claim"><b>The paper:</b> {prose(section["paper"])}</p>',
        f'<p class="claim"><b>This run:</b> {prose(section["why"])}</p>'
    ]
    parts += [shown_html(shown, section["name"]) for shown in section["shown"]]
    parts.append("</section>")
    return "".join(parts)


def facts_html(facts):
    rows = "".join(f"<tr><th>{escape(str(key))}</th><td>{prose(str(value))}</td></tr>"
                   for key, value in facts)
    return f'<div class="wide"><table class="facts"><tbody>{rows}</tbody></table></div>'


def commands_html(measurements):
    rows = [[m["name"], c["command"], c["seconds"]] for m in measurements for c in m["commands"]]
    table = Table("commands", ["measurement", "command", "seconds"], rows)
    return f"<details><summary>{len(rows)} commands</summary>{table_html(table)}</details>"


STYLE = """
:root{--ink:#1c2127;--soft:#59636e;--line:#d5dbe1;--paper:#fff;--shade:#f4f6f8;--link:#0b57d0;
--good:#15803d;
--bad:#b42318;--s0:#1f5fbf;--s1:#c2410c;--s2:#15803d;--s3:#7e22ce;--s4:#0e7490;--s5:#a16207;
--s6:#be185d;--s7:#4d5358}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa6b2;--line:#333c46;
--paper:#12171d;--shade:#1b222a;
--link:#79b0ff;--good:#5fd38a;--bad:#ff8a80;--s0:#79b0ff;--s1:#ff9d5c;--s2:#5fd38a;--s3:#c79bff;
--s4:#56cfe1;
--s5:#e3b341;--s6:#ff7eb6;--s7:#b1bac4}}
*{box-sizing:border-box}
html{color-scheme:light dark;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,sans-serif}
body{max-width:54rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.8rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.3rem;margin:2.8rem 0 .6rem;border-top:1px solid var(--line);padding-top:1.4rem}
a{color:var(--link)}
p{margin:.6rem 0}
code{font:.88em ui-monospace,monospace;background:var(--shade);padding:.05em .3em;border-radius:3px;
overflow-wrap:anywhere}
.claim{border-left:3px solid var(--line);padding-left:.8rem}
.badge{display:inline-block;font-size:.8rem;font-weight:600;line-height:1.5;padding:0 .6em;
border-radius:1em;
border:1.5px solid currentColor;vertical-align:middle;white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad)}.none{color:var(--soft)}
.banner{border:2px solid var(--bad);padding:.6rem 1rem;border-radius:6px;margin:1rem 0;
white-space:pre-wrap;
overflow-wrap:anywhere}
.banner.mild{border-color:var(--soft)}
figure{margin:1.4rem 0}
figcaption{font-size:.92rem;color:var(--soft);margin-top:.3rem}
svg{width:100%;height:auto;display:block}
svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.28rem .7rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
thead th{border-bottom:2px solid var(--soft)}
.n{text-align:right}
.q{color:var(--soft);font-style:italic}
.facts th{font-weight:600;white-space:nowrap}
details{margin:.4rem 0}
summary{cursor:pointer;color:var(--link)}
.csv{font-size:.85rem;margin:.2rem 0}
@media print{
:root{--ink:#000;--soft:#444;--line:#bbb;--paper:#fff;--shade:#f2f2f2;--link:#000;--good:#000;
--bad:#000;
--s0:#1f5fbf;--s1:#c2410c;--s2:#15803d;--s3:#7e22ce;--s4:#0e7490;--s5:#a16207;--s6:#be185d;
--s7:#4d5358}
html{font-size:10.5pt}body{max-width:none;padding:0}
figure,tr,.claim{break-inside:avoid}h2,.claim{break-after:avoid}.csv,details{display:none}
.wide{overflow:visible}
table{font-size:8.5pt}th,td{padding:.15rem .4rem}}
"""


def summary_html(sections):
    rows = "".join(
        '<tr><td><a '
        f'href="#{escape(s["name"])}">{escape(s["title"])}</a></td><td>{badge(s["verdict"])}</td>'
        f'<td>{prose(s["why"])}</td></tr>' for s in sections)
    return (
        '<div class="wide"><table><thead><tr><th>figure or '
        'table</th><th>claim</th><th>why</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>")


def failed(sections):
    return [s for s in sections if s["verdict"] == "failed"]


def banner_html(sections, facts):
    if failed(sections):
        said = "\n\n".join(f"{s['name']}: {s['why']}" for s in failed(sections))
        return (
            f'<div class="banner bad"><b>This report is not whole: {len(failed(sections))} of '
            f'{len(sections)} '
            f"sections failed.</b>\n\n{escape(said)}</div>")
    if facts["left_out"]:
        return (f'<div class="banner mild">Only some of the report was asked for. Not in it: '
                f'{escape(", ".join(facts["left_out"]))}.</div>')
    return ""


def page(sections, facts):
    title = f"The paper, reproduced ({facts['scale']})"
    if failed(sections):
        title = "NOT WHOLE: " + title
    machine = facts["machine"]
    rows = [("scale", facts["scale"]), ("finished", facts["finished"]),
            ("measured for", facts["seconds_text"]),
            ("program", f"{facts['program']['version']}, sha256 {facts['program']['sha256'][:16]}"),
            ("seed", facts["seed"]), ("processor", machine["processor"]),
            ("cores used", machine["threads"]), ("caches", machine["caches"]),
            ("memory", machine["memory"]), ("system", machine["system"]),
            ("load before", machine["load"])]
    if machine.get("claims"):
        rows.append(("run as if on another machine", ", ".join(machine["claims"])))
    rows += [(f"set: {d['name']}", d["label"]) for d in facts["datasets"]]
    rows += [(f"peer: {p['name']}", p["description"]) for p in facts["peers"]]
    rows += [(f"peer: {p['name']}", f"absent; {p['how']}") for p in facts["absent"]]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><h1>{escape(title)}</h1>"
        "<p>The evaluation of Z. Liu, Y.-X. Wang and A. J. Smola, <i>Fast Differentially "
        "Private Matrix "
        "Factorization</i> (RecSys 2015), run again with dpmf on one machine. Every figure is "
        "of this run, except "
        f"those marked as quoted from the paper. Synthetic ratings are labelled synthetic.</p>"
        f"{banner_html(sections, facts)}{summary_html(sections)}"
        f"{''.join(section_html(s) for s in sections)}"
        '<section id="run"><h2>The '
        f'run</h2>{facts_html(rows)}{commands_html(facts["measurements"])}</section>'
        f"</body></html>\n")


# ---- files ---------------------------------------------------------------------------------------


def shown_json(shown):
    if isinstance(shown, Text):
        return {"kind": "text", "text": shown.text}
    kind = "plot" if isinstance(shown, Plot) else "table"
    found = {"kind": kind, "name": shown.name, "columns": shown.columns(), "rows": shown.rows()}
    if kind == "plot":
        found.update(title=shown.title, note=shown.note, svg=shown.svg(standalone=True))
    else:
        found.update(caption=shown.caption, timed=shown.timed)
    return found


def write(out, sections, facts):
    """The page, the JSON and the CSV files; True when the report is whole."""
    for section in sections:
        names = [shown.name for shown in section["shown"] if not isinstance(shown, Text)]
        if len(set(names)) != len(names):
            raise ValueError(f"{section['name']} shows two things of one name: {', '.join(names)}")
        for shown in section["shown"]:
            if not isinstance(shown, Text):
                write_whole(out / "csv" / f"{section['name']}.{shown.name}.csv", csv_text(shown))
    whole = not failed(sections)
    found = {
        "complete": whole and not facts["left_out"],
        "failed": [s["name"] for s in failed(sections)],
        **facts, "sections": [{**s, "shown": [shown_json(x) for x in s["shown"]]} for s in sections]
    }
    write_whole(out / "report.json", json.dumps(found, indent=1, allow_nan=False))
    write_whole(out / "report.html", page(sections, facts))
    return whole


def duration_text(seconds):
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return (f"{hours} h {minutes} min"
            if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s")


def size_text(count):
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def now_text():
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
