#!/usr/bin/env python3
"""The manual of the libraries and of the Python package, made from what they are made of: the
comments of include/*.h, the docstrings under python/src/dpmf, and the programs of examples/.

    scripts/api_docs.py --html DIR      pages to read in a browser; `make docs`
    scripts/api_docs.py --man DIR       man pages: DIR/man3 of the libraries, DIR/python of the
                                        package
    scripts/api_docs.py --examples DIR  the examples of the headers' comments, each as a C file, to
                                        be compiled and run
    scripts/api_docs.py --check         what is public and not described: declarations, parameters,
                                        results, errors whose sentence is another than the
                                        library's; the exit status is 1 when there is any

Needs Python alone, and writes the same bytes for the same tree.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from apidoc import c_header, html_pages, man_pages, python_source  # noqa: E402

HEADERS = ("dpmf.h", "dpmf_client.h", "dpmf_text.h")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="The manual of the libraries and of the Python package.")
    for name in ("html", "man", "examples"):
        parser.add_argument(f"--{name}", type=Path, metavar="DIR")
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()

    headers = [c_header.read(ROOT / "include" / name) for name in HEADERS]
    package = python_source.read(ROOT / "python" / "src" / "dpmf")
    version = re.search(r"project\(dpmf VERSION ([0-9.]+)",
                        (ROOT / "CMakeLists.txt").read_text()).group(1)

    if wanted.html:
        html_pages.write(wanted.html, headers, package, ROOT / "examples", version)
    if wanted.man:
        man_pages.write(wanted.man, headers, package, version)
    if wanted.examples:
        c_header.write_examples(wanted.examples, headers)
    missing = []
    if wanted.check:
        missing = [line for header in headers for line in c_header.missing(header)]
        codes = set(
            re.findall(r"\bDPMF_ERR_\w+(?= =)", (ROOT / "include" / "dpmf_client.h").read_text()))
        missing += [line for header in headers for line in c_header.unknown_codes(header, codes)]
        missing += c_header.other_sentences(ROOT / "include" / "dpmf_client.h",
                                            ROOT / "lib" / "base" / "error.c")
        missing += python_source.missing(package)
        print("\n".join(missing) if missing else "everything that is public has its comment")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
