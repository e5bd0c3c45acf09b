"""What is written down is run: the docstrings, the manual page, the example."""

from __future__ import annotations

import doctest
import os
import pkgutil
import subprocess
import sys
import unittest
import warnings

import dpmf
from support import ROOT, FolderTest

FLAGS = doctest.REPORT_NDIFF


def load_tests(loader, tests, pattern):
    for module in pkgutil.iter_modules(dpmf.__path__, "dpmf."):
        if module.name != "dpmf._native":
            suite = doctest.DocTestSuite(module.name, optionflags=FLAGS)
            if suite.countTestCases():
                tests.addTest(suite)
    manual = ROOT / "docs" / "python.md"
    tests.addTest(doctest.DocFileSuite(str(manual), module_relative=False, optionflags=FLAGS))
    return tests


class Example(FolderTest):
    def test_movie_night(self):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(self.folder),
                       "PYTHONWARNINGS": "error"}
        done = subprocess.run([sys.executable, str(ROOT / "python" / "examples" / "movie_night.py")],
                              capture_output=True, text=True, env=environment, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("The cinema promises epsilon 4", done.stdout)
        self.assertIn("Together they see The ", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
