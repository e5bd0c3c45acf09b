"""Plots and pages: well-formed, nothing from outside gets through as markup, the numbers of a plot
are there."""
import base64
import csv
import io
import re
import unittest
from xml.etree import ElementTree

import report
from plot import Axis, Plot, Series, number_text
from report import Table, Text

EVIL = "<script>alert(\"x\")</script>&'"


def facts(**changes):
    found = {
        "scale": EVIL, "finished": "now", "seconds_text": "1 s",
        "program": {"version": EVIL, "sha256": "0" * 64}, "seed": 1, "left_out": [],
        "datasets": [{"name": EVIL, "label": EVIL}], "peers": [{"name": EVIL, "description": EVIL}],
        "absent": [{"name": EVIL, "how": EVIL}], "machine": dict.fromkeys(
            ("processor", "threads", "caches", "memory", "system", "load"), EVIL), "measurements": [
                {"name": EVIL, "commands": [{"command": EVIL, "seconds": 1.0, "status": 0}]}
            ],
    }
    return {**found, **changes}


def section(shown, **changes):
    return {
        "name": "10_x", "title": EVIL, "paper": EVIL, "verdict": "confirmed", "why": EVIL,
        "shown": shown, **changes
    }


def evil_plot(**options):
    return Plot(
        "p", EVIL, EVIL, EVIL,
        [Series(EVIL, [(1, 2, 1.5, 2.5), (10, 20)]),
         Series("theirs", [(1, 3)], quoted=True)], note=EVIL, **options)


class PlotTest(unittest.TestCase):
    def test_is_well_formed_and_escaped(self):
        for options in ({}, {"log_x": True,
                             "log_y": True}, {"kind": "scatter"}, {"from_zero": True}):
            text = evil_plot(**options).svg(standalone=True)
            ElementTree.fromstring(text)
            self.assertNotIn("<script", text)

    def test_bars(self):
        plot = Plot("b", "bars", "x", "y",
                    [Series("a", [(EVIL, 3), ("two", 5)]),
                     Series("b", [("two", 1)])], kind="bar")
        root = ElementTree.fromstring(plot.svg(standalone=True))
        self.assertEqual(len(root.findall(".//{*}rect")), 3)
        heights = [float(r.get("height")) for r in root.findall(".//{*}rect")]
        self.assertAlmostEqual(heights[0] / heights[1], 3 / 5, places=2)

    def test_bars_of_a_logarithmic_axis_stand_on_it(self):
        plot = Plot("b", "bars", "x", "y", [Series("a", [("one", 0.1), ("two", 100)])], kind="bar",
                    log_y=True)
        for bar in ElementTree.fromstring(plot.svg(standalone=True)).findall(".//{*}rect"):
            self.assertGreater(float(bar.get("height")), 1)

    def test_what_is_quoted_is_dashed_and_says_so(self):
        text = evil_plot().svg()
        self.assertEqual(text.count("(quoted from the paper)"), 1)
        self.assertIn("stroke-dasharray", text)
        self.assertIn("theirs (quoted from the paper)", [row[0] for row in evil_plot().rows()])

    def test_marks_lie_within_the_frame(self):
        root = ElementTree.fromstring(evil_plot(log_x=True).svg(standalone=True))
        width, height = map(float, root.get("viewBox").split()[2:])
        for circle in root.findall(".//{*}circle"):
            self.assertTrue(0 < float(circle.get("cx")) < width and
                            0 < float(circle.get("cy")) < height)

    def test_refuses_what_cannot_be_drawn(self):
        with self.assertRaises(ValueError):
            Series("a", [(1, float("nan"))])
        with self.assertRaises(ValueError):
            Series("a", [(float("inf"), 1)])
        with self.assertRaises(ValueError):
            Plot("p", "t", "x", "y", [Series("a", [])])
        with self.assertRaises(ValueError):
            Plot("p", "t", "x", "y", [Series("a", [(0, 1)])], log_x=True).svg()

    def test_ticks_lie_on_the_axis(self):
        for values, log in (([1, 1], False), ([0.001, 5e6], True), ([0.91, 0.94], False),
                            ([16, 2048], True), ([0, 0], False), ([3, 3], True), ([-5, 7], False)):
            axis = Axis(values, log, 0, 100)
            ticks = axis.ticks()
            self.assertGreaterEqual(len(ticks), 2, values)
            self.assertLessEqual(len(ticks), 10, values)
            for tick in ticks:
                self.assertTrue(-1e-6 <= axis.place(tick) <= 100 + 1e-6, (values, tick))

    def test_numbers_for_people(self):
        for value, text in ((1234567, "1,234,567"), (0.84123, "0.8412"), (12.345, "12.35"),
                            (385.5, "385.5"), (1.5e9, "1,500,000,000"), (123456789.5, "1.23e+08"),
                            (0, "0"), (None, ""), (True, "yes"), (-0.5, "-0.5000"),
                            (12345.6, "12,346"), (1e-7, "1e-07")):
            self.assertEqual(number_text(value), text)


class PageTest(unittest.TestCase):
    def page(self, shown, **changes):
        return report.page([section(shown, **changes)], facts())

    def test_nothing_gets_through_as_markup(self):
        text = self.page(
            [Text(EVIL + " `" + EVIL + "`"),
             Table("t", [EVIL], [[EVIL]], EVIL),
             evil_plot()])
        self.assertNotIn("<script", text)
        self.assertNotIn("alert(\"", text)
        self.assertIn("&lt;script&gt;", text)

    def test_a_failure_is_escaped_and_stands_on_top(self):
        text = self.page([], verdict="failed")
        self.assertNotIn("<script", text)
        self.assertIn("<title>NOT WHOLE", text)
        self.assertIn("This report is not whole: 1 of 1", text)

    def test_needs_nothing_else(self):
        text = self.page([evil_plot(), Table("t", ["a"], [[1]])])
        for address in re.findall(r'(?:href|src)="([^"]*)"', text):
            self.assertTrue(address.startswith(("#", "data:")), address)
        self.assertNotIn("url(", text)
        self.assertNotIn("@import", text)

    def test_the_numbers_of_a_plot_are_a_table_and_a_file(self):
        text = self.page([evil_plot()])
        self.assertIn("<details>", text)
        encoded = re.search(r'href="data:text/csv;base64,([^"]*)"', text)[1]
        rows = list(csv.reader(io.StringIO(base64.b64decode(encoded).decode())))
        self.assertEqual(rows[1], [EVIL, "1", "2", "1.5", "2.5"])
        self.assertEqual(len(rows), 4)

    def test_dark_and_print(self):
        self.assertIn("prefers-color-scheme:dark", report.STYLE)
        self.assertIn("@media print", report.STYLE)

    def test_a_ragged_table_is_refused(self):
        with self.assertRaises(ValueError):
            Table("t", ["a", "b"], [[1]])
