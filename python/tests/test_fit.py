"""Fitting: the same model as the command line's, from every form of ratings."""

from __future__ import annotations

import unittest

import numpy as np

import dpmf
from support import FolderTest, made_up, quiet, read_safetensors, run_dpmf

SETTINGS = {"n_factors": 8, "n_epochs": 4, "random_state": 3, "deterministic": True, "n_threads": 2}


def fit(*arguments, **parameters):
    return dpmf.Model(**{**SETTINGS, **parameters}).fit(*arguments)


def same(one, other):
    """Whether two models have the same users and items with the same numbers, bit for bit."""
    return (list(map(str, one.items_)) == list(map(str, other.items_))
            and list(map(str, one.users_)) == list(map(str, other.users_))
            and one.offset_ == other.offset_
            and np.array_equal(one.item_factors_, other.item_factors_)
            and np.array_equal(one.user_factors_, other.user_factors_)
            and np.array_equal(one.item_biases_, other.item_biases_)
            and np.array_equal(one.user_biases_, other.user_biases_))


class AgainstTheProgram(FolderTest):
    def test_arrays_equal_csv(self):
        users, items, ratings = made_up()
        ratings = ratings * 0.9 + 0.07  # nothing that a float32 could hold
        times = np.arange(len(users)) + 1_000_000_000
        with open(self.folder / "ratings.csv", "w") as file:
            file.write("user,item,rating,timestamp\n")
            for row in zip(users.tolist(), items.tolist(), ratings.tolist(), times.tolist()):
                file.write("%d,%d,%r,%d\n" % row)
        run_dpmf("train", self.folder / "ratings.csv", "-o", self.folder / "m.safetensors", "-q",
                 "-k", 8, "--epochs", 4, "--seed", 3, "--deterministic", "-j", 2)
        trained = dpmf.load(self.folder / "m.safetensors")
        self.assertTrue(same(fit(users, items, ratings, times), trained))
        in_python = dpmf.Model(**SETTINGS).fit_file(self.folder / "ratings.csv")
        self.assertTrue(same(in_python, trained))
        self.assertFalse(same(fit(users, items, ratings, random_state=4), trained))

        # What was saved is what the program reads, and the tensors are those that NumPy sees.
        in_python.save(self.folder / "saved.safetensors")
        self.assertEqual((self.folder / "saved.safetensors").stat().st_mode & 0o777, 0o600)
        tensors, _ = read_safetensors((self.folder / "saved.safetensors").read_bytes())
        self.assertTrue(np.array_equal(tensors["item_factors"], trained.item_factors_))
        self.assertIn('"users":300',
                      run_dpmf("describe", self.folder / "saved.safetensors", "--json"))
        self.assertEqual([path.name for path in self.folder.glob(".*")], [])

    def test_it_adapts_as_the_program_does(self):
        users, items, ratings = made_up(n=4000)
        path = self.folder / "ratings.csv"
        with open(path, "w") as file:
            file.write("user,item,rating\n")
            for row in zip(users.tolist(), items.tolist(), ratings.tolist()):
                file.write("%d,%d,%r\n" % row)
        for options, parameters in (([], {}), (["--reg", 0.2], {"regularization": 0.2}),
                                    (["--no-adapt"], {"adapt": False})):
            run_dpmf("train", path, "-o", self.folder / "m.safetensors", "-q", "-k", 8,
                     "--deterministic", *options)
            model = dpmf.Model(n_factors=8, deterministic=True,
                               **parameters).fit(users, items, ratings)
            self.assertTrue(same(model, dpmf.load(self.folder / "m.safetensors")), options)
            found = model.report_.get("adapted")
            self.assertEqual(found is None, "adapt" in parameters)
            if found is not None:
                self.assertGreater(found["trials"], 1)
                self.assertEqual(found["epochs"], model.n_iter_)
                self.assertLess(found["valid_rmse"], found["averages_rmse"] * 1.001)

    def test_predictions_are_the_programs(self):
        users, items, ratings = made_up(n=2000)
        model = fit(users, items, ratings)
        model.save(self.folder / "m.safetensors")
        pairs = self.folder / "pairs.csv"
        asked = [(3, 5), (4, 1), (299, 59), (7, 12345), (98765, 7)]
        pairs.write_text("user,item\n" + "".join(f"{u},{i}\n" for u, i in asked))
        told = run_dpmf("predict", self.folder / "m.safetensors", pairs).splitlines()[1:]
        expected = [float(line.split(",")[2]) for line in told]
        got = model.predict([u for u, _ in asked], [i for _, i in asked])
        self.assertTrue(np.allclose(got, expected, atol=6e-7, rtol=0))
        listed = run_dpmf("recommend", self.folder / "m.safetensors", "--user", 3, "--json", "-n",
                          7)
        best = model.recommend(user=3, n=7, exclude_seen=False)
        self.assertEqual([str(item) for item in best.items],
                         [line.split('"item":"')[1].split('"')[0] for line in listed.splitlines()])


class Forms(unittest.TestCase):
    """However the ratings come, the model is the same."""

    @classmethod
    def setUpClass(cls):
        cls.users, cls.items, cls.ratings = made_up(n=3000)
        cls.plain = fit(cls.users, cls.items, cls.ratings)

    def test_types_of_numbers(self):
        for users, items, ratings in ((self.users.astype(np.int32), self.items.astype(np.uint8),
                                       self.ratings.astype(np.float32)), (self.users.tolist(),
                                                                          self.items.tolist(),
                                                                          self.ratings.tolist()),
                                      (self.users.astype(np.uint64), self.items[:].astype(object),
                                       self.ratings.astype(int)), (np.repeat(self.users,
                                                                             2)[::2], self.items,
                                                                   self.ratings.astype(object)),
                                      (tuple(self.users), range(0), self.ratings),
                                      ):
            if len(items) == 0:
                items = self.items
            model = fit(users, items, ratings)
            self.assertTrue(same(model, self.plain))
            self.assertEqual(model.items_.dtype, np.int64)

    def test_texts(self):
        texts = [f"u{u}" for u in self.users], [f"film, {i}" for i in self.items]
        model = fit(*texts, self.ratings)
        self.assertTrue(np.array_equal(model.item_factors_, self.plain.item_factors_))
        self.assertEqual(model.items_.tolist(), [f"film, {i}" for i in self.plain.items_])
        self.assertEqual(model.recommend(user="u3", n=4).items.tolist(),
                         [f"film, {i}" for i in self.plain.recommend(user=3, n=4).items])
        as_array = fit(np.array(texts[0]), np.array(texts[1], dtype=object), self.ratings)
        self.assertTrue(same(as_array, model))
        as_bytes = fit(np.array(texts[0]).astype("S"), [t.encode() for t in texts[1]], self.ratings)
        self.assertTrue(same(as_bytes, model))

    def test_texts_that_are_numbers_stay_texts(self):
        model = fit([str(u) for u in self.users], [str(i) for i in self.items], self.ratings)
        self.assertTrue(same(model, self.plain))
        self.assertEqual(model.items_.dtype, object)
        self.assertEqual(model.items_.tolist(), [str(i) for i in self.plain.items_])
        # and either is found by either
        self.assertEqual(model.predict("3", "5"), self.plain.predict(3, 5))
        self.assertEqual(model.predict(3, 5), self.plain.predict("3", "5"))

    def test_odd_ids(self):
        odd = [
            "", "naïve", "日本", "a\nb", 'q"uote', "x" * 65536,
            b"\xff\xfe".decode("utf-8", "surrogateescape")
        ][1:]
        model = fit(list(range(len(odd))), odd, [1, 2, 3, 4, 5, 1])
        self.assertEqual(sorted(model.items_), sorted(odd))
        self.assertEqual(model.predict(1, "日本"), model.predict([1], ["日本"])[0])
        negative = fit([-1, -2, 5, -2**63], [7, -7, 7, -7], [1, 2, 3, 4])
        self.assertEqual(sorted(negative.items_), [-7, 7])
        self.assertEqual(sorted(negative.users_), [-2**63, -2, -1, 5])
        large = fit(np.array([2**64 - 1, 3], dtype=np.uint64), [2**63 - 1, 10**30], [1, 2])
        self.assertEqual(sorted(large.items_), [str(10**30), str(2**63 - 1)])  # no int64 holds both
        self.assertEqual(large.predict(2**64 - 1, 10**30, clip=False),
                         large.predict([2**64 - 1], [10**30], clip=False)[0])

    def test_matrices(self):
        sparse = __import__("scipy.sparse", fromlist=["sparse"])
        shape = (int(self.users.max()) + 1, int(self.items.max()) + 1)
        coo = sparse.coo_matrix((self.ratings, (self.users, self.items)), shape)
        self.assertTrue(same(fit(coo), self.plain))
        by_rows = np.lexsort((self.items, self.users))
        ordered = fit(self.users[by_rows], self.items[by_rows], self.ratings[by_rows])
        self.assertTrue(same(fit(coo.tocsr()), ordered))
        dense = np.full(shape, np.nan)
        dense[self.users, self.items] = self.ratings
        self.assertTrue(same(fit(dense), ordered))
        masked = np.ma.masked_invalid(dense)
        self.assertTrue(same(fit(masked), ordered))
        whole = np.ma.masked_array(np.nan_to_num(dense).astype(int), mask=np.isnan(dense))
        self.assertTrue(same(fit(whole), ordered))

    def test_frames(self):
        class Frame(dict):  # what a data frame is to us
            columns = property(lambda self: list(self))

        frame = Frame({"movieId": self.items, "weight": self.ratings * 0, "userId": self.users,
                       "rating": self.ratings})
        self.assertTrue(same(fit(frame), self.plain))
        with self.assertRaises(dpmf.InputError):
            fit(Frame({"a": self.items, "b": self.users, "c": self.ratings}))

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("there is no pandas")
        frame = pandas.DataFrame({
            "userId": self.users, "movieId": self.items, "rating": self.ratings,
            "timestamp": pandas.to_datetime(self.users, unit="s")
        })
        self.assertTrue(same(fit(frame), self.plain))
        self.assertTrue(
            same(fit(frame.userId, frame.movieId.astype("category"), frame.rating), self.plain))

    def test_the_last_of_a_pair_counts(self):
        users = np.concatenate([self.users, self.users[:50]])
        items = np.concatenate([self.items, self.items[:50]])
        other = self.ratings.copy()
        other[:50] = 6 - other[:50]
        with self.assertWarnsRegex(dpmf.DpmfWarning, "repeated pairs.*: 50"):
            twice = fit(users, items, np.concatenate([self.ratings, other[:50]]))
        last = fit(self.users, self.items, other)
        self.assertAlmostEqual(twice.offset_, last.offset_, places=9)
        self.assertNotAlmostEqual(twice.offset_, self.plain.offset_, places=3)

    def test_times(self):
        moment = np.datetime64("2020-02-03T04:05:06")
        for times in (np.full(3, moment), [0, 1, 2], np.array([1.5, np.nan, np.inf]),
                      [moment.astype(object)] * 3):
            self.assertEqual(fit([1, 2, 3], [1, 1, 2], [1, 2, 3], times).n_iter_, 4)
        with self.assertRaises(dpmf.InputError):
            fit([1, 2, 3], [1, 1, 2], [1, 2, 3], ["a", "b", "c"])


class Copies(unittest.TestCase):
    def test_arrays_are_read_where_they_are(self):
        from dpmf._ids import number_ids as number
        from dpmf._records import ratings_of

        whole = np.arange(10)
        for kind in (np.float64, np.float32):
            ratings = np.ones(10, dtype=kind)
            self.assertIs(ratings_of(ratings, False), ratings)
        half = np.array([0.7, 4.5], dtype=np.float16)  # the first is 0.7001953125
        self.assertEqual(ratings_of(half, False).tolist(), [0.7, 4.5])
        self.assertIs(number(whole, "users").numbers, whole)
        read_only = np.arange(10)
        read_only.flags.writeable = False
        self.assertIs(number(read_only, "users").numbers, read_only)

    def test_a_fit_takes_no_copy_of_its_arrays(self):
        import tracemalloc

        n = 1_000_000
        users = np.repeat(np.arange(n // 100), 100)
        items = np.tile(np.arange(100), n // 100)
        ratings = np.ones(n, dtype=np.float32)
        tracemalloc.start()
        dpmf.Model(n_factors=1, n_epochs=1).fit(users, items, ratings)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertLess(peak, n)  # bytes: one copy of a column would be 4 or 8 times that

    def test_factors_are_the_models_memory(self):
        users, items, ratings = made_up(n=1000)
        model = fit(users, items, ratings)
        first, second = model.item_factors_, model.item_factors_
        self.assertTrue(np.shares_memory(first, second))
        self.assertEqual(first.ctypes.data, second.ctypes.data)
        self.assertEqual(first.dtype, np.float32)
        with self.assertRaises(ValueError):
            first[0, 0] = 1
        for array in (model.item_biases_, model.user_factors_, model.user_biases_):
            self.assertFalse(array.flags.writeable)
            self.assertFalse(array.flags.owndata)
        # The view keeps the model's memory alive when the model itself is gone.
        copy, view = first.copy(), model.item_factors_
        del model, first, second, array
        made_up(n=5000)
        self.assertTrue(np.array_equal(copy, view))


class Watching(unittest.TestCase):
    def test_validation_and_patience(self):
        users, items, ratings = made_up()
        train = np.arange(len(users)) % 10 > 0
        held = (users[~train], items[~train], ratings[~train])
        model = dpmf.Model(n_factors=32, n_epochs=200, patience=2, regularization=0.0,
                           deterministic=True)
        model.fit(users[train], items[train], ratings[train], valid=held)
        errors = [epoch.valid_rmse for epoch in model.history_]
        self.assertTrue(model.report_["stopped_early"])
        self.assertLess(len(errors), 200)
        self.assertAlmostEqual(min(errors), model.report_["valid_rmse"], places=12)
        predicted = model.predict(held[0], held[1])
        self.assertAlmostEqual(float(np.sqrt(np.mean((predicted - held[2])**2))), min(errors),
                               places=4)

    def test_progress(self):
        users, items, ratings = made_up()
        seen = []
        dpmf.Model(n_factors=4, n_epochs=5, progress=seen.append).fit(users, items, ratings)
        epochs = [event.epoch for event in seen if event.epoch is not None]
        self.assertEqual([epoch.epoch for epoch in epochs], [1, 2, 3, 4, 5])
        self.assertEqual({event.total for event in seen if event.phase == "epoch"}, {5})
        self.assertIn("reading", [event.phase for event in seen])
        self.assertTrue(all(isinstance(event, dpmf.Progress) for event in seen))

    def test_ending_early(self):
        users, items, ratings = made_up()
        stop = dpmf.Model(n_epochs=50,
                          progress=lambda event: event.epoch is None or event.epoch.epoch < 3)
        self.assertEqual(stop.fit(users, items, ratings).n_iter_, 3)

    def test_history(self):
        users, items, ratings = made_up()
        model = fit(users, items, ratings)
        self.assertEqual(len(model.history_), 4)
        self.assertLess(model.history_[-1].train_rmse, model.history_[0].train_rmse)
        self.assertEqual(model.report_["epochs"], 4)
        with quiet():
            self.assertEqual(
                dpmf.Model(n_epochs=2, memory="64MiB").fit(users, items, ratings).n_iter_, 2)


if __name__ == "__main__":
    unittest.main()
