#!/usr/bin/python3
"""The page that recommends in a browser, in real ones: Debian's Chromium, and one visit in its
Firefox.

    tests/browser/run.py BINARY [NAME...]

BINARY is build/dpmf; with names, only tests whose name holds one of them. It is not part of `make
test`, since Chromium is large: `make test-browser` installs what is needed and runs it. The last
line is "N passed, N failed", and the exit status 1 when any failed. Times are printed and not
judged: they are for a quiet machine.
"""

import sys
import time
import traceback

import test_firefox
import test_history
import test_page
import test_visit
from chromium import Browser
from material import Material, Skip


def find_tests(wanted):
    found = [(name[5:].replace("_", " "), test)
             for module in [test_page, test_visit, test_history, test_firefox]
             for name, test in vars(module).items() if name.startswith("test_")]
    return [(name, test) for name, test in found
            if not wanted or any(word.replace("_", " ") in name for word in wanted)]


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    tests = find_tests(sys.argv[2:])
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    material, page = Material(sys.argv[1]), Browser()
    try:
        for name, test in tests:
            begun = time.monotonic()
            try:
                outcome, word = "passed", test(page, material)
            except Skip as reason:
                outcome, word = "skipped", str(reason)
            except Exception:
                outcome, word = "failed", "\n" + traceback.format_exc()
            counts[outcome] += 1
            print(
                f"{outcome:8} {name} ({time.monotonic() - begun:.1f} s)" +
                (f": {word}" if word else ""), flush=True)
    finally:
        page.quit()
        material.clean()
    print(f"{counts['passed']} passed, {counts['failed']} failed" +
          (f", {counts['skipped']} skipped" if counts["skipped"] else ""))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
