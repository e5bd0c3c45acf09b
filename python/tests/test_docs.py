"""What is written down is run: the docstrings, the manual page, the example."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import os
import pkgutil
import re
import subprocess
import sys
import unittest
import unittest.mock
import warnings

import numpy as np

import dpmf
from support import ROOT, FolderTest

HAS_SKLEARN = importlib.util.find_spec("sklearn") is not None
FLAGS = doctest.REPORT_NDIFF


def load_tests(loader, tests, pattern):
    for module in pkgutil.iter_modules(dpmf.__path__, "dpmf."):
        if module.name not in ("dpmf._native", "dpmf.__main__"):
            suite = doctest.DocTestSuite(module.name, optionflags=FLAGS)
            if suite.countTestCases():
                tests.addTest(suite)
    manual = ROOT / "docs" / "python.md"
    tests.addTest(doctest.DocFileSuite(str(manual), module_relative=False, optionflags=FLAGS))
    return tests


def plain_blocks(path):
    """The blocks of Python in a page that doctest does not run, as they have no prompt."""
    blocks = re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"),
                        flags=re.DOTALL | re.MULTILINE)
    return [block for block in blocks if ">>>" not in block
            and (HAS_SKLEARN or "sklearn" not in block)]


class Pages(FolderTest):
    """What pages show without a prompt, run as it stands, on ratings that they leave to the
    reader."""

    def run_blocks(self, path, items):
        rng = np.random.default_rng(3)
        users, numbers = np.divmod(rng.permutation(400 * len(items))[:6000], len(items))
        names = np.array(items, dtype=object)[numbers]
        home = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, home)
        blocks = plain_blocks(path)
        self.assertTrue(blocks, path)
        for block in blocks:
            with unittest.mock.patch.dict(os.environ, XDG_STATE_HOME=str(self.folder)), \
                    contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, str(path), "exec"),
                     {"users": users, "items": names, "ratings": 1 + (users + numbers) % 5,
                      "all_items": [*items, "not out yet"]})

    def test_the_manual(self):
        self.run_blocks(ROOT / "docs" / "python.md",
                        ["dune", "alien", *(f"film {i}" for i in range(28))])
        self.assertTrue((self.folder / "release.safetensors").exists())

    @unittest.skipUnless(HAS_SKLEARN, "there is no scikit-learn")
    def test_scikit_learn_of_the_manual(self):
        self.assertEqual(
            sum("sklearn" in block for block in plain_blocks(ROOT / "docs" / "python.md")), 1)

    def test_the_front_page(self):
        self.run_blocks(ROOT / "README.md", ["284", "1905", *(str(i) for i in range(28))])


class Example(FolderTest):
    def test_nearest_neighbours(self):
        """With each index that is installed, and with NumPy."""
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(self.folder)
        }
        done = subprocess.run(
            [sys.executable,
             str(ROOT / "python" / "examples" / "nearest_neighbours.py")], capture_output=True,
            text=True, env=environment, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 4)
        for line in lines:
            self.assertRegex(line, r"finds (9[5-9]|100) %\Z|\A(hnswlib|usearch|faiss) is not")

    def test_movie_night(self):
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(self.folder),
            "PYTHONWARNINGS": "error"
        }
        done = subprocess.run(
            [sys.executable, str(ROOT / "python" / "examples" / "movie_night.py")],
            capture_output=True, text=True, env=environment, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr,
                         r"\Apopulation 'default' has spent mu .* in 1 release, .*\n\Z")
        self.assertIn("The cinema promises epsilon 4", done.stdout)
        self.assertIn("Together they see The ", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
