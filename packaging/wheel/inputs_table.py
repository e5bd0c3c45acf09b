"""What inputs.py printed for several Pythons, as a table in Markdown: a column a Python, and below
it what libraries each had.

    inputs_table.py FILE...
"""

from __future__ import annotations

import sys
from pathlib import Path


def print_table(paths: list[str]) -> None:
    """A column a Python, and below it what libraries each had."""
    tables = [dict(line.split("\t") for line in Path(path).read_text().splitlines())
              for path in paths]
    said = [table.pop("libraries") for table in tables]
    print("| |", " | ".join(".".join(one.split(",")[0].split(".")[:2]) for one in said), "|")
    print("|---|" + "---|" * len(tables))
    for kind in tables[0]:
        print(f"| {kind} |", " | ".join(table.get(kind, "") for table in tables), "|")
    print()
    for one in said:
        print(f"- {one}")


if __name__ == "__main__":
    print_table(sys.argv[1:])
