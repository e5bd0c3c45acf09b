#!/usr/bin/env python3
"""Puts a report's figures into the documents, so that none is typed by hand.

    bench/paper/publish.py build/paper/small/report.json            rewrites the documents' blocks
    bench/paper/publish.py --check build/paper/small/report.json    1 when a block says something else
    bench/paper/publish.py --keep docs/paper/full build/paper/full/report.json    also keeps its figures there

A block of README.md or docs/performance.md lies between `<!-- from report: SCALE SECTION.TABLE -->` and
`<!-- end -->`. Those of the report's scale whose section is in it are rewritten: the table, then where it is
from. All others are left as they are, so reports of several scales, or of some sections, can be published one after
the other. A report of which a section failed is refused.
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
BLOCK = re.compile(r"(<!-- from report: (\S+) (\w+)\.(\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def cell_text(cell):
    return number_text(cell).replace("|", "\\|")


def table_markdown(table):
    lines = ["| " + " | ".join(column.replace("|", "\\|") for column in table["columns"]) + " |",
             "|" + "---|" * len(table["columns"])]
    lines += ["| " + " | ".join(cell_text(cell) for cell in row) + " |" for row in table["rows"]]
    return "\n".join(lines) + "\n"


def origin(report, table):
    """Where a table is from: what was measured, when, with what, on what."""
    machine = report["machine"]
    caption = table.get("caption", "")
    return (f"\n({caption + ' ' if caption else ''}`make paper SCALE={report['scale']}`, {report['finished'][:10]}, "
            f"{report['program']['version']}; {machine['processor']}, {machine['threads']} threads, "
            f"{machine['caches']}, load before it {machine['load']}.)\n")


def find_table(report, section_name, table_name):
    """The table, or None when the report does not have that section; a section without the table is an error."""
    section = next((s for s in report["sections"] if s["name"] == section_name), None)
    if section is None:
        return None
    for shown in section["shown"]:
        if shown["kind"] == "table" and shown["name"] == table_name:
            return shown
    raise SystemExit(f"publish.py: {section_name} of the report has no table {table_name}")


def rewritten(text, report):
    """The document with its blocks, and their names."""
    names = []

    def block(match):
        begin, scale, section, table_name, _, end = match.groups()
        if scale != report["scale"]:
            return match[0]
        table = find_table(report, section, table_name)
        if table is None:
            return match[0]
        names.append(f"{section}.{table_name}")
        return begin + table_markdown(table) + origin(report, table) + end

    return BLOCK.sub(block, text), names


def keep(report, folder):
    """The figures of a report as files: an SVG each, and one page of text that shows them with their tables."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    machine = report["machine"]
    lines = [f"# The paper, reproduced: {report['scale']}", "",
             f"Written by `bench/paper/publish.py` from the report of {report['finished']}, which measured for "
             f"{report['seconds_text']}: {report['program']['version']}, {machine['processor']}, {machine['threads']} "
             f"threads, {machine['caches']}, {machine['memory']} of memory, seed {report['seed']}.", ""]
    lines += [f"- set {d['name']}: {d['label']}" for d in report["datasets"]]
    lines += [f"- {p['name']}: {p['description']}" for p in report["peers"]]
    lines += [f"- {p['name']}: absent" for p in report["absent"]]
    if report["left_out"]:
        lines += ["", "Not in it: " + ", ".join(report["left_out"]) + "."]
    for section in report["sections"]:
        lines += ["", f"## {section['title']}: {section['verdict']}", "", f"The paper: {section['paper']}", "",
                  f"This run: {section['why']}", ""]
        for shown in section["shown"]:
            if shown["kind"] == "text":
                lines += [shown["text"], ""]
            elif shown["kind"] == "plot":
                name = f"{section['name']}.{shown['name']}.svg"
                write_whole(folder / name, shown["svg"] + "\n")
                lines += [f"![{shown['title']}]({name})", "", f"{shown['title']}. {shown['note']}".strip(), ""]
            else:
                lines += [table_markdown(shown), shown["caption"], ""]
    write_whole(folder / "README.md", re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n")


def main(argv):
    parser = argparse.ArgumentParser(prog="publish.py", description="A report's figures, put into the documents.")
    parser.add_argument("report")
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a block differs")
    parser.add_argument("--keep", metavar="DIR", help="keep the report's figures there")
    parser.add_argument("--root", default=str(ROOT), help="the tree whose documents these are")
    arguments = parser.parse_args(argv)
    report = json.loads(pathlib.Path(arguments.report).read_text(encoding="utf-8"))
    if report["failed"]:
        raise SystemExit(f"publish.py: sections of this report failed: {', '.join(report['failed'])}")
    differs = False
    for document in DOCUMENTS:
        path = pathlib.Path(arguments.root) / document
        before = path.read_text(encoding="utf-8")
        after, names = rewritten(before, report)
        for name in names:
            print(f"{document}: {report['scale']} {name}")
        if after != before:
            differs = True
            if not arguments.check:
                write_whole(path, after)
    if arguments.check and differs:
        print("publish.py: the documents differ from this report", file=sys.stderr)
        return 1
    if arguments.keep and not arguments.check:
        keep(report, pathlib.Path(arguments.keep))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
