"""Histories of other services: the made-up files of tests/cli/fixtures/diary, through Python."""

from __future__ import annotations

import unittest
import warnings
from pathlib import Path

import dpmf
from support import FolderTest, quiet

FIXTURES = Path(__file__).resolve().parents[2] / "tests" / "cli" / "fixtures" / "diary"
TITLES = {
    "lamp": "Lamp, The (1999)", "moon": "Moon Wars: A Tale of Space (1977)",
    "tea": "Tea, Sugar & Salt (2003)", "rocket": "Rocket II (1987)", "told": "Twice Told (2011)",
    "again": "Twice Told (2011)", "other": "Other (1950)"
}


def model():
    users = [f"u{i}" for i in range(6) for _ in TITLES]
    items = [item for _ in range(6) for item in TITLES]
    with quiet():
        return dpmf.Model(n_factors=2, n_epochs=3).fit(users, items,
                                                       [1 + (i * 7) % 5 for i in range(len(items))])


class HistoryTest(FolderTest):
    def test_a_file_is_matched(self):
        with self.assertWarnsRegex(UserWarning, "2 of 6 titles were not matched"):
            history = model().read_history(FIXTURES / "letterboxd.csv", TITLES)
        self.assertEqual(history.service, "letterboxd")
        self.assertEqual(history.ratings, {"lamp": 4.0, "moon": 5.0, "tea": 1.0})
        self.assertEqual(history.seen, ["lamp", "moon", "tea", "rocket"])
        told = history.entries[4]
        self.assertEqual((told.match, told.item, sorted(told.candidates)),
                         ("unsure", None, ["again", "told"]))
        self.assertEqual(history.entries[0].year, 1999)

    def test_ratings_may_be_a_file(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            me = model().fold_in(str(FIXTURES / "letterboxd.csv"), TITLES)
            best = model().recommend(ratings=FIXTURES / "letterboxd.csv", titles=TITLES)
        self.assertEqual(me.ratings, {"lamp": 4.0, "moon": 5.0, "tea": 1.0})
        self.assertEqual(set(me.recommend().items), {"told", "again", "other"})
        self.assertEqual(set(best.items), {"told", "again", "other"})

    def test_an_archive_is_read(self):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            history = model().read_history(FIXTURES / "letterboxd.zip", TITLES)
        self.assertEqual((history.service, history.ratings),
                         ("letterboxd", {"lamp": 4.0, "moon": 5.0, "tea": 1.0}))
        self.assertTrue(
            any("2 files of the archive were left out" in str(one.message) for one in said))

    def test_several_people_are_refused(self):
        path = Path(self.folder) / "several.csv"
        for column in ["account", "Profile Name", "member"]:
            path.write_text(f"title,rating,{column}\nThe Lamp,4,a\nRocket II,2,b\n")
            with self.assertRaisesRegex(dpmf.DpmfError, "about several people"):
                model().read_history(path, TITLES)

    def test_other_files_are_refused(self):
        with self.assertRaises(dpmf.DpmfError):
            model().read_history(__file__, TITLES)
        with self.assertRaises(dpmf.DpmfError):
            model().read_history(FIXTURES / "no_such_file.csv", TITLES)
        with self.assertRaises(dpmf.DpmfError):
            model().read_history(FIXTURES / "imdb.csv", "Lamp")


if __name__ == "__main__":
    unittest.main()
