"""Runs every test of this folder. The last line is "N passed, N failed[, N skipped]"."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main():
    sys.path.insert(0, str(HERE))
    sys.path.insert(0, str(HERE.parent.parent / "bench" / "paper"))
    result = unittest.TextTestRunner(sys.stdout,
                                     verbosity=0).run(unittest.TestLoader().discover(str(HERE)))
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    for test, why in result.skipped:
        print(f"skipped: {test.id()}: {why}")
    if result.testsRun == 0:
        print("no test was found")
        failed = 1
    print(f"{max(0, result.testsRun - failed - skipped)} passed, {failed} failed" +
          (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
