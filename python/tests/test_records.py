"""Record by record: insert any record anywhere, in any form that ratings can have, and what
everyone else rated is the same.

With DPMF_TEST_LONG set, 100,000 records are inserted; else a few thousand.
"""

from __future__ import annotations

import csv
import datetime
import io
import os
import random
import unittest
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np

import dpmf
from dpmf._ids import id_bytes
from dpmf._native import ffi, lib
from dpmf._ratings import Reading, columns_of, store_from_columns
from dpmf._records import times_of
from dpmf._run import Run
from support import FolderTest, private_model, quiet

try:
    import pandas
except ImportError:
    pandas = None

CASES = 100_000 if os.environ.get("DPMF_TEST_LONG") else 3000
NAMES = ("user", "item", "rating", "timestamp")
PRIVATE = Reading(skip_bad=True, by_record=True)

# Values that someone could have written, most of which are no ids, ratings or times.
ODD = [
    None,
    float("nan"),
    float("inf"), -0.0, 1.5, 2.0**60, 2**70, -(2**63), 10**400, True, False, "", " ", "n/a", "soon",
    "now", "nan", "inf", "4", " 4 ", "4,5", "0x10", "1_0", "4\0", "NULL", "x" * 70_000, "\ud800",
    "\u0664", "é", '"', "a,b\nc", b"", b"\xff", b"4", [], [1, 2], {}, (),
    object(),
    Decimal("4.5"),
    Decimal("NaN"),
    Decimal("1e999"),
    np.int64(4),
    np.float32(4.5),
    np.float16("inf"),
    np.bool_(True),
    np.datetime64("NaT"),
    np.datetime64("2020-01-01"),
    np.str_("x"),
    datetime.date(2020, 1, 1),
    datetime.datetime(1, 1, 1),
    datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),
    datetime.timedelta(1), 1e308, 3 + 4j,
    complex(4),
    complex("nan"),
    np.complex64(4 + 1j),
    np.timedelta64(1, "D"),
    np.timedelta64(1, "ns"),
    np.timedelta64("NaT"),
    np.datetime64(1, "ns"), 10**5000, -(10**5000),
    Decimal("sNaN"),
    Fraction(9, 2)
]
if pandas is not None:
    ODD += [pandas.NA, pandas.NaT, pandas.Timestamp("2020-01-01"), pandas.Timedelta(1, "s")]


def packed(ratings):
    """What everyone has rated, as the store has it: by user, every rating to the bit."""
    run = Run(1, 0, None)
    with quiet():
        store = store_from_columns(columns_of(ratings), PRIVATE, run)
    read, write = os.pipe()
    with os.fdopen(read, "rb") as file:
        error = ffi.new("struct dpmf_error *")
        code = lib.dpmf_store_export_csv(store.pointer, ffi.NULL, write, run.pointer, ffi.NULL,
                                         error)
        os.close(write)
        assert code == 0, ffi.string(error.message)
        text = file.read().decode("utf-8", "surrogateescape")
    people = {}
    for user, *rating in list(csv.reader(text.splitlines(keepends=True)))[1:]:
        people.setdefault(user, []).append(rating[:3])
    return {user: sorted(ratings) for user, ratings in people.items()}


def found(columns):
    """The same of columns in which nothing may be usable."""
    try:
        return packed(tuple(columns))
    except dpmf.InputError:
        return {}


# ---- forms -------------------------------------------------------------------------------------


def as_lists(records):
    return tuple(list(column) for column in zip(*records))


def as_object(column):
    array = np.empty(len(column), dtype=object)
    for place, value in enumerate(column):
        array[place] = value
    return array


def as_objects(records):
    return tuple(map(as_object, zip(*records)))


def as_dict(records):
    return dict(zip(NAMES, as_lists(records)))


def as_frame(records):
    """With the types that pandas finds best."""
    try:
        return pandas.DataFrame(as_dict(records))
    except OverflowError:  # there is none
        return as_object_frame(records)


def as_object_frame(records):
    return pandas.DataFrame(as_dict(records), dtype=object)


def as_arrays(records):
    """With the types that NumPy finds best, which are texts where there is one."""
    arrays = []
    for place, column in enumerate(zip(*records)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                array = np.array(column)
            except Exception:  # pylint: disable=broad-except
                array = None
        # What NumPy changes is the caller's affair: here, only what it keeps.
        kept = array is not None and array.ndim == 1 and array.dtype.kind in "iufcOU" and not any(
            isinstance(value, (bool, np.bool_)) for value in column)
        arrays.append(array if kept else as_objects(records)[place])
    return tuple(arrays)


FORMS = ([as_lists, as_objects, as_dict, as_arrays] +
         ([as_frame, as_object_frame] if pandas is not None else []))
# nothing becomes a float
EXACT = [as_lists, as_objects, as_dict] + ([as_object_frame] if pandas is not None else [])


def people(ids, rng):
    return [(user, item, rng.choice([1, 2.5, 4, 5]), 1_000_000 + rng.randrange(9))
            for user in ids for item in rng.sample(range(5), 3)]


IDS = {
    "small": [3, 14, 15, 926], "texts": ["3", "ann", "bob b", "é"],
    "negative": [-1, 2, -2**40, 2**53 - 1], "large": [2**53 + 1, 2**60, 2**63 - 1, -(2**63)]
}


class Inserted(unittest.TestCase):
    def insert(self, kind, case):
        rng = random.Random(f"{kind} {case}")
        records = people(IDS[kind], random.Random(kind))
        evil = [rng.choice(ODD), rng.choice(ODD), rng.choice(ODD), rng.choice(ODD)]
        for place in range(4):  # most of it may be sound
            if rng.random() < 0.5:
                evil[place] = [
                    rng.choice(["mallory", 666, 667.0, -13]),
                    rng.randrange(5), 3, 1_000_000
                ][place]
        if any(id_bytes(evil[0]) == id_bytes(user) for user in IDS[kind]):
            return
        form = rng.choice(EXACT if kind == "large" else FORMS)
        records.insert(rng.randrange(len(records) + 1), tuple(evil))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = packed(form(records))
        others = {user: ratings for user, ratings in found.items() if user in self.expected[kind]}
        self.assertEqual(others, self.expected[kind],
                         (kind, case, form.__name__, [type(value) for value in evil]))

    def test_nobody_else_is_changed(self):
        self.expected = {
            kind: packed(as_lists(people(ids, random.Random(kind)))) for kind, ids in IDS.items()
        }
        for kind, ids in IDS.items():
            self.assertEqual(set(self.expected[kind]), set(map(str, ids)))
            for case in range(CASES // len(IDS)):
                self.insert(kind, case)

    def test_every_form_of_the_same_values(self):
        """Whole numbers, floats, objects, texts: the same people."""
        ids, items, ratings, times = (list(column)
                                      for column in zip(*people(IDS["small"], random.Random(1))))
        expected = packed((ids, items, ratings, times))
        texts = [list(map(str, column)) for column in (ids, items, ratings, times)]
        for users in (ids, np.array(ids), np.array(ids, dtype=np.float64),
                      np.array(ids, dtype=object), texts[0], np.array(texts[0]),
                      np.array(texts[0], dtype=bytes), list(map(float,
                                                                ids)), np.ma.masked_array(ids)):
            self.assertEqual(packed((users, items, ratings, times)), expected)
        for column in (np.array(ratings), np.array(ratings,
                                                   dtype=object), texts[2], np.array(texts[2]),
                       list(map(Decimal, texts[2])), [np.float32(rating) for rating in ratings]):
            self.assertEqual(packed((ids, items, column, times)), expected)
        moments = np.array(times, dtype="datetime64[s]")
        for column in (np.array(times), np.array(times, dtype=np.float64), texts[3], moments,
                       moments.astype("datetime64[ns]"), moments.tolist(), list(map(str, moments)),
                       np.array(times, dtype=np.uint64)):
            self.assertEqual(packed((ids, items, ratings, column)), expected)

    def test_types_that_one_value_changes(self):
        """A value means the same in an array of its type as in the array of objects that one word
        makes of it."""
        columns = [
            np.arange(6) + 1,
            np.arange(6) % 3,
            np.arange(6) % 5 + 1.0,
            np.arange(6) + 1_000_000
        ]
        evil = ["mallory", 1, 3, 1_000_000]
        for kind in (complex, np.complex64, "m8[ns]", "m8[s]", "m8[D]", "M8[ns]", "M8[s]", "M8[D]",
                     np.float16, np.longdouble, bool, "S9", "U9"):
            for role, name in enumerate(NAMES):
                whole = columns[role].astype(int)
                typed = (whole % 2 if kind == np.float16 else whole).astype(kind)
                alone = [typed if place == role else column for place, column in enumerate(columns)]
                mixed = [[*column, evil[place]] for place, column in enumerate(alone)]
                mixed[role][-1] = "zzz"
                for form in (list, as_object):
                    with self.subTest(kind=kind, name=name, form=form.__name__):
                        others = found([form(column) for column in mixed])
                        self.assertEqual(
                            {
                                user: value
                                for user, value in others.items() if user not in ("mallory", "zzz")
                            }, found(alone))

    def test_dates_and_spans_are_no_ids_and_no_ratings(self):
        numbers = np.arange(6)
        for kind in ("m8[ns]", "m8[s]", "M8[ns]", "M8[s]"):
            for role in range(3):
                with self.subTest(kind=kind, role=role):
                    self.assertEqual(
                        found([
                            numbers.astype(kind) if place == role else numbers for place in range(3)
                        ]), {})
            times = numbers.astype(kind)
            self.assertEqual(len(found([numbers, numbers, numbers, times])),
                             0 if kind[0] == "m" else 6)

    def test_a_number_of_too_many_digits(self):
        """Python does not write it, so that it is no id; whoever wrote it harms nobody else."""
        sound = packed(([1, 2], [3, 4], [5, 5]))
        for huge in (10**5000, -(10**5000)):
            self.assertEqual(packed(([1, huge, 2], [3, 3, 4], [5, 5, 5])), sound)
            self.assertEqual(packed(([1, 9, 2], [3, huge, 4], [5, 5, 5])), sound)
            self.assertEqual(packed(([1, 9, 2], [3, 3, 4], [5, huge, 5])), sound)
            for columns in (([1, huge], [3, 4], [5, 5]), ([1, 2], [3, huge], [5, 5]),
                            ([1, 2], [3, 4], [5, huge])):
                with self.assertRaisesRegex(dpmf.InputError, r"\[1\] is <int of 16610 bits>"):
                    dpmf.Model(n_epochs=1).fit(*columns)

    def test_a_nul_byte_in_an_id(self):
        """No wish could name such an id, so that its record is a bad one."""
        sound = packed((["a", "b"], ["x", "y"], [5, 4]))
        for users, items in ((["a", "\0m",
                               "b"], ["x", "x", "y"]), (["a", "m\0m",
                                                         "b"], ["x", "x",
                                                                "y"]), (["a", "m",
                                                                         "b"], ["x", "x\0x", "y"])):
            for form in (list, as_object, np.array) + ((pandas.Series, ) if pandas is not None else
                                                       ()):
                self.assertEqual(packed((form(users), form(items), [5, 3, 4])), sound)
                with self.assertRaisesRegex(dpmf.InputError, r"\[1\] holds a NUL byte"):
                    dpmf.Model(n_epochs=1).fit(form(users), form(items), [5, 3, 4])

    def test_floats_beyond_whole_numbers(self):
        """What a missing id has made floats of is left out, and the cause is named."""
        users = np.array([2.0**53 - 1, 2.0**53, 2.0**60, np.nan, -np.inf])
        columns = users, np.arange(5), np.arange(5)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            store_from_columns(columns_of(*columns), PRIVATE, Run(1, 0, None))
        said = "\n".join(str(warning.message) for warning in caught)
        self.assertRegex(
            said, '2 of 5 users are floats of 2\\^53 or more, and left out: .*as text or.*"Int64"')
        self.assertTrue(any(
            issubclass(warning.category, dpmf.PrivacyWarning) for warning in caught))
        with self.assertRaisesRegex(dpmf.InputError, r'(?s)^users\[1\] is .*as text or.*"Int64"'):
            dpmf.Model(n_epochs=1).fit(*columns)

    def test_floats_of_few_bits(self):
        """A float is an id while no other whole number is the same float."""
        for kind, bits in ((np.float16, 11), (np.float32, 24), (np.float64, 53)):
            users = np.array([2**bits - 1, 2**bits, 1 - 2**bits, -(2**bits)], dtype=kind)
            for form in (users, list(users)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self.assertEqual(set(packed((form, np.arange(4), np.arange(4)))),
                                     {str(2**bits - 1), str(1 - 2**bits)})
            with self.assertRaisesRegex(dpmf.InputError, r"^users\[1\] is "):
                dpmf.Model(n_epochs=1).fit(users, np.arange(4), np.arange(4))
        model = dpmf.Model(n_epochs=1).fit([2**24, 5, 6], [1, 2, 3], [4, 5, 3])
        with self.assertRaisesRegex(dpmf.InputError, r"users\[0\] is "):
            model.predict(np.array([2**24], dtype=np.float32), [1])

    def test_what_is_missing_is_nobody(self):
        ids = [2**60 + 1, 2**60 + 3, 7]

        class Nullable:
            """As Arrow and polars have whole numbers: floats for NumPy as soon as one is
            missing."""

            def __array__(self, dtype=None):
                return np.array([float(value) for value in ids] + [np.nan], dtype=dtype)

            def is_null(self):
                return [False, False, False, True]

            def fill_null(self, value):
                return np.array(ids + [value])

        masked = np.ma.masked_array(ids + [7], mask=[False, False, False, True])
        for users in (Nullable(), masked, ids + [None]):
            self.assertEqual(
                packed((users, [1, 2, 3, 4], [1, 2, 3, 4])),
                {str(user): [[str(place + 1), str(place + 1)]] for place, user in enumerate(ids)})
        self.assertEqual(
            packed(([1, 2, 3], [1, 1, 1], np.ma.masked_array([1, 2, 3], mask=[False, True,
                                                                              False]))),
            {"1": [["1", "1"]], "3": [["1", "3"]]})

    def test_libraries_that_are_here(self):
        """Frames of polars and of Arrow, with a number that is missing."""
        columns = {"user": [2**60 + 1, None, 7], "item": [1, 2, None], "rating": [1.5, 2.0, 3.0]}
        found = 0
        for name, make in (("polars", "DataFrame"), ("pyarrow", "table")):
            try:
                frame = getattr(__import__(name), make)(columns)
            except ImportError:
                continue
            found += 1
            self.assertEqual(packed(frame), {str(2**60 + 1): [["1", "1.5"]]})
        if not found:
            self.skipTest("neither polars nor pyarrow is here")


class InsertedEvents(unittest.TestCase):
    """The same of events: users, items, counts and times by their names, and users and items
    alone."""

    SHAPES = {("user", "item", "plays", "timestamp"): [0, 1, 2, 3], ("user", "item"): [0, 1]}

    @staticmethod
    def events(records, names, places):
        columns = list(zip(*records))
        return dict(zip(names, (list(columns[place]) for place in places)))

    def test_nobody_else_is_changed(self):
        rng = random.Random("events")
        # Pairs occur more than once: whose counts add up is nobody else's affair.
        records = [(user, item, 1 + (user + item) % 4, 1_000_000 + item)
                   for user in IDS["small"] for item in (1, 2, 2, 4)]
        for names, places in self.SHAPES.items():
            expected = packed(self.events(records, names, places))
            self.assertEqual(set(expected), set(map(str, IDS["small"])))
            for case in range(CASES // 6):
                evil = [
                    rng.choice(ODD),
                    rng.choice(ODD),
                    rng.choice(ODD + [0, -1, 2**53 + 2]),
                    rng.choice(ODD)
                ]
                for place in range(4):
                    if rng.random() < 0.5:
                        evil[place] = [
                            rng.choice(["mallory", 666, 667.0, -13]),
                            rng.randrange(5), 3, 1_000_000
                        ][place]
                if any(id_bytes(evil[0]) == id_bytes(user) for user in IDS["small"]):
                    continue
                inserted = list(records)
                inserted.insert(rng.randrange(len(records) + 1), tuple(evil))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = packed(self.events(inserted, names, places))
                others = {user: events for user, events in found.items() if user in expected}
                self.assertEqual(others, expected, (names, case, [type(value) for value in evil]))


class Matrices(unittest.TestCase):
    """Whatever someone has in a cell, and whatever type the matrix has for it: that cell alone."""

    def setUp(self):
        self.matrix = np.array([[1 + (user * 3 + item) % 5 for item in range(6)]
                                for user in range(7)], dtype=float)
        self.matrix[3, 2] = np.nan
        self.others = {user: value for user, value in packed(self.matrix).items() if user != "0"}
        self.assertEqual(len(self.others), 6)

    def check(self, matrix):
        self.assertEqual({user: value for user, value in packed(matrix).items() if user != "0"},
                         self.others)

    def test_one_cell(self):
        for value in ODD:
            with self.subTest(kind=type(value).__name__):
                matrix = self.matrix.astype(object)
                matrix[0, 1] = value
                self.check(matrix)

    def test_types(self):
        for kind in (np.float32, np.float16, complex, object, "U9", "S9"):
            self.check(self.matrix.astype(kind))
        # texts, all of them
        self.check(np.array([["n/a", *map(str, self.matrix[0, 1:])], *self.matrix[1:].tolist()]))
        self.check(np.ma.masked_invalid(self.matrix))
        self.check(
            np.ma.masked_array(np.nan_to_num(self.matrix).astype(int), mask=np.isnan(self.matrix)))

    def test_whole_numbers(self):
        """One cell that is missing makes floats of them: without, a private run reads the same
        ratings."""
        whole = np.nan_to_num(self.matrix, nan=3.0)
        self.assertEqual(packed(whole.astype(int)), packed(whole))
        with self.assertRaisesRegex(dpmf.InputError, "does not say what was not rated"):
            dpmf.Model(n_epochs=1).fit(whole.astype(int))

    def test_lists_are_no_matrices(self):
        """NumPy would make numbers, texts, objects or nothing at all of them, after what is in one
        row."""
        clean = self.matrix.tolist()
        for rows in (clean, [clean[0][:5], *clean[1:]], [["n/a", *clean[0][1:]],
                                                         *clean[1:]], [[], *clean[1:]],
                     list(zip([1, 2], [3, 4], [5, 5])), []):
            with self.assertRaisesRegex(dpmf.InputError,
                                        "^a list alone is neither columns nor a matrix of ratings"):
                packed(rows)
        self.assertEqual(packed(tuple(zip(*[(1, 3, 5), (2, 4, 5)]))),
                         packed(([1, 2], [3, 4], [5, 5])))

    def test_records_are_no_matrix(self):
        """An array of three or four columns is refused by its shape."""
        for count in (3, 4):
            for kind in (float, int, object, "U9"):
                with self.assertRaisesRegex(dpmf.InputError,
                                            f"^an array of {count} columns may be records"):
                    packed(self.matrix[4:, :count].astype(kind))
            self.assertEqual(len(packed(np.ma.masked_invalid(self.matrix[:, :count]))), 7)


class Sets(unittest.TestCase):
    """A set has no order: nobody knows which of its members belong together."""

    def test_columns(self):
        lists = [["ann", "bob", "cid"], ["x", "y", "z"], [1, 3, 5], [7, 8, 9]]
        names = ("users", "items", "ratings", "timestamps")
        for place, kind in ((0, set), (1, frozenset), (2, set), (3, set)):
            columns = list(lists)
            columns[place] = kind(columns[place])
            with self.assertRaisesRegex(dpmf.InputError, f"^{names[place]} is a .*no order"):
                dpmf.Model(n_factors=2, n_epochs=1).fit(*columns)
        model = dpmf.Model(n_factors=2, n_epochs=1).fit(*lists)
        with self.assertRaises(dpmf.InputError):  # one id, which a set is not
            model.predict({"ann", "bob"}, ["x", "y"])
        with self.assertRaisesRegex(dpmf.InputError, "no order"):
            model.recommend(ratings=({"x", "y"}, [1, 2]))
        keys = dict.fromkeys(lists[0]).keys()  # which have one
        dpmf.Model(n_factors=2, n_epochs=1).fit(keys, *lists[1:])
        self.assertEqual(
            model.recommend("ann", include={"y"}, exclude=frozenset("z")).items.tolist(), ["y"])

    def test_zones(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            times = times_of(["2020-01-01T00:00:00+02:00", "2020-01-01T00:00:00-0130",
                              "2020-01-01 00:00Z", "2020-01-01", "2020-01-01T12:00"], False)[0]
        first = 1577836800
        self.assertEqual(list(times), [first - 7200, first + 5400, first, first, first + 43200])


class Releases(FolderTest):
    """The reproductions: one record decided about everyone's."""

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(3)
        users, items = np.divmod(rng.permutation(100 * 20)[:1000], 20)
        self.records = list(
            zip(users.tolist(), items.tolist(), (1 + (users + items) % 5).tolist(),
                [1_000_000] * 1000))

    def told(self, frame):
        """A release of these ratings, and what was said."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = private_model(self.folder, catalogue=range(20)).fit(frame)
        return model, "\n".join(str(warning.message) for warning in caught)

    def check(self, *record):
        """The release is of the same people, and nothing that is said holds what someone wrote."""
        forms = ([as_frame] if pandas is not None else []) + [as_dict]
        for form in forms:
            model, said = self.told(form([record] + self.records))
            self.assertEqual((model.report_["users"], model.report_["ratings"]), (100, 1000))
            self.assertEqual(model.items_.dtype, np.int64)
            for value in record:
                if isinstance(value, str) and value:
                    self.assertNotIn(value, said)

    def test_an_id_that_is_missing(self):
        self.check(None, 3, 4, 1_000_000)
        self.check(float("nan"), 3, 4, 1_000_000)
        self.check("", 3, 4, 1_000_000)

    def test_a_rating_that_is_no_number(self):
        self.check(5000, 3, "n/a", 1_000_000)
        if pandas is None:
            return
        # In a file it makes texts of all ratings.
        text = ("user,item,rating,timestamp\n5000,3,n/a,soon\n" +
                "".join("%s,%s,%s,%s\n" % record for record in self.records))
        frame = pandas.read_csv(io.StringIO(text), keep_default_na=False)
        self.assertEqual(frame["rating"].iloc[1], str(self.records[0][2]))
        model, said = self.told(frame)
        self.assertEqual((model.report_["users"], model.report_["ratings"]), (100, 1000))
        self.assertNotIn("n/a", said)

    def test_a_time_that_is_none(self):
        self.check(5000, 3, 4, "soon")

    def test_an_item_that_is_a_text(self):
        """What the ids of a release look like is for its catalogue to say."""
        self.check(5000, "mallory's", 9, 1_000_000)

    def test_ordinary_runs_name_the_record(self):
        for place, value in ((0, None), (1, ""), (2, "n/a"), (3, "soon")):
            record = list(self.records[7])
            record[place] = value
            records = self.records[:7] + [tuple(record)] + self.records[7:]
            name = ("users", "items", "ratings", "timestamps")[place]
            with self.assertRaisesRegex(dpmf.InputError, rf"^{name}\[7\] is "):
                dpmf.Model(n_epochs=1).fit(as_dict(records))


if __name__ == "__main__":
    unittest.main()
