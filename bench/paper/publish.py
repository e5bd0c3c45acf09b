#!/usr/bin/env python3
"""Puts a report's figures into the documents, so that none is typed by hand.

    publish.py build/paper/small/report.json            keeps the tables, rewrites documents' blocks
    publish.py --check build/paper/small/report.json    1 when a document says something else
    publish.py --page build/paper/small/report.json     also keeps the report's figures, as a page
    publish.py                                          rewrites the blocks from what is kept

Tables are kept in docs/paper/SCALE/PROCESSOR/tables.json, one for each kind of processor, and a
newer one replaces an older of the same processor. A block of README.md or docs/performance.md lies
between `<!-- from report: SCALE SECTION.TABLE -->` and `<!-- end -->`, and is rewritten with the
table of every processor that has it, the newest first, each with where it is from. A block that
ends with `newest -->` shows the newest alone: figures that do not depend on the processor.

Refused are a report of which a section failed, one that was made for another machine than it ran on
(DPMF_CACHES, DPMF_CORES and the like), and a table of times whose measurements other work
disturbed: --busy publishes that too, and it says so.
"""
import argparse
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from plot import number_text  # noqa: E402
from work import write_whole  # noqa: E402

ROOT = HERE.parent.parent
DOCUMENTS = ("README.md", "docs/performance.md")
KEPT = "docs/paper"
BLOCK = re.compile(r"(<!-- from report: (\S+) (\w+)\.(\w+)( newest)? -->\n)(.*?)(<!-- end -->)",
                   re.DOTALL)
# of the machine's cores, on average over a section's measurements, that something else kept busy
BUSY = 0.1


class Refusal(Exception):
    """Why a report is not published, as a sentence."""


# ---- where a table is from -----------------------------------------------------------------------


def processor_key(machine):
    """A kind of processor as a folder's name: its name and its caches. Virtual machines tell no
    more."""
    sizes = re.findall(r"([\d.]+) ([KMG])iB", machine["caches"])
    words = [machine["processor"], *(number + unit for number, unit in sizes)]
    return re.sub(r"[^a-z0-9.]+", "-", "-".join(words).lower()).strip("-")


def disturbance(report, section_name):
    """The share of the machine that other work had during a section's measurements; None when
    nothing was recorded."""
    found = [m for m in report["measurements"] if m["name"].startswith(section_name + ".")]
    seconds = sum(m["seconds"] for m in found)
    if not seconds or any("others" not in m for m in found):
        return None
    return sum(m["others"] * m["seconds"] for m in found) / seconds / report["machine"]["threads"]


def tables_of(report):
    """{"SECTION.TABLE": the table with its origin} of all sections."""
    machine, found = report["machine"], {}
    for section in report["sections"]:
        share = disturbance(report, section["name"])
        for table in section["shown"]:
            if table["kind"] != "table":
                continue
            found[f"{section['name']}.{table['name']}"] = {
                "columns": table["columns"],
                "rows": [[number_text(cell) for cell in row] for row in table["rows"]],
                "caption": table["caption"], "finished": report["finished"],
                "version": report["program"]["version"],
                "processor": machine["processor"], "threads": machine["threads"],
                "caches": machine["caches"], "kernels": machine["kernels"],
                "busy": table["timed"] and (share is None or share > BUSY),
                "disturbance": None if share is None else round(share, 3),
            }
    return found


def origin(scale, table):
    """What was measured, when, with what, on what."""
    caption = table["caption"] + " " if table["caption"] else ""
    kernels = f", kernels {table['kernels']}" if table["kernels"] else ""
    busy = " Other work disturbed the machine." if table["busy"] else ""
    return (
        f"\n({caption}`make paper SCALE={scale}`, {table['finished'][:10]}, {table['version']}; "
        f"{table['processor']}, "
        f"{table['threads']} threads, {table['caches']}{kernels}.{busy})\n")


# ---- what is kept --------------------------------------------------------------------------------


def kept_tables(root, scale):
    """{"SECTION.TABLE": [of each processor, the newest first]} of all that is kept of a scale."""
    found = {}
    for path in sorted((root / KEPT / scale).glob("*/tables.json")):
        for name, table in json.loads(path.read_text(encoding="utf-8")).items():
            found.setdefault(name, []).append(table)
    return {
        name: sorted(tables, key=lambda t: t["finished"], reverse=True)
        for name, tables in found.items()
    }


def wanted_names(root, scale):
    """The tables of a scale that a document shows."""
    texts = [(root / document).read_text(encoding="utf-8") for document in DOCUMENTS]
    return {f"{m[3]}.{m[4]}" for text in texts for m in BLOCK.finditer(text) if m[2] == scale}


def share_text(share):
    return "nothing was recorded" if share is None else f"it had {share:.0%} of the machine"


def merged(kept, new, wanted, allow_busy):
    """What is kept after a report: of the tables that documents show, the newer ones."""
    sections = {name.partition(".")[0] for name in new}
    for name in sorted(wanted):
        if name not in new and name.partition(".")[0] in sections:
            raise Refusal(f"the report has no table {name}, which a document shows")
    chosen = {name: table for name, table in new.items() if name in wanted}
    busy = sorted(name for name, table in chosen.items() if table["busy"])
    if busy and not allow_busy:
        said = ", ".join(f"{name} ({share_text(chosen[name]['disturbance'])})" for name in busy)
        raise Refusal(
            f"other work disturbed these measurements: {said}. Measure them again on a quiet "
            "machine, or publish "
            f"them as they are with --busy")
    newer = {name: table for name, table in chosen.items()
             if name not in kept or kept[name]["finished"] <= table["finished"]}
    return {**kept, **newer}


def check_sound(report):
    if report["failed"]:
        raise Refusal(f"sections of this report failed: {', '.join(report['failed'])}")
    # A machine that reports no caches has guessed ones, and is published as what it is. A report
    # that says nothing of claims is older, and guesses may be what someone named.
    claims, caches = report["machine"].get("claims"), report["machine"]["caches"]
    if claims or (claims is None and "(" in caches):
        raise Refusal(
            "this report was made for a machine that was named, not seen: " +
            (", ".join(claims) if claims else caches)
        )


# ---- the documents -------------------------------------------------------------------------------


def table_markdown(table):
    def cells(row):
        return "| " + " | ".join(number_text(cell).replace("|", "\\|") for cell in row) + " |"

    lines = [
        cells(table["columns"]), "|" + "---|" * len(table["columns"]), *map(cells, table["rows"])
    ]
    return "\n".join(lines) + "\n"


def rewritten(text, kept_of):
    """The document with its blocks; kept_of(scale) are the tables of a scale."""
    def block(match):
        begin, scale, section, name, newest, _, end = match.groups()
        tables = kept_of(scale).get(f"{section}.{name}", [])
        shown = [table_markdown(t) + origin(scale, t) for t in (tables[:1] if newest else tables)]
        return begin + ("\n".join(shown) if shown else match[6]) + end

    return BLOCK.sub(block, text)


def page(report, folder):
    """The figures of a report as files: an SVG each, and one page of text that shows them with
    their tables."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    machine = report["machine"]
    lines = [
        f"# The paper, reproduced: {report['scale']}", "",
        f"Written by `bench/paper/publish.py` from the report of {report['finished']}, which "
        "measured for "
        f"{report['seconds_text']}: {report['program']['version']}, {machine['processor']}, "
        f"{machine['threads']} "
        f"threads, {machine['caches']}, {machine['memory']} of memory, seed {report['seed']}.", ""
    ]
    lines += [f"- set {d['name']}: {d['label']}" for d in report["datasets"]]
    lines += [f"- {p['name']}: {p['description']}" for p in report["peers"]]
    lines += [f"- {p['name']}: absent" for p in report["absent"]]
    if report["left_out"]:
        lines += ["", "Not in it: " + ", ".join(report["left_out"]) + "."]
    for section in report["sections"]:
        lines += [
            "", f"## {section['title']}: {section['verdict']}", "",
            f"The paper: {section['paper']}", "", f"This run: {section['why']}", ""
        ]
        share = disturbance(report, section["name"])
        if share is not None and share > BUSY:
            lines += [
                f"Other work had {share:.0%} of the machine meanwhile: do not rely on the times.",
                ""
            ]
        for shown in section["shown"]:
            if shown["kind"] == "text":
                lines += [shown["text"], ""]
            elif shown["kind"] == "plot":
                name = f"{section['name']}.{shown['name']}.svg"
                write_whole(folder / name, shown["svg"] + "\n")
                lines += [
                    f"![{shown['title']}]({name})", "",
                    f"{shown['title']}. {shown['note']}".strip(), ""
                ]
            else:
                lines += [table_markdown(shown), shown["caption"], ""]
    write_whole(folder / "README.md", re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n")


def publish(arguments):
    root, kept, folder, path = pathlib.Path(arguments.root), {}, None, None
    pending = {}  # files and what they are to hold
    if arguments.report:
        report = json.loads(pathlib.Path(arguments.report).read_text(encoding="utf-8"))
        check_sound(report)
        folder = root / KEPT / report["scale"] / processor_key(report["machine"])
        path = folder / "tables.json"
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        after = merged(kept, tables_of(report), wanted_names(root, report["scale"]), arguments.busy)
        if after != kept:
            pending[path] = json.dumps(after, indent=1, sort_keys=True) + "\n"
            kept = after

    def kept_of(scale):
        found = kept_tables(root, scale)
        if path and path.parent.parent.name == scale:  # as it will be
            for name, table in kept.items():
                others = [t for t in found.get(name, []) if processor_key(t) != folder.name]
                found[name] = sorted([table, *others], key=lambda t: t["finished"], reverse=True)
        return found

    for document in DOCUMENTS:
        before = (root / document).read_text(encoding="utf-8")
        text = rewritten(before, kept_of)
        if text != before:
            pending[root / document] = text
    if arguments.check:
        for file in pending:
            print(f"publish.py: {file.relative_to(root)} differs", file=sys.stderr)
        return 1 if pending else 0
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    for file, text in pending.items():
        write_whole(file, text)
        print(file.relative_to(root))
    if arguments.report and arguments.page:
        page(report, folder)
    return 0


def main(argv):
    parser = argparse.ArgumentParser(prog="publish.py",
                                     description="A report's figures, put into the documents.")
    parser.add_argument("report", nargs="?",
                        help="report.json of a run; without it, what is kept is shown again")
    parser.add_argument("--check", action="store_true",
                        help="change nothing; fail when a document differs")
    parser.add_argument("--page", action="store_true",
                        help="keep the report's figures too, as a page beside its tables")
    parser.add_argument("--busy", action="store_true",
                        help="publish also what other work on the machine disturbed")
    parser.add_argument("--root", default=str(ROOT), help="the tree whose documents these are")
    return publish(parser.parse_args(argv))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Refusal as refusal:
        print(f"publish.py: {refusal}", file=sys.stderr)
        sys.exit(1)
