"""Events: the same model from every form of them, as the program's; what may be said about them,
and what may not."""

from __future__ import annotations

import unittest
import warnings

import numpy as np
import scipy.sparse

import dpmf
from support import FolderTest, made_up, quiet, run_dpmf
from test_fit import same

SETTINGS = {"n_factors": 4, "n_epochs": 3, "random_state": 3, "deterministic": True, "n_threads": 2}


def fit(*arguments, fitting=None, **parameters):
    with quiet():
        return dpmf.Model(**{**SETTINGS, **parameters}).fit(*arguments, **(fitting or {}))


def counted():
    """Pairs that occur once each, and how often they count."""
    users, items, ratings = made_up()
    pairs = np.unique(np.stack([users, items]), axis=1)
    return pairs[0], pairs[1], 1 + (pairs[0] + 3 * pairs[1]) % 7


class Frame(dict):
    """Columns by their names, as frames have them."""

    columns = property(lambda self: list(self))


class Forms(FolderTest):
    def test_all_forms_are_one(self):
        users, items, counts = counted()
        model = fit(users, items)
        self.assertEqual(model.goal_, "ranking")
        matrix = scipy.sparse.coo_matrix((counts, (users, items)))
        for other in (fit(users, items, fitting={"counts": counts}),
                      fit(Frame(user=users, item=items)),
                      fit(Frame(user_id=users, song=items, plays=counts)),
                      fit(Frame(user=users, item=items, session=users), goal="ranking"),
                      fit((users, items)),
                      fit(users, items, goal="ranking"),
                      fit(users, items, solver="ials"),
                      fit(users, items, counts.astype(float), goal="ranking", like="any"),
                      fit(matrix, goal="ranking"),
                      fit(matrix.tocsr().astype(np.float32), goal="ranking")):
            self.assertTrue(same(model, other))

    def test_counts_weigh_as_asked(self):
        users, items, counts = counted()
        plain = fit(users, items, fitting={"counts": counts})
        heavy = fit(users, items, fitting={"counts": counts}, count_weight=0.5)
        self.assertTrue(same(plain, fit(users, items, fitting={"counts": counts}, count_weight=0)))
        self.assertFalse(same(plain, heavy))
        # Where all happened once there is nothing to weigh.
        self.assertTrue(same(fit(users, items), fit(users, items, count_weight=0.5)))

    def test_as_the_program_has_it(self):
        users, items, _ = counted()
        path = self.folder / "events.csv"
        path.write_text("user,item\n" + "".join(f"{u},{i}\n" for u, i in zip(users, items)))
        run_dpmf("train", path, "-o", self.folder / "m.safetensors", "-q", "-k", 4, "--epochs", 3,
                 "--seed", 3, "--deterministic", "-j", 2)
        model = dpmf.load(self.folder / "m.safetensors")
        self.assertTrue(same(model, fit(users, items)))
        self.assertTrue(same(model, dpmf.Model(**SETTINGS).fit_file(path)))
        path.write_text("who,what,user,item\n" + "".join(f"x,y,{u},{i}\n"
                                                         for u, i in zip(users, items)))
        self.assertTrue(same(model, dpmf.Model(**SETTINGS).fit_file(path, events=True)))

    def test_counts_add_up(self):
        users, items, counts = counted()
        twice = fit(np.tile(users, 2), np.tile(items, 2), fitting={"counts": np.tile(counts, 2)})
        self.assertTrue(same(twice, fit(users, items)))

    def test_likes(self):
        users, items, ratings = counted()
        liked = ratings >= 4
        some = fit(users, items, ratings, goal="ranking", like=4)
        few = fit(users[liked], items[liked])
        row = list(some.items_).index(few.items_[0])
        self.assertEqual(some.item_factors_.shape[1], 4)
        self.assertGreater(abs(some.item_factors_[row]).max(), 0)
        self.assertFalse(same(some, fit(users, items, ratings, goal="ranking")))


class Use(unittest.TestCase):
    def test_recommend(self):
        users, items, _ = counted()
        model = fit(users, items)
        best = model.recommend(user=int(users[0]), n=5)
        seen = set(items[users == users[0]].tolist())
        self.assertEqual(len(best.items), 5)
        self.assertFalse(seen & set(best.items.tolist()))
        self.assertTrue((np.diff(best.scores) <= 0).all())
        mine = items[users == users[0]][:4].tolist()
        alone = model.recommend(ratings=mine, n=5)  # items need no ratings
        same_ones = model.recommend(ratings={item: 1 for item in mine}, n=5)
        self.assertEqual(alone.items.tolist(), same_ones.items.tolist())
        self.assertFalse(set(mine) & set(alone.items.tolist()))

    def test_predict_is_refused(self):
        users, items, _ = counted()
        model = fit(users, items)
        with self.assertRaises(dpmf.KindError):
            model.predict(users[:1], items[:1])
        with self.assertRaises(dpmf.KindError):
            model.predict(items=items[:1], ratings=items[:3].tolist())

    def test_valid(self):
        users, items, _ = counted()
        model = fit(users[::2], items[::2], fitting={"valid": (users[1::2], items[1::2])})
        self.assertEqual(model.n_iter_, 3)
        with self.assertRaises(dpmf.UsageError):
            fit(users, items, fitting={"valid": (users, items, users % 5)})


class Walk(FolderTest):
    """What a new user with a sparse matrix of counts does, from the split to lists at home."""

    def matrix(self):
        users, items, counts = counted()
        return scipy.sparse.csr_matrix((counts, (users, items)))

    def test_counts_stay_counts(self):
        matrix, (users, items, counts) = self.matrix(), counted()
        for given in (matrix, (users, items, counts)):
            self.assertFalse(dpmf.describe(given)["holds_events"])
            found = dpmf.describe(given, events=True)
            self.assertEqual((found["holds_events"], found["max"]), (True, counts.max()))
            parts = [self.folder / "train.dpr", self.folder / "test.dpr"]
            dpmf.split(given, *parts, events=True)
            for part in parts:
                self.assertTrue(dpmf.describe(part)["holds_events"])
            dpmf.write_csv(given, self.folder / "plays.csv", replace=True, events=True)
            text = (self.folder / "plays.csv").read_text()
            self.assertTrue(text.startswith("user,item,count\n"))
        with self.assertRaises(dpmf.UsageError):  # a rating and no count
            dpmf.describe(Frame(user=users, item=items, rating=counts), events=True)
        path = self.folder / "rated.csv"
        path.write_text("user,item,rating\n1,2,3\n")
        with self.assertRaises(dpmf.UsageError):
            dpmf.describe(path, events=True)

    def test_tune(self):
        users, items, counts = counted()
        model = dpmf.Model(n_factors=4, n_epochs=2, unobserved=0.3, goal="ranking")
        keep = ("n_factors", "n_epochs", "unobserved")
        found = dpmf.tune(self.matrix(), model, trials=2, hold=keep)
        self.assertEqual(found.model.unobserved, 0.3)
        self.assertTrue(0 < found.best.valid_ndcg < 1)
        weighed = dpmf.Model(n_factors=4, n_epochs=2, count_weight=0.5, goal="ranking")
        keep = ("n_factors", "n_epochs")
        dpmf.tune((users, items, counts), weighed, trials=1, hold=keep, events=True)
        for other in (dpmf.Model(goal="ranking"), dpmf.Model()):
            with self.assertRaisesRegex(dpmf.UsageError, "no unobserved to keep"):
                dpmf.tune((users, items, counts), other, hold=("unobserved",))

    def test_there_is_no_scale(self):
        model = fit(self.matrix(), goal="ranking")
        self.assertFalse(hasattr(model, "rating_range_"))
        with quiet():
            release = dpmf.Model(epsilon=5, goal="ranking", catalogue=range(60),
                                 insecure_noise_seed=1).fit(self.matrix())
        release.save(self.folder / "r.safetensors")
        loaded = dpmf.load(self.folder / "r.safetensors")
        self.assertEqual((loaded.goal, loaded.rating_range), ("ranking", None))
        with self.assertRaisesRegex(dpmf.PrivacyRefused, 'a matrix of counts: goal="ranking"'):
            dpmf.Model(epsilon=1, catalogue=range(60)).fit(self.matrix())
        self.assertGreater(dpmf.plan(users=6040, items=3706, ratings_per_user=165,
                                     epsilon=2)["hit_rate"], 0.5)

    def test_any_is_a_like(self):
        users, items, ratings = counted()
        model = fit(users, items)
        with quiet():
            found = [model.evaluate((users, items), history=False, like=like)["ndcg"]
                     for like in (None, "any")]
        self.assertEqual(*found)
        with quiet(), self.assertRaisesRegex(dpmf.UsageError, "to which likes do not apply"):
            model.evaluate((users, items), history=False, like=4)


class Private(FolderTest):
    def release(self, *arguments, **parameters):
        with quiet():
            return dpmf.Model(epsilon=5, insecure_noise_seed=1, random_state=None,
                              **parameters).fit(*arguments)

    def test_release(self):
        users, items, ratings = counted()
        catalogue = sorted(set(items.tolist()))
        model = self.release(users, items, catalogue=catalogue)
        self.assertEqual(model.goal_, "ranking")
        self.assertEqual(len(model.items_), len(catalogue))
        best = model.recommend(ratings=catalogue[:3], n=5)
        self.assertFalse(set(catalogue[:3]) & set(best.items.tolist()))
        of_ratings = self.release(users, items, ratings, catalogue=catalogue, goal="ranking")
        self.assertTrue(np.array_equal(model.item_factors_, of_ratings.item_factors_))

    def test_popularity_alone_says_so(self):
        users, items, _ = counted()
        with quiet(), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            few = dpmf.Model(epsilon=0.1, insecure_noise_seed=1, random_state=None,
                             catalogue=sorted(set(items.tolist()))).fit(users, items)
        self.assertTrue(few.report_["is_popularity_alone"])
        self.assertIn("popularity alone", " ".join(str(one.message) for one in told))
        with self.assertRaisesRegex(dpmf.KindError, "popularity alone"):
            few.similar_items(few.items_[0])

    def test_few_factors_say_how_little_is_similar(self):
        users = np.repeat(np.arange(4000), 15)
        items = np.random.default_rng(1).integers(0, 200, 60000)
        model = self.release(users, items, catalogue=range(200))
        k = model.item_factors_.shape[1]
        self.assertGreater(k, 0)
        with self.assertWarnsRegex(dpmf.DpmfWarning, f"{k} noisy factors tell few items apart"):
            model.similar_items(3, n=50)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.similar_items(3, n=199)  # all there are

    def test_a_range_is_refused(self):
        users, items, _ = counted()
        with self.assertRaises(dpmf.UsageError):
            self.release(users, items, catalogue=sorted(set(items.tolist())), rating_range=(1, 5))


class Refused(unittest.TestCase):
    def refuse(self, kind, *arguments, fitting=None, **parameters):
        with self.assertRaises(kind):
            fit(*arguments, fitting=fitting, **parameters)

    def test_parameters(self):
        users, items, counts = counted()
        usage = dpmf.UsageError
        self.refuse(usage, users, items, goal="rating")
        self.refuse(usage, users, items, solver="sgd")
        self.refuse(usage, users, items, goal="ranking", solver="sgd")
        self.refuse(usage, users, items, counts, goal="rating", solver="ials")
        self.refuse(usage, users, items, counts, goal="both")
        self.refuse(usage, users, items, counts, like=4)
        self.refuse(usage, users, items, counts, goal="ranking", like="some")
        self.refuse(usage, users, items, counts, fitting={"counts": counts})
        self.refuse(usage, users, fitting={"counts": counts})
        self.refuse(usage, users, items, rating_range=(1, 5))

    def test_counts(self):
        users, items, counts = counted()
        for bad in (0, -1, 1.5, np.nan, np.inf, 1e300):
            spoilt = counts.astype(float)
            spoilt[3] = bad
            self.refuse(dpmf.InputError, users, items, fitting={"counts": spoilt})
        self.refuse(dpmf.InputError, users, items, fitting={"counts": counts[1:]})
        half = scipy.sparse.coo_matrix((counts / 2, (users, items)))
        self.refuse(dpmf.InputError, half, goal="ranking")

    def test_frames(self):
        users, items, counts = counted()
        # a rating, perhaps
        self.refuse(dpmf.InputError, Frame(user=users, item=items, note=counts))
        self.refuse(dpmf.InputError, Frame(user=users, item=items, plays=counts, views=counts))


if __name__ == "__main__":
    unittest.main()
