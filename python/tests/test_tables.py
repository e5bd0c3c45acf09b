"""Frames, series, arrays, dicts and files, read as what they are; and that no message holds what is
in them."""

from __future__ import annotations

import traceback
import unittest
import warnings

import numpy as np

import dpmf
from dpmf._arrow import Exported
from support import FolderTest, made_up, private_model, quiet, releases_in

SECRETS = ("alice", "bob", "carol", "4711", "dune")


class Column:
    """A column of an Arrow table: its text shows what is in it, as that of a real one does."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None):
        return np.array(self.values, dtype=dtype)

    def __repr__(self):
        return f"<ChunkedArray {self.values}>"

    def to_pylist(self):
        return list(self.values)


class Made(Exported):
    """Columns as Arrow has them."""

    def __init__(self, columns):
        self.columns = {
            name: values if isinstance(values[0], str) else np.array(values, dtype=np.float64)
            for name, values in columns.items()
        }

    def _arrow_columns(self):
        return self.columns


class ArrowTable:
    """What is used of a pyarrow.Table, which has its columns where others have the names of
    theirs."""

    class Schema:
        def __init__(self, names):
            self.names = names

    def __init__(self, **columns):
        self.schema = self.Schema(list(columns))
        self.column_names = list(columns)
        self.columns = [Column(values) for values in columns.values()]

    def column(self, place):
        return self.columns[place]

    def __getitem__(self, name):
        return self.columns[self.column_names.index(name)]

    def __len__(self):
        return len(self.columns[0])

    def to_pydict(self):
        return {name: column.values for name, column in zip(self.column_names, self.columns)}

    def __arrow_c_stream__(self, requested_schema=None):
        return Made(self.to_pydict()).__arrow_c_stream__(requested_schema)

    def __repr__(self):
        return f"<pyarrow.Table {self.to_pydict()}>"


class Stream:
    """Something that offers Arrow data and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)

    def __repr__(self):
        return f"<Stream of {self.table!r}>"


def pandas():
    try:
        import pandas
    except ImportError:
        raise unittest.SkipTest("there is no pandas")
    return pandas


class Interchange:
    """A frame of the interchange protocol alone."""

    def __init__(self, frame):
        self.frame = frame

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self.frame.__dataframe__(nan_as_null, allow_copy)

    def __repr__(self):
        return repr(self.frame)


def structured(names, *columns):
    kinds = [np.asarray(column).dtype for column in columns]
    return np.array(list(zip(*columns)), dtype=list(zip(names, kinds)))


class Catalogues(FolderTest):
    """Wrong catalogues do not spend."""

    def setUp(self):
        super().setUp()
        self.ratings = made_up(n_users=200, n_items=40, n=3000)

    def fit(self, catalogue):
        with quiet():
            return private_model(self.folder, catalogue=catalogue).fit(*self.ratings)

    def test_read_as_what_they_are(self):
        ids, titles = list(range(50)), [f"title {i}" for i in range(50)]
        (self.folder / "items.csv").write_text("title,item\n" + "".join(f"title {i},{i}\n"
                                                                        for i in ids))
        for catalogue in (ids, tuple(ids), np.arange(50), range(50), iter(ids),
                          dict(zip(ids, titles)).keys(), dict(zip(ids, titles)),
                          {i: {"title": "x"} for i in ids}, {"title": titles, "movieId": ids},
                          {i: ["comedy",
                               "drama"] for i in ids}, ArrowTable(title=titles, item_id=ids),
                          Column(ids), structured(["title", "movieId"], titles, ids),
                          np.array(ids, dtype=object), list(map(str,
                                                                ids)), self.folder / "items.csv"):
            with self.subTest(kind=type(catalogue).__name__):
                model = self.fit(catalogue)
                self.assertEqual(list(map(int, model.items_)), ids)
                self.assertEqual(model.report_["not_in_catalogue"], 0)

    def test_pandas(self):
        frames = pandas()
        movies = frames.DataFrame(
            {"title": [f"title {i}" for i in range(50)], "movieId": range(50)})
        for catalogue in (movies, movies.movieId, movies.set_index("movieId"),
                          movies.movieId.values, frames.Index(movies.movieId),
                          movies.movieId.astype(str), movies.movieId.astype("category"),
                          Interchange(movies)):
            with self.subTest(kind=type(catalogue).__name__):
                model = self.fit(catalogue)
                self.assertEqual(list(map(int, model.items_)), list(range(50)))
        # as index and as column is once too often only where both are columns
        self.assertEqual(len(self.fit(movies.set_index("movieId", drop=False)).items_), 50)
        for wrong in (movies[["title"]], movies.rename(columns={"movieId": "number"}),
                      movies.assign(item=movies.movieId), movies.T):
            with self.assertRaisesRegex(dpmf.InputError,
                                        "of the .* columns of catalogue could be item"):
                self.fit(wrong)
        self.assertFalse((self.folder / "ledger").exists() and self.spent_by_refusals())

    def spent_by_refusals(self):
        before = (self.folder / "ledger").read_bytes()
        with self.assertRaises(dpmf.DpmfError):
            self.fit({"title": ["x"], "year": [1999]})
        return before != (self.folder / "ledger").read_bytes()

    def test_refused_by_shape(self):
        for wrong in ({"title": ["a", "b"], "year": [1, 2]}, {"item": [1], "movieId": [2]},
                      ArrowTable(title=["a"], year=[1]), structured(["a", "b"], [1, 2], [3, 4]),
                      np.zeros((3, 2), dtype=int), np.array(3), 5, object(),
                      Stream(ArrowTable(title=[1])), [[1, 2]], [None], [1.5]):
            with self.subTest(kind=type(wrong).__name__), self.assertRaises(dpmf.DpmfError):
                self.fit(wrong)
        self.assertEqual(releases_in(self.folder / "ledger"), 0)  # nothing was spent

    def test_times_are_no_items(self):
        """NumPy makes whole numbers of them where they are finer than Python's."""
        times = np.arange(50).astype("datetime64[ns]")
        for wrong in (times, times - times[0], {"item": times},
                      np.array([(t, ) for t in times], dtype=[("item", "M8[ns]")])):
            with self.assertRaisesRegex(dpmf.InputError, "column of times"):
                self.fit(wrong)
        self.assertEqual(releases_in(self.folder / "ledger"), 0)

    def test_tables_about_people(self):
        """Ratings under whatever names, and whatever names an item twice, are no catalogue and no
        features."""
        items = list(range(50))
        for name in ("user", "username", "Rater", "e-mail", "memberNo", "customer", "account",
                     "user:token", "rating", "eps"):
            for wrong in (ArrowTable(item=items, **{name: items}), {"item": items, name: items}):
                with self.subTest(name=name), self.assertRaises(dpmf.PrivacyRefused):
                    self.fit(wrong)
            with self.subTest(name=name), self.assertRaises(dpmf.PrivacyRefused):
                private_model(self.folder, catalogue=items,
                              item_features={"item": items, name: items}).fit(*self.ratings)
        with self.assertRaises(dpmf.PrivacyRefused):
            self.fit(items + [3])
        with self.assertRaises(dpmf.PrivacyRefused):
            private_model(self.folder, catalogue=items,
                          item_features={"item": items, "x": items}).fit(*self.ratings)
        self.assertEqual(releases_in(self.folder / "ledger"), 0)
        self.assertEqual(len(self.fit({"item": items, "public:user score": items}).items_), 50)

    def test_features_and_wishes_of_frames(self):
        table = ArrowTable(movieId=list(range(50)), year=[1950 + i for i in range(50)],
                           genre=["a|b", "b"] * 25)
        wishes = ArrowTable(userId=[3, 4, 4], eps=[0.0, 0.5, 0.25])
        with quiet():
            model = private_model(self.folder, catalogue=table, item_features=table,
                                  user_privacy=wishes).fit(*self.ratings)
        self.assertTrue(model.privacy_["has_features"] and model.privacy_["personalised"])
        self.assertEqual(model.report_["users_left_out"], 1)
        self.assertEqual((model.report_["wishes"], model.report_["wishes_twice"]), (2, 1))
        for name, wrong in (("user_privacy", ArrowTable(userId=[3], epsilon=[1.0], eps=[2.0])),
                            ("user_privacy", ArrowTable(userId=[3], user=[3], eps=[2.0])),
                            ("user_privacy", {"user": [3],
                                              "privacy": [1.0]}), ("user_privacy", [3, 4]),
                            ("item_features", ArrowTable(year=[3])), ("item_features",
                                                                      {3: {"year": [1]}})):
            with self.assertRaises(dpmf.DpmfError, msg=name):
                private_model(self.folder, catalogue=range(50), **{name: wrong}).fit(*self.ratings)

    def test_wishes_of_texts_and_numbers_of_numpy(self):
        """They are users and epsilons, and no table of columns."""
        users, items, ratings = self.ratings
        for number in (float, np.float64, np.float32, np.array):
            with self.subTest(kind=number.__name__), quiet():
                model = private_model(self.folder, catalogue=range(50),
                                      user_privacy={"3": number(0.0),
                                                    "4": number(0.5)}).fit(users, items, ratings)
                self.assertEqual((model.report_["users_left_out"], model.report_["wishes"]), (1, 2))

    def test_series_by_row(self):
        """A series that nobody gave an index to has the numbers of its rows, which are no users."""

        class RangeIndex(list):
            name = None

        class Series(list):
            index = RangeIndex([0, 1])
            to_numpy = None

        series = [Series([0.0, 0.5])]
        try:
            frame = pandas().DataFrame({"user": [3, 4], "epsilon": [0.0, 0.5]})
            series += [frame["epsilon"], frame[frame.epsilon == 0]["epsilon"]]
        except unittest.SkipTest:
            pass
        for wishes in series:
            with self.assertRaisesRegex(dpmf.UsageError, "numbered by its rows"):
                private_model(self.folder, catalogue=range(50),
                              user_privacy=wishes).fit(*self.ratings)
        self.assertEqual(releases_in(self.folder / "ledger"), 0)

    def test_series_of_wishes(self):
        frames = pandas()
        wishes = frames.Series([0.0, 0.5], index=frames.Index([3, 4], name="user"))
        with quiet():
            model = private_model(self.folder, catalogue=range(50),
                                  user_privacy=wishes).fit(*self.ratings)
        self.assertEqual((model.report_["users_left_out"], model.report_["wishes"]), (1, 2))


    def test_wishes_by_an_index(self):
        """Of a frame or a series it is the users where it is named so, or a series of texts; an
        index of another name may be anything."""
        frames = pandas()
        frame = frames.DataFrame({"user": [3, 4], "epsilon": [0.0, 0.5], "row": [3, 4]})
        texts = frames.Series([0.0, 0.5], index=["3", "4"])
        for wishes in (frame.set_index("user")[["epsilon"]], frame.set_index("user")["epsilon"],
                       frame.set_index("row")[["user", "epsilon"]], texts,
                       texts.rename_axis("userId")):
            with quiet():
                model = private_model(self.folder, catalogue=range(50),
                                      user_privacy=wishes).fit(*self.ratings)
            self.assertEqual((model.report_["users_left_out"], model.report_["wishes"]), (1, 2))
            self.assertEqual(model.report_["wishes_of_nobody"], 0)
        before = releases_in(self.folder / "ledger")
        by_two = frame.set_index(["user", "row"])["epsilon"]
        for wishes in (frame.set_index("row")["epsilon"], frame.set_index("row")[["epsilon"]],
                       texts.rename_axis("row"), by_two,
                       frames.Series([0.0, 0.5], index=[3.0, 4.0]),
                       frames.Series([0.0, 0.5], index=frames.Index([3, 4], dtype=object)),
                       frame.set_index("user", drop=False)):
            with self.assertRaises((dpmf.UsageError, dpmf.InputError)):
                private_model(self.folder, catalogue=range(50),
                              user_privacy=wishes).fit(*self.ratings)
        self.assertEqual(releases_in(self.folder / "ledger"), before)

    def test_lazy_tables(self):
        """Lazy frames of polars are collected; what their library says of one that fails is not
        repeated."""

        class LazyFrame:
            """What is used of it; its columns cannot be had one by one."""

            def __init__(self, made):
                self.made = made

            @property
            def columns(self):
                return ["nothing"]

            def __getitem__(self, key):
                raise TypeError("alice")

            def collect(self):
                if self.made is None:
                    raise ValueError("alice")
                return self.made

        wishes = LazyFrame(ArrowTable(user=[3, 4], epsilon=[0.0, 0.5]))
        catalogue = LazyFrame(ArrowTable(item=list(range(50))))
        with quiet():
            model = private_model(self.folder, catalogue=catalogue,
                                  user_privacy=wishes).fit(*self.ratings)
        self.assertEqual((model.report_["users_left_out"], model.report_["wishes"]), (1, 2))
        for name in ("user_privacy", "catalogue"):
            with self.assertRaises(dpmf.InputError) as caught:
                private_model(self.folder, **{"catalogue": range(50), name: LazyFrame(None)}).fit(
                    *self.ratings)
            self.assertNotIn("alice", "".join(traceback.format_exception(caught.exception)))

    def refused(self, kind, **parameters):
        with quiet(), self.assertRaises(kind):
            private_model(self.folder, **{"catalogue": range(50), **parameters}).fit(*self.ratings)
        self.assertEqual(releases_in(self.folder / "ledger"), 0)

    def test_columns_of_unequal_length(self):
        """What is beyond the shortest is not lost without a word."""
        self.refused(dpmf.InputError, user_privacy={"user": [3, 4, 5], "epsilon": [0.0, 0.0]})
        self.refused(dpmf.InputError, user_privacy=ArrowTable(user=[3, 4], epsilon=[0.0]))
        self.refused(dpmf.InputError,
                     item_features={"item": list(range(50)), "year": list(range(49))})

    def test_narrow_floats_in_wishes(self):
        """A float32 from 2^24 on stands for several users."""
        for kind, end in ((np.float32, 2**24), (np.float16, 2**11)):
            users = np.array([3, end], dtype=kind)
            self.refused(dpmf.InputError, user_privacy={"user": users, "epsilon": [0.0, 0.0]})
            self.refused(dpmf.InputError, catalogue=users)
        with quiet():
            wishes = {"user": np.array([3, 4], dtype=np.float32), "epsilon": [0.0, 0.5]}
            model = private_model(self.folder, catalogue=range(50),
                                  user_privacy=wishes).fit(*self.ratings)
        self.assertEqual((model.report_["users_left_out"], model.report_["wishes"]), (1, 2))

    def test_wishes_that_can_be_read_once(self):
        """In a second fit nobody would have a wish."""
        try:
            import pyarrow as pa
        except ImportError:
            self.skipTest("pyarrow is not installed")
        table = pa.table({"user": [3, 4], "epsilon": [0.0, 0.5]})
        self.refused(dpmf.InputError, user_privacy=table.to_reader())
        with quiet():
            model = private_model(self.folder, catalogue=range(50), user_privacy=table)
            for _ in range(2):
                self.assertEqual(model.fit(*self.ratings).report_["users_left_out"], 1)
        empty = table.slice(0, 0)
        with self.assertWarnsRegex(dpmf.PrivacyWarning, "names nobody"):
            private_model(self.folder, catalogue=range(50), user_privacy=empty).fit(*self.ratings)

    def test_what_another_library_says(self):
        """DuckDB names the value that it could not convert, which is a person's."""

        class Relation:
            def __arrow_c_stream__(self, requested_schema=None):
                raise ValueError("Could not convert string 'alice' to INT32")

        with self.assertRaises(dpmf.InputError) as raised:
            private_model(self.folder, catalogue=range(50)).fit(Relation())
        shown = "".join(traceback.format_exception(raised.exception))
        self.assertNotIn("alice", shown)
        self.assertIsNone(raised.exception.__context__)
        with self.assertRaisesRegex(ValueError, "alice"):
            dpmf.Model(n_epochs=1).fit(Relation())
        with self.assertRaises(dpmf.DpmfError) as raised:
            private_model(self.folder, catalogue=range(50),
                          user_privacy=Relation()).fit(*self.ratings)
        self.assertNotIn("alice", "".join(traceback.format_exception(raised.exception)))


class Messages(FolderTest):
    """No error, warning or repr holds what is in a table; of a record at fault at most that one."""

    def said(self, call):
        """All that a call says: warnings, and the exception with all that Python shows of it."""
        told = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                call()
            except Exception as failure:  # pylint: disable=broad-except
                told.extend(part for part in traceback.format_exception(failure)
                            if "File " not in part)
                while failure is not None:  # those too that Python would not show
                    told.append(f"{failure!r} {vars(failure)}")
                    failure = failure.__context__
        told.extend(str(warning.message) for warning in caught)
        return "\n".join(told)

    def silent(self, call, but=()):
        text = self.said(call)
        for secret in SECRETS:
            if secret not in but:
                self.assertNotIn(secret, text)
        return text

    def table(self, names=("user", "item", "rating")):
        return ArrowTable(**dict(
            zip(names, (["alice", "bob", "carol"], ["dune", "dune", "4711"], [4711, 3.0, 2.0]))))

    def test_arrow_tables_are_read(self):
        with quiet():
            for table in (self.table(), self.table().to_pydict()):
                model = dpmf.Model(n_factors=1, n_epochs=1).fit(table)
                self.assertEqual(sorted(model.users_), ["alice", "bob", "carol"])
        with quiet():
            model = private_model(self.folder, catalogue=["dune", "4711"]).fit(self.table())
        self.assertEqual(model.report_["users"], 2)  # a rating of 4711 is off the scale

    def test_frames_that_are_not_understood(self):
        for fit in (dpmf.Model(n_epochs=1).fit, private_model(self.folder, catalogue=["a"]).fit):
            for names in (("who", "what", "stars?"), ("user", "user_id", "rating"),
                          ("alice", "dune", "4711")):
                self.assertRegex(self.silent(lambda: fit(self.table(names))), "InputError")
                self.assertRegex(self.silent(lambda: fit(Stream(self.table(names)))), "InputError")
            for wrong in (self.table().columns, self.table()["user"], "alice", [self.table()],
                          {"alice": "dune"}, object(), [["alice", "dune", 4711]]):
                self.assertRegex(self.silent(lambda: fit(wrong)), "Error")
            for wrong in ("alice", 4711, self.table(), [["alice", "bob"], ["carol", "dune"]]):
                self.silent(lambda: fit(wrong, ["dune", "dune"], [1, 2]))
                self.silent(lambda: fit(["alice", "bob"], wrong, [1, 2]))
                self.silent(lambda: fit(["alice", "bob"], ["dune", "dune"], wrong))

    def test_pandas(self):
        frames = pandas()
        frame = frames.DataFrame(self.table(("alice", "dune", "4711")).to_pydict())
        self.assertRegex(self.silent(lambda: dpmf.Model().fit(frame)), "InputError")
        with_tuples = frames.DataFrame(self.table().to_pydict())
        with_tuples.columns = frames.MultiIndex.from_tuples([("alice", 1), ("bob", 2),
                                                             ("carol", 3)])
        self.assertRegex(self.silent(lambda: dpmf.Model().fit(with_tuples)), "InputError")

    def test_one_record_at_most(self):
        fit = dpmf.Model(n_epochs=1).fit
        self.silent(lambda: fit(["alice", "bob"], ["dune", "dune"], ["4711", 3]), but=["4711"])
        self.silent(lambda: fit(["alice", ("bob", "carol")], ["dune", "dune"], [1, 3]))
        self.silent(lambda: fit(["alice", 4711.5], ["dune", "dune"], [1, 3]), but=["4711"])

    def test_private_runs(self):
        def fit(users=("alice", "bob", "carol"), items=("dune", "dune", "x"), ratings=(1, 2, 3),
                **parameters):
            settings = {"catalogue": ["dune", "x", "y"], **parameters}
            return lambda: private_model(self.folder, **settings).fit(list(users), list(items),
                                                                      list(ratings))

        self.silent(fit(ratings=["4711", 2, float("nan")]))
        self.silent(fit(users=["alice", 4711.5, ("bob", "carol")]))
        self.silent(fit(users=["alice", "", "carol" * 20000]))
        self.silent(fit(ratings=[4711, 4711, 4711]))
        for wishes in ({"alice": 0, "bob": "4711"}, {
            ("alice", "bob"): 0
        }, {4711.5: 0}, {"alice": -4711}, {"alice": float("nan")}, {"alice\n": 0},
                       {"carol" * 20000: 1}, {"alice": 4711, "Bob": 1}):
            self.silent(fit(user_privacy=wishes))
        for wrong in (["dune", "alice\ud800"], [4711.5], [-4711.0**9], ["dune", ("alice", "bob")],
                      [10**5000 + 4711], [b"dune", None]):
            said = self.silent(fit(catalogue=wrong))
            self.assertRegex(
                said,
                rf"catalogue\[{len(wrong) - 1}\] is a {type(wrong[-1]).__name__}: an id is text")
        for features in ({"dune": {"x": "alice\ud800"}}, {"dune": {"x": 10**5000}},
                         {"alice\ud800": {"x": 1}}, {10**5000: {"x": 1}},
                         {"dune": {"alice\ud800": 1}}):
            self.assertRegex(self.silent(fit(item_features=features)), "UsageError|InputError")
        self.assertRegex(self.silent(fit(about={"contact": "alice\ud800"})), "UsageError")
        self.assertRegex(self.silent(fit(user_privacy={10**5000: 0})), "InputError")
        path = self.folder / "wishes.csv"
        for text in ("alice,bob\n", "user,epsilon\nalice,x4711\n",
                     'user,epsilon\n"alice,0\nbob,0\n', "alice;4711;3\n",
                     "user,epsilon\nalice,0\nbob,0,5\n", "user,epsilon\n,1\n", "alice\n",
                     "user,eps,epsilon\nalice,1,2\n"):
            path.write_text(text)
            self.assertIn("Error", self.silent(fit(user_privacy=path)))

    def test_parameters_and_reprs(self):
        table = self.table()
        for name in dpmf.Model().get_params():
            model = dpmf.Model(**{name: table})
            for secret in SECRETS:
                self.assertNotIn(secret, repr(model))
            if name != "progress":
                self.silent(lambda: model.fit(["a", "b"], ["x", "y"], [1, 2]))
                self.silent(
                    lambda: private_model(self.folder, **{"catalogue": ["x", "y"], name: table}
                                          ).fit(["a", "b"], ["x", "y"], [1, 2]))
        shown = repr(
            dpmf.Model(epsilon=1, user_privacy={"alice": 0, "bob": 1}, catalogue=["dune", "4711"]))
        self.assertEqual(shown, "Model(epsilon=1, catalogue=<list of 2>, user_privacy=<dict of 2>)")
        with quiet():
            fitted = dpmf.Model(n_factors=1, n_epochs=1).fit(table)
        for thing in (fitted, fitted.fold_in({"dune": 3}), fitted._fitted, fitted._fitted.users,
                      fitted._fitted.store):
            for secret in SECRETS:
                self.assertNotIn(secret, repr(thing))


if __name__ == "__main__":
    unittest.main()
