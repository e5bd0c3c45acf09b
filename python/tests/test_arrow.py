"""Arrow tables in and out: made by hand, and of every library that is here."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import unittest
import unittest.mock
from pathlib import Path

import numpy as np

import dpmf
from dpmf._arrow import Exported
from support import FolderTest, made_up, private_model, quiet


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not here") from None


class Made(Exported):
    """A table made by hand, of NumPy arrays and lists of texts: it needs no other library."""

    def __init__(self, **columns):
        self.columns = columns

    def _arrow_columns(self):
        return self.columns


class ParquetFiles(FolderTest):
    """Files of several writers, which need no library. A seed of the fuzzer has a byte of options
    before the file."""

    SEEDS = Path(__file__).resolve().parents[2] / "tests" / "fuzz" / "corpus" / "parquet"
    ROWS = (["ann", "bob", "ann", "someone with a longer name", "bob", "ann", "eve"],
            ["10", "10", "20", "20", "30", "30", "10"], [5, 3.5, 1, 2, 4, 4.5, 3])

    def paths(self):
        for name in "polars", "duckdb", "snappy", "pages":
            path = self.folder / f"{name}.parquet"
            path.write_bytes((self.SEEDS / name).read_bytes()[1:])
            yield path

    def test_a_path_is_ratings(self):
        def model():
            return dpmf.Model(n_factors=2, n_epochs=3, deterministic=True, progress=False)

        wanted = model().fit(*self.ROWS)
        for path in self.paths():
            mine = model().fit_file(path)
            self.assertEqual(mine.users_.tolist(), wanted.users_.tolist())
            np.testing.assert_array_equal(mine.item_factors_, wanted.item_factors_)
            store = self.folder / (path.stem + ".dpr")
            self.assertEqual(dpmf.import_ratings(path, store).ratings, 7)
            self.assertEqual(dpmf.describe(store)["users"], 4)

    def test_columns_by_name(self):
        path = next(self.paths())
        model = dpmf.Model(n_factors=2, n_epochs=3, progress=False)
        model.fit_file(path, user="item", item="user", rating="rating")
        self.assertEqual(sorted(model.users_.tolist()), [10, 20, 30])
        self.assertIn("eve", model.items_)
        self.assertEqual(dpmf.describe(path, user="item", item="user")["users"], 3)
        parts = dpmf.split(path, self.folder / "a.dpr", self.folder / "b.dpr", user="item",
                           item="user")
        self.assertEqual(parts["train_ratings"] + parts["test_ratings"], 7)
        with self.assertRaises(dpmf.InputError):
            model.fit_file(path, user="who")
        with self.assertRaises(dpmf.UsageError):
            model.fit_file(path, time=3)

    def test_a_folder_and_what_is_broken(self):
        (self.folder / "all").mkdir()
        for path in self.paths():
            path.rename(self.folder / "all" / path.name)
        report = dpmf.import_ratings(self.folder / "all", self.folder / "all.dpr")
        self.assertEqual((report.ratings, report.duplicates), (7, 21))
        cut = self.folder / "cut.parquet"
        cut.write_bytes((self.folder / "all" / "polars.parquet").read_bytes()[:-20])
        with self.assertRaises(dpmf.InputError):
            dpmf.import_ratings(cut, self.folder / "cut.dpr")
        self.assertFalse((self.folder / "cut.dpr").exists())


class OnlyArray:
    """What has one batch, and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_array__(self, requested_schema=None):
        return self.table.__arrow_c_array__(requested_schema)


def columns(n=2000):
    users, items, ratings = made_up(n_users=100, n_items=30, n=n)
    return {
        "user": [f"u{user}" for user in users], "movieId": items.astype(np.int64),
        "rating": ratings, "timestamp": np.arange(n, dtype=np.int64)
    }


def fit(table, **names):
    return dpmf.Model(n_factors=3, n_epochs=3, deterministic=True, n_threads=2).fit(table, **names)


class In(FolderTest):
    def same(self, table, **names):
        """The model is bit for bit the one of the columns by themselves."""
        own = columns()
        wanted = fit_columns(own)
        got = fit(table, **names)
        self.assertEqual(got.users_.tolist(), wanted.users_.tolist())
        self.assertEqual(got.items_.tolist(), wanted.items_.tolist())
        np.testing.assert_array_equal(got.item_factors_, wanted.item_factors_)

    def test_made_by_hand(self):
        self.same(Made(**columns()))
        self.same(OnlyArray(Made(**columns())))

    def test_named_columns(self):
        own = columns()
        table = Made(who=own["user"], user=np.zeros(2000), movieId=own["movieId"],
                     grade=own["rating"], when=own["timestamp"])
        self.same(table, user="who", rating="grade", time="when")
        with self.assertRaises(dpmf.InputError) as raised:
            fit(table, user="nobody", rating="grade")
        self.assertIn('no column called "nobody"', str(raised.exception))
        with self.assertRaises(dpmf.UsageError):
            fit(table, user=3)
        with self.assertRaises(dpmf.UsageError):
            dpmf.Model().fit([1], [2], [3], user="who")

    def test_events(self):
        own = columns()
        self.assertEqual(fit(Made(user=own["user"], item=own["movieId"])).goal_, "ranking")
        self.assertEqual(fit(Made(user=own["user"], item=own["movieId"],
                                  plays=np.ones(2000, dtype=np.int64))).goal_, "ranking")
        with self.assertRaises(dpmf.InputError):
            fit(Made(user=own["user"], item=own["movieId"], more=own["movieId"]))
        model = dpmf.Model(n_factors=2, n_epochs=2, goal="ranking")
        self.assertEqual(
            model.fit(Made(user=own["user"], item=own["movieId"], more=own["movieId"])).goal_,
            "ranking")

    def test_a_stream_is_read_once(self):
        pa = module("pyarrow")
        reader = pa.table(Made(**columns())).to_reader()
        self.same(reader)
        with self.assertRaises((dpmf.InputError, OSError, ValueError)):
            fit(reader)

    def test_no_message_shows_people(self):
        own = columns(10)
        own["user"][3] = "secret\0person"
        for table in (Made(**own), Made(user=own["user"],
                                        other=own["movieId"]), Made(secret=own["user"])):
            with self.assertRaises(dpmf.DpmfError) as raised:
                fit(table)
            self.assertNotIn("secret", str(raised.exception))

    def test_what_is_no_arrow_data(self):
        class Wrong:
            def __arrow_c_stream__(self, requested_schema=None):
                return 3

        with self.assertRaises(dpmf.InputError):
            fit(Wrong())

    def test_private_fit(self):
        own = columns()
        with quiet():
            model = private_model(self.folder, catalogue=list(range(30)), insecure_noise_seed=1)
            table = model.fit(Made(user=own["user"], item=own["movieId"],
                                   rating=own["rating"])).item_factors_
            wanted = private_model(self.folder, catalogue=list(range(30)),
                                   insecure_noise_seed=1).fit(own["user"], own["movieId"],
                                                              own["rating"]).item_factors_
        np.testing.assert_array_equal(table, wanted)

    def test_import(self):
        seen = []
        report = dpmf.import_ratings(Made(**columns()), self.folder / "a.dpr", memory="64MiB",
                                     progress=lambda progress: seen.append(progress.phase))
        self.assertIn("reading", seen)
        dpmf.import_ratings(Made(**columns()), self.folder / "a.dpr", progress=False)
        self.assertEqual((report.ratings, report.users, report.skipped), (2000, 100, 0))
        model = dpmf.Model(n_factors=3, n_epochs=3,
                           deterministic=True).fit_file(self.folder / "a.dpr")
        np.testing.assert_array_equal(model.item_factors_, fit(Made(**columns())).item_factors_)
        with self.assertRaises(dpmf.InputError):
            dpmf.import_ratings(Made(user=["a"], item=["b"], rating=np.array([np.nan])),
                                self.folder / "b.dpr")
        self.assertFalse((self.folder / "b.dpr").exists())
        with self.assertRaises(dpmf.UsageError):
            dpmf.import_ratings(3, self.folder / "b.dpr")

    # ---- other libraries, where they are -------------------------------------------------------

    def test_pyarrow(self):
        pa = module("pyarrow")
        own = columns()
        table = pa.table(own)
        self.same(table)
        self.same(table.to_reader(max_chunksize=77))
        self.same(table.to_batches()[0])
        self.same(table.set_column(0, "user", table["user"].dictionary_encode()))
        self.same(table.set_column(0, "user", table["user"].cast(pa.large_string())))
        self.same(table.set_column(2, "rating", table["rating"].cast(pa.decimal128(5, 2))))
        self.same(table.set_column(3, "timestamp", table["timestamp"].cast(pa.timestamp("s")).cast(
            pa.timestamp("us", "UTC"))))
        longer = pa.concat_tables([table.slice(0, 5), table, table.slice(0, 9)])
        self.same(longer.slice(5, 2000))
        with contextlib.suppress(AttributeError, NotImplementedError, pa.ArrowInvalid):
            self.same(table.set_column(0, "user", table["user"].cast(pa.string_view())))

    def test_pyarrow_refusals(self):
        pa = module("pyarrow")
        table = pa.table(columns())
        lists = pa.array([["secret"]] * 2000)
        with self.assertRaises(dpmf.InputError) as raised:
            fit(table.set_column(0, "user", lists))
        self.assertIn('column "user", the user, is a list', str(raised.exception))
        holed = table.set_column(0, "user", pa.array([None, *columns()["user"][1:]]))
        with self.assertRaises(dpmf.InputError) as raised:
            fit(holed)
        self.assertIn("the user id is null", str(raised.exception))
        report = dpmf.import_ratings(holed, self.folder / "a.dpr", on_error="skip")
        self.assertEqual((report.ratings, report.skipped), (1999, 1))

    def test_polars(self):
        pl = module("polars")
        frame = pl.DataFrame(columns())
        self.same(frame)
        self.same(frame.lazy())
        self.same(frame.lazy().filter(pl.col("rating") >= 0))
        self.same(frame.with_columns(pl.col("user").cast(pl.Categorical)))
        self.same(pl.concat([frame.head(900), frame.tail(1100)], rechunk=False))
        self.same(frame.with_columns(pl.from_epoch("timestamp", time_unit="s")))
        with self.assertRaises(dpmf.InputError):
            fit(frame.lazy().filter(pl.col("rating") > 9))

    def test_pandas(self):
        pd = module("pandas")
        self.same(pd.DataFrame(columns()))
        self.same(pd.DataFrame(columns()).rename(columns={"user": "who"}), user="who")

    def test_duckdb(self):
        duckdb = module("duckdb")
        module("pyarrow")
        connection = duckdb.connect()
        frame = module("pandas").DataFrame(columns())
        connection.register("frame", frame)
        self.same(connection.sql("SELECT * FROM frame"))
        with self.assertRaises(dpmf.InputError) as raised:
            fit(connection.sql("SELECT [user] AS user, movieId, rating FROM frame"))
        self.assertIn('column "user", the user, is a list', str(raised.exception))

    def test_adbc(self):
        dbapi = module("adbc_driver_sqlite.dbapi")
        module("pyarrow")
        own = columns()
        with dbapi.connect() as connection, connection.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE t (user TEXT, movieId INTEGER, rating REAL, timestamp INTEGER)")
            cursor.executemany("INSERT INTO t VALUES (?, ?, ?, ?)",
                               [tuple(getattr(value, "item", lambda: value)() for value in row)
                                for row in zip(*own.values())])
            cursor.execute("SELECT * FROM t")
            self.same(cursor.fetch_record_batch())
            cursor.execute("SELECT * FROM t")
            self.same(cursor)

    def test_cursors_and_datasets(self):
        """What has no Arrow data itself, but makes a reader of it."""

        class Cursor:
            def __init__(self, table):
                self.fetch_arrow = lambda: table

        class Dataset:
            schema = None

            def __init__(self, table):
                self.scanner = lambda: self
                self.to_reader = lambda: table

        class Failing:
            def fetch_record_batch(self):
                raise RuntimeError("u1 rated 5")

        self.same(Cursor(Made(**columns())))
        self.same(Dataset(Made(**columns())))
        with self.assertRaises(RuntimeError):
            fit(Failing())
        with self.assertRaises(dpmf.InputError) as raised:
            dpmf.Model(epsilon=1, rating_range=(1, 5), catalogue=["x"]).fit(Failing())
        self.assertNotIn("u1", str(raised.exception))

    def test_datasets_of_pyarrow(self):
        dataset = module("pyarrow.dataset")
        table = module("pyarrow").table({name: list(own) for name, own in columns().items()})
        self.same(dataset.dataset(table))


def fit_columns(own):
    return dpmf.Model(n_factors=3, n_epochs=3, deterministic=True, n_threads=2).fit(*own.values())


class Out(unittest.TestCase):
    def setUp(self):
        self.model = fit(Made(**columns()))
        self.best = self.model.recommend("u1", n=4)

    def test_it_is_still_a_tuple(self):
        items, scores = self.best
        self.assertEqual(len(items), 4)
        self.assertEqual(self.best, (items, scores))

    def test_notebooks(self):
        text = dpmf.Recommendations(np.array(["<b>"], dtype=object), np.array([1.5]))._repr_html_()
        self.assertIn("<td>&lt;b&gt;</td><td>1.5</td>", text)

    def test_capsules(self):
        """By the specification: names, and that what nobody takes is freed."""
        name = ctypes.pythonapi.PyCapsule_GetName
        name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
        schema, array = self.best.__arrow_c_array__()
        self.assertEqual([name(schema), name(array), name(self.best.__arrow_c_stream__())],
                         [b"arrow_schema", b"arrow_array", b"arrow_array_stream"])

    def test_what_goes_out_comes_in(self):
        vectors = self.model.item_vectors()
        again = fit(
            Made(user=[f"u{i}" for i in range(30)], item=self.model.items_, rating=vectors._biases))
        self.assertEqual(sorted(again.items_.tolist()), sorted(self.model.items_.tolist()))

    def test_pyarrow(self):
        pa = module("pyarrow")
        table = self.best.to_arrow()
        self.assertEqual(table.to_pydict(), {
            "item": self.best.items.tolist(), "score": self.best.scores.tolist(),
            "rank": [1, 2, 3, 4]
        })
        self.assertEqual(pa.record_batch(self.model.item_vectors()).schema.field("vector").type,
                         pa.list_(pa.field("item", pa.float32(), nullable=False), 3))
        vectors = self.model.item_vectors().to_arrow()
        vectors.validate(full=True)
        np.testing.assert_array_equal(np.stack(vectors["vector"].to_numpy(zero_copy_only=False)),
                                      self.model.item_factors_)

    def test_polars(self):
        module("polars")
        self.assertEqual(self.best.to_polars()["item"].to_list(), self.best.items.tolist())
        self.assertEqual(self.model.item_vectors().to_polars().shape, (30, 3))

    def test_pandas(self):
        module("pandas")
        self.assertEqual(self.best.to_pandas()["score"].tolist(), self.best.scores.tolist())
        self.assertEqual(len(self.model.item_vectors().to_pandas()["vector"][0]), 3)

    def test_without_them(self):
        with unittest.mock.patch.dict("sys.modules", {"polars": None}), self.assertRaises(
                dpmf.DpmfError) as raised:
            self.best.to_polars()
        self.assertIn("pip install polars", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
