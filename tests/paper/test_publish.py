"""What publish.py keeps and prints: one report a processor, the newest of each; what other work
disturbed is refused."""
import contextlib
import io
import json

import publish
from support import Scratch

ZEN3, ZEN4 = ("L1 data 32 KiB, L2 unified 512 KiB, L3 unified 32 MiB",
              "L1 data 32 KiB, L2 unified 1 MiB, L3 unified 32 MiB")
GUESSED = "L1 32 KiB, L2 256 KiB, L3 2 MiB (guessed)"
DOCUMENT = ("# Here\n\n<!-- from report: small 30_speed.speed -->\n<!-- end -->\n\n"
            "<!-- from report: small 55_error.error newest -->\n<!-- end -->\nThe end.\n")


def table(name, value, timed=True):
    return {
        "kind": "table", "name": name, "columns": ["k", "value"], "rows": [[16, value]],
        "caption": f"{name}s.", "timed": timed
    }


def a_report(value, caches=ZEN4, finished="2026-11-17 10:00 UTC", others=0.01, **changes):
    speed = {
        "name": "30_speed", "title": "Speed", "verdict": "no claim", "why": "so", "paper": "said",
        "shown": [table("speed", value)]
    }
    error = {**speed, "name": "55_error", "shown": [table("error", value, timed=False)]}
    return {
        "failed": [], "scale": "small", "finished": finished, "program": {"version": "dpmf 1"},
        "seed": 1, "seconds_text": "9 s", "datasets": [], "peers": [], "absent": [], "left_out": [],
        "machine": {
            "processor": "AMD EPYC", "threads": 2, "caches": caches, "kernels": "avx512",
            "memory": "24 GiB"
        },
        "measurements": [{"name": f"{section}.{k}", "seconds": 5.0, "others": others, "load": 99}
                         for section in ("30_speed", "55_error")
                         for k in (16, 64)], "sections": [speed, error], **changes
    }


class PublishTest(Scratch):
    def setUp(self):
        super().setUp()
        (self.folder / "docs").mkdir()
        (self.folder / "README.md").write_text(DOCUMENT)
        (self.folder / "docs" / "performance.md").write_text("Nothing.\n")

    def publish(self, report, *options):
        path = self.folder / "report.json"
        path.write_text(json.dumps(report))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return publish.main([str(path), "--root", str(self.folder), *options])

    def refused(self, report, words, *options):
        before = (self.folder / "README.md").read_text()
        with self.assertRaisesRegex(publish.Refusal, words):
            self.publish(report, *options)
        self.assertEqual((self.folder / "README.md").read_text(), before)
        self.assertFalse((self.folder / "docs" / "paper").exists())

    def document(self):
        return (self.folder / "README.md").read_text()

    def test_one_of_each_processor_and_the_newest_first(self):
        self.publish(a_report(1.11, ZEN3, "2026-11-15 10:00 UTC"))
        self.publish(a_report(2.22, ZEN4, "2026-11-16 10:00 UTC"))
        speed, error = self.document().split("<!-- end -->")[:2]
        self.assertIn("1.110", speed)
        self.assertLess(speed.index("2.220"), speed.index("1.110"))
        self.assertLess(speed.index("L2 unified 1 MiB"), speed.index("L2 unified 512 KiB"))
        self.assertIn("2.220", error)
        self.assertNotIn("1.110", error)  # does not depend on the processor: the newest alone
        self.publish(a_report(3.33, ZEN3, "2026-11-17 10:00 UTC"))
        speed = self.document().split("<!-- end -->")[0]
        self.assertNotIn("1.110", speed)
        self.assertLess(speed.index("3.330"), speed.index("2.220"))
        folders = sorted(p.name for p in (self.folder / "docs/paper/small").iterdir())
        self.assertEqual(folders, ["amd-epyc-32k-1m-32m", "amd-epyc-32k-512k-32m"])
        self.assertTrue(self.document().startswith("# Here\n\n<!-- from") and
                        self.document().endswith("The end.\n"))

    def test_an_older_one_does_not_replace_a_newer(self):
        self.publish(a_report(2.22, finished="2026-11-17 10:00 UTC"))
        self.publish(a_report(1.11, finished="2026-11-15 10:00 UTC"))
        self.assertIn("2.220", self.document())
        self.assertNotIn("1.110", self.document())

    def test_a_part_leaves_the_rest(self):
        self.publish(a_report(1.11))
        part = a_report(2.22)
        part["sections"] = part["sections"][1:]
        self.publish(part)
        speed, error = self.document().split("<!-- end -->")[:2]
        self.assertIn("1.110", speed)
        self.assertIn("2.220", error)

    def test_a_busy_machine_is_refused(self):
        self.refused(a_report(1.11, others=0.5), r"30_speed.speed \(it had 25% of the machine\)")
        unknown = a_report(1.11)
        del unknown["measurements"][0]["others"]
        self.refused(unknown, "30_speed.speed .nothing was recorded")
        self.publish(a_report(1.11, others=0.5), "--busy")
        self.assertIn("Other work disturbed the machine", self.document().split("<!-- end -->")[0])
        # nothing of it is a time
        self.assertNotIn("disturbed", self.document().split("<!-- end -->")[1])
        self.assertNotIn("load", self.document())
        self.publish(a_report(2.22))
        self.assertNotIn("disturbed", self.document())

    def test_what_is_unsound_is_refused(self):
        self.refused(a_report(1.11, failed=["30_speed"]), "30_speed", "--busy")
        self.refused(a_report(1.11, "L1 48 KiB, L2 2 MiB, L3 260 MiB (by DPMF_CACHES)"),
                     "named, not seen", "--busy")
        as_if = a_report(1.11)
        as_if["machine"]["claims"] = ["DPMF_CORES=64"]
        self.refused(as_if, "named, not seen: DPMF_CORES=64", "--busy")
        self.refused(a_report(1.11, GUESSED), "named, not seen", "--busy")
        less = a_report(1.11)
        less["sections"][0]["shown"] = []
        less["sections"][0]["shown"].append(table("other", 1))
        self.refused(less, "no table 30_speed.speed")

    def test_a_machine_that_reports_no_caches(self):
        report = a_report(1.11, GUESSED)
        report["machine"]["claims"] = []
        self.assertEqual(self.publish(report), 0)
        self.assertIn(GUESSED, self.document())

    def test_check(self):
        self.assertEqual(self.publish(a_report(1.11), "--check"), 1)
        self.assertEqual(self.document(), DOCUMENT)
        self.publish(a_report(1.11), "--page")
        self.assertEqual(self.publish(a_report(1.11), "--check"), 0)
        self.assertEqual(publish.main(["--check", "--root", str(self.folder)]), 0)
        self.assertTrue((self.folder / "docs/paper/small/amd-epyc-32k-1m-32m/README.md").exists())
        (self.folder / "README.md").write_text(self.document().replace("1.110", "9.999"))
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(publish.main(["--check", "--root", str(self.folder)]), 1)


class TreeTest(Scratch):
    def test_the_documents_show_what_is_kept(self):
        self.assertEqual(publish.main(["--check"]), 0)
