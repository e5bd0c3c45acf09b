"""Whole runs: what fails is said to have failed, and a tiny one from ratings to report and
documents."""
import json
import os
import re
import subprocess
import sys

import publish
from paper import load_section, section_files
from support import DPMF, PAPER, Scratch
from work import CLAIMS, Failure, Work

ROOT = PAPER.parent.parent


class FailureTest(Scratch):
    def test_a_failed_section_makes_no_whole_report(self):
        self.section("10_good")
        self.assertEqual(self.run_paper().returncode, 0)
        self.section("20_bad", 'raise RuntimeError("no <data>")')
        self.section("30_good", function="count_too")
        run = self.run_paper()
        self.assertEqual(run.returncode, 1)
        self.assertIn("NOT WHOLE", run.stdout)
        found = json.loads((self.out / "report.json").read_text())
        self.assertFalse(found["complete"])
        self.assertEqual(found["failed"], ["20_bad"])
        self.assertEqual([s["verdict"] for s in found["sections"]],
                         ["confirmed", "failed", "confirmed"])
        page = (self.out / "report.html").read_text()
        self.assertIn("<title>NOT WHOLE", page)
        self.assertIn("no &lt;data&gt;", page)
        published = subprocess.run(
            [sys.executable, PAPER / "publish.py", self.out / "report.json", "--root", self.folder],
            capture_output=True, text=True)
        self.assertNotEqual(published.returncode, 0)
        self.assertIn("20_bad", published.stderr)

    def test_nothing_stands_in_for_a_measurement_that_fails_later(self):
        self.section("10_once")
        self.assertEqual(self.run_paper().returncode, 0)
        self.section("10_once", 'raise RuntimeError("gone")')
        self.assertEqual(self.run_paper().returncode, 1)
        self.assertEqual(
            json.loads((self.out / "report.json").read_text())["sections"][0]["shown"], [])

    def test_a_section_that_cannot_be_read_or_shown_fails(self):
        (self.sections / "10_broken.py").write_text("TITLE = (\n")
        (self.sections / "20_empty.py").write_text("TITLE = 'x'\n")
        self.section("30_odd")
        path = self.sections / "30_odd.py"
        path.write_text(path.read_text().replace('"confirmed"', '"splendid"'))
        self.assertEqual(self.run_paper().returncode, 1)
        self.assertEqual(json.loads((self.out / "report.json").read_text())["failed"],
                         ["10_broken", "20_empty", "30_odd"])

    def test_usage(self):
        self.section("10_good")
        for options in (["--only", "nothing"], ["--only", ","], ["--scale", "huge"]):
            run = self.run_paper(*options)
            self.assertEqual(run.returncode, 1, options)
            self.assertIn("paper.py: ", run.stderr)
            self.assertNotIn("Traceback", run.stderr)

    def test_a_part_says_that_it_is_one(self):
        self.section("10_good")
        self.section("20_other")
        self.assertEqual(self.run_paper("--only", "other").returncode, 0)
        found = json.loads((self.out / "report.json").read_text())
        self.assertFalse(found["complete"])
        self.assertEqual(found["left_out"], ["10_good"])
        self.assertIn("Not in it: 10_good", (self.out / "report.html").read_text())


def seen_machine():
    """The environment without what someone named: publish.py takes what was seen alone."""
    return {name: value for name, value in os.environ.items() if name not in CLAIMS}


class TinyTest(Scratch):
    def test_from_ratings_to_documents(self):
        run = subprocess.run([
            sys.executable, PAPER / "paper.py", DPMF, "--scale", "tiny", "--out", self.out,
            "--only", "15,20,25,30,70"
        ], capture_output=True, text=True, env=seen_machine())
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads((self.out / "report.json").read_text())
        self.assertEqual(found["failed"], [])
        self.assertEqual([s["name"][:2] for s in found["sections"]], ["15", "20", "25", "30", "70"])
        self.assertTrue(all(d["label"].startswith("synthetic") for d in found["datasets"]))
        self.assertIn("LIBMF", [p["name"] for p in found["absent"]])
        for section in found["sections"]:
            for shown in section["shown"]:
                if shown["kind"] != "text":
                    self.assertTrue(
                        (self.out / "csv" / f"{section['name']}.{shown['name']}.csv").exists())
        self.assertNotIn(str(self.folder), (self.out / "report.html").read_text())
        self.check_publish(found)

    def check_publish(self, found):
        (self.folder / "docs").mkdir()
        before = (
            "Before.\n\n<!-- from report: tiny 30_time_by_dimension.speed_netflix -->\nold\n<!-- "
            "end -->\n\n"
            "<!-- from report: full 30_time_by_dimension.speed_netflix -->\nkept\n<!-- end -->\n"
            "<!-- from report: tiny 10_bandwidth.bandwidth -->\nkept too\n<!-- end -->\nAfter.\n")
        (self.folder / "README.md").write_text(before)
        (self.folder / "docs" / "performance.md").write_text("nothing here\n")
        command = [
            sys.executable, PAPER / "publish.py", self.out / "report.json", "--busy", "--root",
            self.folder
        ]
        self.assertEqual(subprocess.run([*command, "--check"], capture_output=True).returncode, 1)
        self.assertEqual((self.folder / "README.md").read_text(), before)
        subprocess.run([*command, "--page"], check=True, capture_output=True)
        after = (self.folder / "README.md").read_text()
        self.assertNotIn("old", after)
        self.assertIn("kept\n", after)
        self.assertIn("kept too\n", after)
        self.assertTrue(after.startswith("Before.") and after.endswith("After.\n"))
        self.assertIn("| 8 | ", after)
        self.assertIn("`make paper SCALE=tiny`", after)
        self.assertEqual(subprocess.run([*command, "--check"], capture_output=True).returncode, 0)
        folder = next((self.folder / "docs" / "paper" / "tiny").iterdir())
        kept = (folder / "README.md").read_text()
        for name in re.findall(r"\]\((.*?\.svg)\)", kept):
            self.assertTrue((folder / name).read_text().startswith("<svg"))
        self.assertIn("20_rmse_by_time.netflix_8.svg", kept)
        (self.folder /
         "README.md").write_text("<!-- from report: tiny 15_power_law.no_such -->\n<!-- end -->\n")
        missing = subprocess.run(command, capture_output=True, text=True)
        self.assertNotEqual(missing.returncode, 0)
        self.assertIn("no table 15_power_law.no_such", missing.stderr)


class DivergingTest(Scratch):
    def test_only_the_papers_steps_may_diverge(self):
        section = load_section(PAPER / "sections" / "20_rmse_by_time.py")
        work = Work(DPMF, self.out, "tiny", say=lambda text: None)
        dataset = work.dataset("netflix")
        steps = ["--learning-rate", "50", "--decay", "0", "--patience", "0"]
        run = section.dpmf_run(work, dataset, 8, 3, steps, True)
        self.assertTrue(run["diverged"])
        with self.assertRaisesRegex(Failure, "diverged"):
            section.dpmf_run(work, dataset, 8, 3, steps, False)
        good = section.dpmf_run(work, dataset, 8, 3, [], False)
        self.assertEqual(len(good["rmse_by_time"]), 3)
        panel = {
            "set": "netflix", "title": "N", "label": "l", "k": 8, "epochs": 3,
            "runs": [{"name": "C-SGD", "way": "sgd", **good},
                     {"name": "theirs", "way": "paper", **run}]
        }
        texts = [
            x.text for x in section.show({"panels": [panel], "skipped": []}) if hasattr(x, "text")
        ]
        self.assertTrue(any("diverged: N at k = 8" in text for text in texts))


class TreeTest(Scratch):
    def test_every_section_is_whole(self):
        names = [path.stem for path in section_files(PAPER / "sections")]
        self.assertEqual(names, sorted(names))
        for path in section_files(PAPER / "sections"):
            module = load_section(path)
            self.assertTrue(module.TITLE and len(module.PAPER) > 40, path)

    def test_every_block_of_the_documents_can_be_written(self):
        sections = {path.stem: path.read_text() for path in section_files(PAPER / "sections")}
        for document in publish.DOCUMENTS:
            text = (ROOT / document).read_text(encoding="utf-8")
            blocks = publish.BLOCK.findall(text)
            self.assertEqual(len(blocks), text.count("<!-- from report:"), document)
            for _, scale, section, table, _, body, _ in blocks:
                self.assertIn(section, sections, document)
                stem = re.sub(r"_(netflix|yahoo)$", "_", table)
                self.assertIn(stem, sections[section], f"{document}: {section}.{table}")
                self.assertIn(scale, ("small", "medium", "full"))
                self.assertIn("|", body, f"{document}: {section}.{table} is empty")
