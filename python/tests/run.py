"""Runs every test of this folder. The last line is "N passed, N failed[, N skipped]"."""

from __future__ import annotations

import signal
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Result(unittest.TextTestResult):
    """Counts, and keeps how long each test took."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.n_passed = 0
        self.seconds: list[tuple[float, str]] = []

    def startTest(self, test):
        self._begun = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        self.seconds.append((time.monotonic() - self._begun, test.id()))
        super().stopTest(test)

    def addSuccess(self, test):
        self.n_passed += 1
        super().addSuccess(test)


def main() -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, if begun in the background
    sys.path.insert(0, str(HERE))
    suite = unittest.TestLoader().discover(str(HERE))
    runner = unittest.TextTestRunner(sys.stdout, resultclass=Result, verbosity=0,
                                     warnings="default")
    result = runner.run(suite)
    for test, why in result.skipped:
        print(f"skipped: {test.id()}: {why}")
    for seconds, name in sorted(result.seconds, reverse=True)[:3]:
        print(f"{seconds:6.1f} s  {name}")
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = f", {len(result.skipped)} skipped" if result.skipped else ""
    print(f"{result.n_passed} passed, {failed} failed{skipped}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
