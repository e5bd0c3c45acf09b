"""Counts that are none, in every form that Python has them in: an error that names the record or,
in a private fit, all records but that one; and at home."""

from __future__ import annotations

import unittest
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import scipy.sparse

import dpmf
from support import FolderTest, quiet
from test_arrow import module
from test_events import Frame

USERS, ITEMS, BAD = [1, 2, 3, 3], [1, 2, 3, 1], 1  # the place of the spoilt one

NUMBERS = (0, -1, 1.5, float("nan"), float("inf"), -float("inf"), 2.0**53, 1e300)
WHOLE = (0, -1, 2**53, 2**62)
ANY = NUMBERS + (2**53, 10**400, "often", "", "0", "1.5", b"\xff", None, True, Decimal("1.5"),
                 Decimal("NaN"), Fraction(3, 2), 2 + 3j, np.timedelta64(3, "s"), [2], object())


def counts_with(bad):
    counts = [2, 2, 2, 2]
    counts[BAD] = bad
    return counts


def sparse(kind):
    def make(counts):
        matrix = scipy.sparse.coo_matrix((counts, (USERS, ITEMS)))
        return (matrix.asformat(kind),), {}
    return make


def columns(change):
    return lambda counts: ((USERS, ITEMS), {"counts": change(counts)})


def frame(make):
    return lambda counts: ((make({"user": USERS, "item": ITEMS, "plays": counts}),), {})


def objects(counts):
    array = np.empty(len(counts), dtype=object)
    array[:] = counts
    return array


def singles(counts):
    with np.errstate(over="ignore"):
        return np.array(counts, dtype=np.float32)


def structured(counts):
    return np.array(list(zip(USERS, ITEMS, counts)),
                    dtype=[("user", "i8"), ("item", "i8"), ("plays", "f8")])


FORMS = {
    "a list": (columns(list), ANY),
    "a tuple": (columns(tuple), ANY),
    "an array of objects": (columns(objects), ANY),
    "doubles": (columns(lambda counts: np.array(counts, dtype=np.float64)), NUMBERS),
    "floats": (columns(singles), NUMBERS),
    "whole numbers": (columns(lambda counts: np.array(counts, dtype=np.int64)), WHOLE),
    "unsigned numbers": (columns(lambda counts: np.array(counts, dtype=np.uint64)),
                         (0, 2**53, 2**64 - 1)),
    "texts": (columns(lambda counts: np.array(list(map(str, counts)))),
              (0, -1, 1.5, "often", "", "nan", "1e300", 2**53)),
    "every second one": (columns(lambda counts: np.repeat(np.array(counts, float), 2)[::2]),
                         NUMBERS),
    "a masked array": (columns(lambda counts: np.ma.masked_values(np.array(counts, float), 7)),
                       NUMBERS + (7,)),
    "columns by name": (frame(Frame), ANY),
    "a dict": (frame(dict), ANY),
    "a structured array": (lambda counts: ((structured(counts),), {}), NUMBERS),
    "coo": (sparse("coo"), NUMBERS),
    "csr": (sparse("csr"), NUMBERS),
    "csc": (sparse("csc"), NUMBERS),
    "pandas": (frame(lambda table: module("pandas").DataFrame(table)), NUMBERS + (None, "often")),
    "polars": (frame(lambda table: module("polars").DataFrame(table, strict=False)),
               (0, -1, 2**53, None)),
    "pyarrow": (frame(lambda table: module("pyarrow").table(table)), (0, -1, 2**53, None)),
}


def every_form(test):
    """Each form with each bad count; a form whose library is not here is skipped once."""
    for name, (make, values) in FORMS.items():
        is_here = False
        with test.subTest(form=name):
            make(counts_with(5))
            is_here = True
        for bad in values if is_here else ():
            yield name, bad, make


class Refused(unittest.TestCase):
    def test_every_form_names_the_record(self):
        for name, bad, make in every_form(self):
            with self.subTest(form=name, count=repr(bad)[:20]):
                given, more = make(counts_with(bad))
                with quiet(), self.assertRaises(dpmf.InputError) as caught:
                    dpmf.Model(n_factors=2, n_epochs=1, goal="ranking").fit(*given, **more)
                error = caught.exception
                # The rows of a table in columns are its lines; other columns are sorted.
                self.assertTrue(f"counts[{BAD}]" in error.message or error.line == BAD + 1 or
                                name == "csc" and "counts[" in error.message, error)

    def test_what_is_a_count(self):
        for name, (make, _) in FORMS.items():
            with self.subTest(form=name), quiet():
                given, more = make(counts_with(5))
                model = dpmf.Model(n_factors=2, n_epochs=1, goal="ranking").fit(*given, **more)
                self.assertEqual(len(model.users_), 3)

    def test_lengths(self):
        with self.assertRaisesRegex(dpmf.InputError, "4 users, 4 items, 3 counts"):
            dpmf.Model().fit(USERS, ITEMS, counts=[1, 2, 3])


class Private(FolderTest):
    def dropped(self, given, more):
        """@return how many records a private fit dropped, as the curator is told"""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = dpmf.Model(epsilon=1, goal="ranking", catalogue=[1, 2, 3],
                               insecure_noise_seed=1, progress=False).fit(*given, **more)
        said = [str(one.message) for one in told]
        self.assertEqual(model.report_["ratings"] + len([1 for one in said if "skipped: 1" in one]),
                         len(USERS))
        return [one for one in said if "bad records skipped" in one]

    def test_every_form_drops_the_record(self):
        for name, bad, make in every_form(self):
            with self.subTest(form=name, count=repr(bad)[:20]):
                told = self.dropped(*make(counts_with(bad)))
                self.assertEqual(told, ["bad records skipped: 1"])


class Home(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        users, items = np.divmod(np.arange(400) * 7 % 400, 20)
        keep = (users * items) % 3 > 0
        with quiet():
            cls.model = dpmf.Model(n_factors=2, n_epochs=2, count_weight=0.5).fit(
                users[keep], items[keep], counts=1 + users[keep] % 4)

    def test_bad_counts_name_the_item(self):
        for bad in (0, -3, 0.5, float("nan"), float("inf"), 2**53, 1e300):
            for use in (lambda: self.model.recommend(ratings={5: bad}),
                        lambda: self.model.fold_in(([4, 5], [1, bad])),
                        lambda: self.model.explain({5: bad}, 7),
                        lambda: self.model.fold_in({4: 1}).rate(5, bad),
                        lambda: self.model.recommend_many(ratings=[{4: 1}, {5: bad}])):
                with self.subTest(count=bad), self.assertRaisesRegex(
                        dpmf.InputError, "of item 5 is not a whole number from 1 to"):
                    use()
        for bad in ("often", None, [1]):
            with self.subTest(count=bad), self.assertRaisesRegex(dpmf.InputError, r"counts\[0\]"):
                self.model.recommend(ratings={5: bad})

    def test_good_ones(self):
        me = self.model.fold_in({5: 2**53 - 1, 4: 1.0})
        self.assertEqual(me.rate(4, 2).rate(5, None).ratings, {4: 2.0})
        with quiet():
            both = self.model.fold_in(([5, 5], [2**53 - 1, 2**53 - 1]))
        self.assertEqual(both.ratings, {5: 2.0**53 - 1})

    def test_unknown_items_are_events(self):
        with self.assertWarnsRegex(dpmf.DpmfWarning, "passed over 1 of 2 events"):
            self.model.recommend(ratings={5: 1, "nobody's": 2})
        with self.assertWarnsRegex(dpmf.DpmfWarning, "there is no event of an item"):
            self.model.recommend(ratings=["nobody's"])


if __name__ == "__main__":
    unittest.main()
