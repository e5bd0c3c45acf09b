"""What one does with a model: recommendations, similar items, reasons, predictions."""

from __future__ import annotations

import copy
import json
import pickle
import unittest
import warnings

import numpy as np

import dpmf
from support import FolderTest, made_up, run_dpmf


class Checkpoint(FolderTest):
    @classmethod
    def setUpClass(cls):
        cls.users, cls.items, cls.ratings = made_up()
        cls.model = dpmf.Model(n_factors=6, n_epochs=8, deterministic=True).fit(
            cls.users, cls.items, cls.ratings)

    def scores(self, user):
        """All scores of a user in double precision, by hand."""
        model = self.model
        at = int(np.flatnonzero(model.users_ == user)[0])
        return (model.offset_ + float(model.user_biases_[at]) + model.item_biases_.astype(float)
                + model.item_factors_.astype(float) @ model.user_factors_[at].astype(float))

    def rated_by(self, user):
        return set(self.items[self.users == user].tolist())

    def test_recommend(self):
        for user in (0, 17, 299):
            scores = self.scores(user)
            order = np.argsort(-scores, kind="stable")
            fresh = [i for i in order if self.model.items_[i] not in self.rated_by(user)]
            best = self.model.recommend(user=user, n=10, by="rating")
            self.assertEqual(best.items.tolist(), self.model.items_[fresh[:10]].tolist())
            self.assertTrue(np.allclose(best.scores, scores[fresh[:10]], atol=1e-6))
            every = self.model.recommend(user=user, n=1000, exclude_seen=False, by="rating")
            self.assertEqual(every.items.tolist(), self.model.items_[order].tolist())

    def test_include_and_exclude(self):
        every = self.model.recommend(user=5, n=60, exclude_seen=False).items
        chosen = self.model.recommend(user=5, n=60, exclude_seen=False, include=every[10:20],
                                      exclude=[every[12]])
        self.assertEqual(chosen.items.tolist(), [i for i in every[10:20] if i != every[12]])
        with self.assertWarnsRegex(dpmf.DpmfWarning, "does not know 1 of 2 items of include"):
            self.assertEqual(
                len(
                    self.model.recommend(user=5, include=[777777, every[0]],
                                         exclude_seen=False).items), 1)
        self.assertEqual(len(self.model.recommend(user=5, include=set()).items), 0)
        self.assertEqual(len(self.model.recommend(user=5, exclude=every).items), 0)

    def test_many(self):
        many = self.model.recommend_many([3, 4, 5], n=4)
        self.assertEqual(
            [row.items.tolist() for row in many],
            [self.model.recommend(user=user, n=4).items.tolist() for user in (3, 4, 5)])
        everyone = self.model.recommend_many(n=2, exclude=[int(self.model.items_[0])])
        self.assertEqual(len(everyone), 300)
        for user, row in zip(self.model.users_, everyone):
            self.assertFalse(set(row.items.tolist()) & self.rated_by(user))
            self.assertNotIn(self.model.items_[0], row.items)
        with self.assertRaises(dpmf.UnknownIdError):
            self.model.recommend_many([3, 12345])
        people = [{1: 5, 2: 1}, {7: 3}, {}]
        self.assertEqual(
            [row.items.tolist() for row in self.model.recommend_many(ratings=people, n=4)],
            [self.model.recommend(ratings=mine, n=4).items.tolist() for mine in people])
        self.assertRaises(dpmf.UsageError, self.model.recommend_many, [3], people)
        self.assertRaises(dpmf.UsageError, self.model.recommend_many, [3], n=0)

    def test_history_of_others(self):
        path = self.folder / "m.safetensors"
        self.model.save(path)
        others = dpmf.load(path, history=(self.users + 1000, self.items, self.ratings))
        with self.assertWarnsRegex(dpmf.DpmfWarning, "nothing of this user"):
            others.recommend(user=3)
        with self.assertWarnsRegex(dpmf.DpmfWarning, "nothing of 300 of 300 users"):
            others.recommend_many()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            others.recommend(user=3, exclude_seen=False)
            dpmf.load(path, history=(self.users, self.items, self.ratings)).recommend_many()

    def test_history_of_a_file(self):
        self.model.save(self.folder / "m.safetensors")
        bare = dpmf.load(self.folder / "m.safetensors")
        with self.assertRaisesRegex(dpmf.UsageError, "history="):
            bare.recommend(user=3)
        self.assertEqual(bare.recommend(user=3, exclude_seen=False).items.tolist(),
                         self.model.recommend(user=3, exclude_seen=False).items.tolist())
        known = dpmf.load(self.folder / "m.safetensors",
                          history=(self.users, self.items, self.ratings))
        self.assertEqual(
            known.recommend(user=3).items.tolist(),
            self.model.recommend(user=3).items.tolist())
        self.assertEqual((known.n_factors, known.n_epochs), (6, 8))
        texts = dpmf.load(self.folder / "m.safetensors", ids="str")
        self.assertEqual(texts.items_.tolist(), [str(i) for i in self.model.items_])

    def test_predict(self):
        by_hand = self.scores(17)
        low, high = self.model.rating_range_
        self.assertEqual((low, high), (1, 5))
        one = self.model.predict(17, int(self.model.items_[3]), clip=False)
        self.assertIsInstance(one, float)
        self.assertAlmostEqual(one, by_hand[3], places=5)
        row = self.model.predict(17, self.model.items_)
        self.assertTrue(np.allclose(row, np.clip(by_hand, low, high), atol=1e-5))
        column = self.model.predict(self.model.users_, int(self.model.items_[3]), clip=False)
        self.assertAlmostEqual(column[int(np.flatnonzero(self.model.users_ == 17)[0])], by_hand[3],
                               places=5)
        error = np.sqrt(np.mean((self.model.predict(self.users, self.items) - self.ratings) ** 2))
        self.assertLess(error, np.std(self.ratings))
        self.assertEqual(self.model.predict(10**9, 10**9, clip=False), self.model.offset_)
        self.assertEqual(len(self.model.predict([], [])), 0)
        for wrong in (lambda: self.model.predict([1, 2], [1, 2, 3]), lambda: self.model.predict(1),
                      lambda: self.model.predict(items=[1])):
            self.assertRaises(dpmf.UsageError, wrong)

    def test_similar(self):
        vectors = self.model.item_factors_.astype(float)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = unit @ unit[7]
        cosines[7] = -np.inf
        order = np.argsort(-cosines, kind="stable")[:5]
        similar = self.model.similar_items(int(self.model.items_[7]), n=5)
        self.assertEqual(similar.items.tolist(), self.model.items_[order].tolist())
        self.assertTrue(np.allclose(similar.scores, cosines[order], atol=1e-6))

    def test_explain(self):
        mine = {int(item): rating for item, rating in zip(self.model.items_[:5], (5, 4, 3, 2, 1))}
        item = int(self.model.items_[9])
        reasons = self.model.explain(mine, item)
        self.assertAlmostEqual(reasons.score, reasons.crowd + reasons.habit + reasons.taste,
                               places=9)
        self.assertAlmostEqual(reasons.taste, reasons.shares.sum(), places=9)
        self.assertIn(reasons.reason, ("taste", "crowd", "neither"))
        best = self.model.recommend(ratings=mine, n=60)
        self.assertEqual(best.scores[best.items.tolist().index(item)], reasons.score)
        rated = self.model.explain(mine, item, by="rating")
        self.assertAlmostEqual(rated.score, reasons.prediction, places=9)
        crowd = self.model.explain(mine, item, taste=0)
        self.assertEqual(crowd.taste, 0)
        self.assertEqual(crowd.crowd, reasons.crowd)
        self.assertAlmostEqual(reasons.prediction,
                               self.model.predict(items=item, ratings=mine, clip=False), places=9)
        self.assertTrue(np.all(np.diff(reasons.shares) <= 0))
        self.assertEqual(sorted(reasons.items.tolist()), sorted(mine))

    def test_dial(self):
        mine = {int(item): 5 for item in self.model.items_[:4]}
        lists = [
            self.model.recommend(ratings=mine, n=60, taste=t).items.tolist() for t in (0, 0.5, 1)
        ]
        self.assertEqual(lists[1], self.model.recommend(ratings=mine, n=60).items.tolist())
        self.assertNotEqual(lists[0], lists[2])
        expected = self.model.predict(items=self.model.items_, ratings=mine, clip=False)
        rated = self.model.recommend(ratings=mine, n=60, by="rating", exclude_seen=False)
        self.assertEqual(rated.items.tolist(),
                         self.model.items_[np.argsort(-expected, kind="stable")].tolist())
        path, history = self.folder / "m.safetensors", self.folder / "h.csv"
        self.model.save(path)
        rows = zip(self.users, self.items, self.ratings)
        history.write_text("user,item,rating\n" + "".join(f"{u},{i},{r}\n" for u, i, r in rows))
        listed = run_dpmf("recommend", path, "--user", 17, "--history", history, "--json", "-n", 9)
        best = self.model.recommend(user=17, n=9)  # the same bits as on the command line
        self.assertEqual([(int(row["item"]), row["score"])
                          for row in map(json.loads, listed.splitlines())],
                         list(zip(best.items.tolist(), best.scores.tolist())))
        many = self.model.recommend_many([17, 3], n=5, taste=0.8)
        self.assertEqual(many[0].items.tolist(),
                         self.model.recommend(user=17, n=5, taste=0.8).items.tolist())
        for wrong in ({"taste": 1.5}, {"taste": "x"}, {"by": "stars"},
                      {"by": "rating", "taste": 0.5}):
            self.assertRaises(dpmf.UsageError, self.model.recommend, 17, **wrong)

    def test_map(self):
        points = self.model.item_map_
        self.assertEqual(points.shape, (60, 2))
        self.assertTrue(np.all(np.abs(points) <= 1) and np.ptp(points) > 0.5)


    def test_what_is_unknown_or_comes_twice(self):
        model = self.model
        user, item = int(self.users[0]), int(self.items[0])
        with self.assertWarnsRegex(dpmf.DpmfWarning, "2 pairs with users that .* averages"):
            model.predict([user, 5000, 5001], [item] * 3)
        with self.assertWarnsRegex(dpmf.DpmfWarning, "1 pair with items"):
            model.predict(user, "nosuch")
        with self.assertWarnsRegex(dpmf.DpmfWarning, "1 item that the model does not know"):
            model.predict(items="nosuch", ratings={item: 4})
        with self.assertWarnsRegex(dpmf.DpmfWarning, "rated again: 1; the last rating counts"):
            twice = model.fold_in({item: 5, str(item): 1})
        self.assertEqual(twice.ratings, {item: 1})
        for bad in (True, np.True_):
            with self.assertRaisesRegex(dpmf.InputError, "not a number"):
                model.recommend(ratings={item: bad})
            with self.assertRaisesRegex(dpmf.InputError, "not a number"):
                twice.rate(item, bad)
        played = dpmf.Model(n_factors=2, n_epochs=2, count_weight=1.0,
                            deterministic=True).fit({"user": [1, 1, 2, 2], "item": [1, 2, 2, 3],
                                                     "count": [3, 1, 2, 5]})
        with self.assertWarnsRegex(dpmf.DpmfWarning, "repeated events of an item: 1; .* added"):
            self.assertEqual(played.fold_in(([1, 2, 1], [3, 1, 2])).ratings, {2: 1, 1: 5})

    def test_rates_of_other_solvers(self):
        columns = [1, 2, 3, 1], [1, 2, 3, 2], [1, 2, 3, 5]
        for name in ("learning_rate", "decay", "regularization"):
            for how in ({"solver": "gibbs"}, {"solver": "sgld"}, {"goal": "ranking"}):
                if name == "regularization" and "goal" in how:
                    continue
                with self.assertRaisesRegex(dpmf.UsageError, f"^{name} is for sgd, not for "):
                    dpmf.Model(n_factors=2, n_epochs=2, **how, **{name: 0.5}).fit(*columns)
        with self.assertRaisesRegex(dpmf.UsageError, "learning_rate is for sgd, not for ials"):
            dpmf.Model(n_factors=2, n_epochs=2, learning_rate=0.5).fit(*columns[:2])
        for how in ({"solver": "gibbs", "n_epochs": 9}, {"goal": "ranking", "n_epochs": 2}):
            path = self.folder / "m.safetensors"
            dpmf.Model(n_factors=2, **how).fit(*columns).save(path)
            loaded = dpmf.load(path)
            loaded.set_params(**how).fit(*columns)  # the other parameters are its own


class Someone(unittest.TestCase):
    """A user at home, who rates on."""

    @classmethod
    def setUpClass(cls):
        users, items, ratings = made_up()
        cls.model = dpmf.Model(n_factors=6, n_epochs=8).fit(users, items, ratings)

    def same(self, one, other):
        self.assertTrue(np.allclose(one.vector, other.vector, atol=1e-9))
        self.assertAlmostEqual(one.bias, other.bias, places=9)
        self.assertEqual(one.recommend(20).items.tolist(), other.recommend(20).items.tolist())

    def test_rating_on(self):
        me = self.model.fold_in({1: 5})
        self.assertIs(me.rate(2, 1), me)
        me.rate(3, 4).rate(2, 2.5)
        self.assertEqual(me.ratings, {1: 5, 2: 2.5, 3: 4})
        self.same(me, self.model.fold_in({1: 5, 2: 2.5, 3: 4}))
        me.rate(1, None)
        self.assertEqual(me.ratings, {2: 2.5, 3: 4})
        self.same(me, self.model.fold_in(([2, 3], np.array([2.5, 4], dtype=np.float32))))
        self.assertEqual(repr(me), "<dpmf.User with 2 ratings>")

    def test_forms(self):
        pairs = (np.array([4, 5, 4]), [1.0, 2.0, 3.0])  # the last counts
        self.assertEqual(self.model.fold_in(pairs).ratings, {4: 3, 5: 2})
        self.assertEqual(self.model.fold_in({"4": 3}).ratings, {4: 3})
        with self.assertWarnsRegex(dpmf.DpmfWarning, "passed over 1 of 2"):
            self.assertEqual(self.model.fold_in({4: 3, 987: 1}).ratings, {4: 3})

    def test_nobody_yet(self):
        nobody = self.model.fold_in({})
        self.assertEqual((nobody.bias, nobody.vector.tolist(), nobody.ratings), (0, [0] * 6, {}))
        order = np.argsort(-self.model.item_biases_, kind="stable")
        self.assertEqual(
            nobody.recommend(5, by="rating").items.tolist(), self.model.items_[order[:5]].tolist())
        self.assertEqual(
            self.model.recommend(n=5).items.tolist(),
            nobody.recommend(5).items.tolist())
        self.assertEqual(nobody.explain(3).shares.tolist(), [])

    def test_seen(self):
        me = self.model.fold_in({1: 5, 2: 5})
        self.assertFalse({1, 2} & set(me.recommend(60).items.tolist()))
        self.assertEqual(len(me.recommend(60, exclude_seen=False).items), 60)

    def test_it_outlives_the_model(self):
        users, items, ratings = made_up(n=1000)
        me = dpmf.Model(n_factors=4, n_epochs=2).fit(users, items, ratings).fold_in({1: 5})
        before = me.recommend(3)
        made_up(n=5000)
        self.assertEqual(me.recommend(3).items.tolist(), before.items.tolist())

    def test_what_is_refused(self):
        for wrong, kind in (({1: float("nan")}, dpmf.InputError), ({1: "good"}, dpmf.InputError),
                            ({1: 1e300}, dpmf.InputError), (([1, 2], [3]), dpmf.InputError), ([
                                (1, 2)
                            ], dpmf.UsageError), ({1.5: 3}, dpmf.InputError), (None,
                                                                               dpmf.UsageError),
                            ):
            with self.assertRaises(kind, msg=repr(wrong)):
                self.model.fold_in(wrong)
        me = self.model.fold_in({1: 5})
        self.assertRaises(dpmf.UnknownIdError, me.rate, 98765, 3)
        self.assertRaises(dpmf.InputError, me.rate, 2, float("inf"))
        self.assertRaises(dpmf.UnknownIdError, me.explain, 98765)
        self.assertEqual(me.ratings, {1: 5})
        self.assertRaises(dpmf.InputError, me.rate, 2, "good")
        for n in (0, -1, 1.5, "3", "x", None, float("nan"), True):
            self.assertRaises(dpmf.UsageError, me.recommend, n)
        for copied in (pickle.dumps, copy.copy, copy.deepcopy):
            with self.assertRaisesRegex(dpmf.PrivacyRefused, "contains a person's ratings"):
                copied(me)

    def test_what_is_told(self):
        with self.assertWarnsRegex(dpmf.DpmfWarning, "those liked best by all"):
            stranger = self.model.fold_in({98765: 3})
        self.assertEqual(
            stranger.recommend(5).items.tolist(),
            self.model.recommend(n=5).items.tolist())
        with self.assertWarnsRegex(dpmf.DpmfWarning,
                                   "outside the model's scale, 1 to 5: 2; they are taken"):
            me = self.model.fold_in({1: 50, 2: 0, 3: 5})
        self.assertEqual(me.ratings, {1: 50, 2: 0, 3: 5})
        with self.assertWarnsRegex(dpmf.DpmfWarning, "outside the model's scale"):
            me.rate(3, 6)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            me.rate(3, 5).rate(3, None)


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
