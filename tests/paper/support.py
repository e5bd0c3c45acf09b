"""What the tests share: the program, scratch folders, and runs of paper.py with sections of the
test's own."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PAPER = pathlib.Path(__file__).resolve().parent.parent.parent / "bench" / "paper"
DPMF = os.environ["DPMF_BINARY"]

SECTION = '''
TITLE = "{title}"
PAPER = "what is claimed"
from report import Plot, Series, Table, Text

def {function}(work, path):
    with open(path, "a") as file:
        file.write("measured\\n")
    {body}
    return 7

def measure(work):
    return {{"value": work.once("it", {function}, work, "{log}")}}

def show(data):
    return [Table("it", ["value"], [[data["value"]]])]

def verdict(data):
    return "confirmed", "it is so"
'''


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"
        self.sections = self.folder / "sections"
        self.sections.mkdir()

    def section(self, name, body="pass", title="A figure", function="count"):
        log = self.folder / f"{name}.log"
        (self.sections / f"{name}.py").write_text(
            SECTION.format(title=title, body=body, log=log, function=function))
        return log

    def command(self, *options):
        return [
            sys.executable,
            str(PAPER / "paper.py"), DPMF, "--scale", "tiny", "--out",
            str(self.out), "--sections",
            str(self.sections), *options
        ]

    def run_paper(self, *options, env=None):
        return subprocess.run(self.command(*options), capture_output=True, text=True,
                              env={**os.environ, **(env or {})})

    def script(self, name, text):
        path = self.folder / name
        path.write_text("#!/bin/bash\n" + text)
        path.chmod(0o755)
        return str(path)
