"""As an estimator of scikit-learn: pairs as X, ratings as y. Skipped where scikit-learn is not
installed."""

from __future__ import annotations

import unittest

import numpy as np

import dpmf
from support import made_up

try:
    import sklearn
except ImportError:
    sklearn = None

USERS, ITEMS, RATINGS = made_up(80, 30, 1500)
X = np.column_stack([USERS, ITEMS])


class Pairs(unittest.TestCase):
    """What needs no scikit-learn."""

    def setUp(self):
        self.settings = {"n_factors": 3, "n_epochs": 3, "deterministic": True, "random_state": 1}
        self.expected = dpmf.Model(**self.settings).fit(USERS, ITEMS, RATINGS)

    def test_fit_predict_score(self):
        model = dpmf.Model(**self.settings).fit(X, RATINGS)
        self.assertTrue(np.array_equal(model.item_factors_, self.expected.item_factors_))
        self.assertEqual(model.n_features_in_, 2)
        predicted = model.predict(X)
        self.assertTrue(np.array_equal(predicted, self.expected.predict(USERS, ITEMS)))
        variance = ((RATINGS - RATINGS.mean()) ** 2).sum()
        self.assertAlmostEqual(model.score(X, RATINGS),
                               1 - ((RATINGS - predicted)**2).sum() / variance)
        weights = np.zeros(len(RATINGS))
        weights[:10] = 1
        self.assertAlmostEqual(model.score(X, RATINGS, weights), model.score(X[:10], RATINGS[:10]))
        with self.assertRaises(dpmf.UsageError):
            model.score(USERS, RATINGS)

    def test_lists_and_texts(self):
        pairs = [[f"u{user}", f"i{item}"] for user, item in X]
        for table in (pairs, np.array(pairs), np.array(pairs, dtype=object)):
            model = dpmf.Model(**self.settings).fit(table, RATINGS)
            self.assertEqual(sorted(model.items_), sorted({item for _, item in pairs}))
            self.assertEqual(model.predict(table).shape, RATINGS.shape)

    def test_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("there is no pandas")
        for frame in (pandas.DataFrame({"userId": USERS, "movieId": ITEMS}),
                      # by name, in any order
                      pandas.DataFrame({"movieId": ITEMS, "userId": USERS}),
                      # one name decides the other
                      pandas.DataFrame({"item": ITEMS, "who": USERS}),
                      pandas.DataFrame({"item": ITEMS, "a": USERS}),
                      pandas.DataFrame({"thing": ITEMS, "user": USERS}),
                      pandas.DataFrame({"title": ITEMS, "user": USERS}),
                      pandas.DataFrame({"member_number": USERS, "item": ITEMS}),
                      pandas.DataFrame({"user": USERS, "thing": ITEMS}),
                      pandas.DataFrame({"a": USERS, "b": ITEMS})):
            model = dpmf.Model(**self.settings).fit(frame, RATINGS)
            self.assertTrue(np.array_equal(model.item_factors_, self.expected.item_factors_))
            self.assertEqual(model.score(frame, RATINGS), self.expected.score(X, RATINGS))
            model.partial_fit(frame, RATINGS)
            self.assertEqual(model.users_.tolist(), self.expected.users_.tolist())
        # an array has no names, and its place says another thing than the frame's names did
        first = pandas.DataFrame({"item": ITEMS, "user": USERS})
        model = dpmf.Model(**self.settings).fit(first, RATINGS)
        array = first.to_numpy()
        for ask in (lambda: model.predict(array), lambda: model.score(array, RATINGS),
                    lambda: model.partial_fit(array, RATINGS),
                    lambda: model.predict(array.tolist())):
            with self.assertRaisesRegex(dpmf.UsageError, "these columns have no names"):
                ask()
        self.assertTrue(np.array_equal(model.predict(USERS, ITEMS), model.predict(first)))
        model.fit(X, RATINGS)
        self.assertTrue(np.array_equal(model.predict(X), model.predict(first)))
        for names in (("rating", "user"), ("user", "timestamp"), ("a", "member"),
                      ("friend", "member"), ("item", "title"), ("user", "uid")):
            frame = pandas.DataFrame(dict(zip(names, (ITEMS, USERS))))
            for ask in (lambda: dpmf.Model(epsilon=1).fit(frame, RATINGS),
                        lambda: dpmf.Model(**self.settings).fit(frame, RATINGS),
                        lambda: model.partial_fit(frame, RATINGS),
                        lambda: model.predict(frame), lambda: model.score(frame, RATINGS)):
                with self.assertRaisesRegex(dpmf.InputError, "not those of a user and an item"):
                    ask()


@unittest.skipIf(sklearn is None, "there is no scikit-learn")
class Estimator(unittest.TestCase):
    def test_cross_validation(self):
        from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

        model = dpmf.Model(n_factors=3, n_epochs=5, random_state=1, deterministic=True)
        folds = KFold(3, shuffle=True, random_state=0)
        self.assertTrue((cross_val_score(model, X, RATINGS, cv=folds) > 0).all())
        errors = (
            -cross_val_score(model, X, RATINGS, cv=folds, scoring="neg_root_mean_squared_error"))
        self.assertTrue((errors < RATINGS.std()).all())
        search = GridSearchCV(model, {"n_factors": [2, 4], "regularization": [0.02, 0.2]}, cv=folds)
        search.fit(X, RATINGS)
        self.assertIn(search.best_params_["n_factors"], (2, 4))
        self.assertEqual(search.predict(X[:7]).shape, (7,))
        self.assertEqual(search.n_features_in_, 2)

    def test_pipeline(self):
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer

        pipeline = make_pipeline(FunctionTransformer(lambda table: table + 1),
                                 dpmf.Model(n_factors=3, n_epochs=3, random_state=1))
        self.assertGreater(pipeline.fit(X, RATINGS).score(X, RATINGS), 0)
        self.assertIn(int(USERS[0]) + 1, pipeline[-1].users_.tolist())
        pipeline.set_params(model__n_factors=2)
        self.assertEqual(pipeline[-1].n_factors, 2)

    def test_tags(self):
        from sklearn.base import clone, is_regressor

        self.assertTrue(is_regressor(dpmf.Model()))
        self.assertEqual(clone(dpmf.Model(n_factors=3)).n_factors, 3)

    def test_checks(self):
        """scikit-learn's own checks of parameters and manners. The others fit tables of any number
        of measurements, where this has one column each of users and items."""
        from sklearn.utils import estimator_checks

        names = ("check_no_attributes_set_in_init", "check_parameters_default_constructible",
                 "check_get_params_invariance", "check_set_params", "check_estimator_cloneable",
                 "check_estimator_repr", "check_estimator_tags_renamed", "check_valid_tag_types",
                 "check_do_not_raise_errors_in_init_or_set_param")
        run = 0
        for name in names:
            one = getattr(estimator_checks, name, None)  # of some versions only
            if one is not None:
                with self.subTest(name):
                    one("Model", dpmf.Model())
                run += 1
        self.assertGreater(run, 3)


if __name__ == "__main__":
    unittest.main()
