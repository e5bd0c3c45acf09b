"""What may be claimed of a release: every way of making one, and every place that shows it,
agree."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import unittest

import dpmf
from support import BINARY, FolderTest, quiet, run_dpmf

CATALOGUE, RESEARCH = ["--catalogue-from-ratings"], ["--research"]
SEED = ["--insecure-noise-seed", "1"]
ACCEPTED = {
    "biases": [
        ([], []),
        (["--delta", "0.001", "--accept-delta"], ["delta"]),
        (["--epsilon", "25", "--accept-epsilon"], ["epsilon"]),
        (["--declared-users", "200000", "--epsilon", "25", "--accept-delta",
          "--accept-epsilon"], ["delta", "epsilon"]),
        # accepting what nobody asked for assumes nothing
        (["--accept-delta", "--accept-epsilon"], [])
    ],
    "posterior": [([], []), (["--epsilon", "25", "--accept-epsilon"], ["epsilon"])],
}


def ways():
    """Options of `train`, the kind, and the names of what is assumed."""
    for mechanism, accepted in ACCEPTED.items():
        for catalogue, research, seed, (options, assumed) in itertools.product(
                [False, True], [False, True], [False, True], accepted):
            names = (["convergence"] * (mechanism == "posterior") + ["catalogue"] * catalogue +
                     assumed)
            kind = ("not private" if research or seed else "conditional" if mechanism == "posterior"
                    else "partial" if names else "proven")
            given = [
                "--mechanism", mechanism, *options,
                *(CATALOGUE if catalogue else ["--catalogue", "items.csv"]), *RESEARCH * research,
                *SEED * seed
            ]
            if mechanism == "posterior":
                given += ["--epochs", "2", "-k", "2"]
            if "--epsilon" not in given:
                given += ["--epsilon", "1"]
            yield given, kind, names


class Claims(FolderTest):
    def setUp(self):
        super().setUp()
        run_dpmf("synth", "-q", "--users", "60", "--items", "12", "--ratings", "400",
                 "--catalogue-out", self.folder / "items.csv", "-o", self.folder / "r.dpr")

    def call(self, *words):
        return subprocess.run([BINARY, *words], cwd=self.folder, capture_output=True, text=True)

    def json_of(self, *words):
        return json.loads(self.call(*words, "--json").stdout.splitlines()[-1])

    def check_verify(self, kind, names):
        """Passes what is proven, and else what is assumed when all of that is accepted."""
        of_sampler, others = "convergence" in names, bool(set(names) - {"convergence"})
        for accept, passes in (([], not names), (["--accept", "conditional"], not others),
                               (["--accept", "partial"], not of_sampler), (["--accept",
                                                                            "both"], True)):
            done = self.call("privacy", "verify", "r.safetensors", *accept)
            self.assertEqual(done.returncode, 0 if passes and kind != "not private" else 1, accept)
        found = self.json_of("privacy", "verify", "r.safetensors")
        self.assertEqual(found["verified"], kind == "proven")
        self.assertEqual(found["kind"], kind)
        if kind != "not private":
            self.assertEqual(found["assumptions"], names)

    def check_files(self, kind, number):
        """What is made from a release: nothing of one that is not private, unless it is said to
        be."""
        is_private, folder, web = kind != "not private", f"csv{number}", f"web{number}"
        self.assertEqual(
            self.call("export", "r.safetensors", "--csv", folder).returncode,
            0 if is_private else 6)
        if not is_private:
            self.assertEqual(
                self.call("export", "r.safetensors", "--csv", folder, "--not-private").returncode,
                0)
        facts = json.loads((self.folder / folder / "model.json").read_text())
        self.assertEqual((facts["claim"], facts["not_private"]), (kind, not is_private))
        self.assertEqual(
            json.loads((self.folder / folder / "statement.json").read_text())["kind"], kind)
        done = self.call("export", "r.safetensors", "--web", web)
        if "without the page" in done.stderr:
            return
        self.assertEqual(done.returncode, 0 if is_private else 6)
        if is_private:
            page = (self.folder / web / "index.html").read_text()
            block = re.search(r'id="dpmf-statement">(.*?)</script>', page, re.S)[1]
            self.assertEqual(json.loads(block)["kind"], kind)

    def check_ledger(self, kind, population):
        """A release is listed with its kind, which is the kind of all that a population of its own
        has spent."""
        done = self.call("ledger", "show", "--ledger", "l", "--population", population, "--json")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        kinds = [line["kind"] for line in lines if line["event"] == "release"]
        self.assertEqual(kinds, [] if kind == "not private" else [kind])
        if kind == "not private":
            return
        self.assertEqual(lines[0]["kind"], kind)
        head, entry = self.call("ledger", "show", "--ledger", "l", "--population",
                                population).stdout.splitlines()[::2]
        self.assertEqual(entry.split()[5], kind)
        self.assertIn({"proven": "; no budget",
                       "partial": ", partial, not proven;"}.get(kind, ", conditional on"), head)
        self.assertEqual("partial" in head or "conditional" in head, kind != "proven")

    def test_every_way(self):
        self.call("ledger", "init", "l")
        for number, (given, kind, names) in enumerate(ways()):
            with self.subTest(" ".join(given)):
                done = self.call("train", "r.dpr", "--rating-range", "1:5", "--ledger", "l",
                                 "--population", f"p{number}", "--json", "--replace",
                                 "-o", "r.safetensors", *given)
                self.assertEqual(done.returncode, 0, done.stderr)
                said = json.loads(done.stdout.splitlines()[-1])
                self.assertEqual((said["kind"], said["assumptions"]), (kind, names))
                self.assertEqual("NOT PRIVATE" in done.stderr, kind == "not private")
                text = self.call("privacy", "show", "r.safetensors").stdout
                self.assertIn(f"\nkind: {kind}\n", text)
                self.assertEqual("\nWhat is promised\n" in text, kind == "proven")
                shown = self.json_of("privacy", "show", "r.safetensors")
                self.assertEqual((shown["kind"], [one["name"] for one in shown["assumptions"]]),
                                 (kind, names))
                described = self.json_of("describe", "r.safetensors")
                self.assertEqual((described["claim"], described["assumptions"]), (kind, names))
                self.assertIn({"not private": "NOT PRIVATE",
                               "proven": "proven"}.get(kind, f"{kind.upper()}, not proven"),
                              self.call("describe", "r.safetensors").stdout)
                with quiet():
                    statement = dpmf.load(self.folder / "r.safetensors").privacy_
                self.assertEqual((statement.kind, list(statement.assumptions)), (kind, names))
                self.assertEqual((statement.is_proven, statement.is_private),
                                 (kind == "proven", kind != "not private"))
                self.assertEqual("not proven" in repr(statement), kind
                                 in ("partial", "conditional"))
                self.check_verify(kind, names)
                self.check_ledger(kind, f"p{number}")
                self.check_files(kind, number)


if __name__ == "__main__":
    unittest.main()
