"""Parameters by scikit-learn's rules, which clone, grid searches and pipelines depend on."""

from __future__ import annotations

import inspect
import pickle
import typing
import unittest
from pathlib import Path

import numpy as np

import dpmf
from support import made_up


class Parameters(unittest.TestCase):
    def test_the_constructor_keeps_what_it_is_given(self):
        for name in inspect.signature(dpmf.Model).parameters:
            value = object()
            model = dpmf.Model(**{name: value})
            self.assertIs(getattr(model, name), value)
            self.assertIs(model.get_params()[name], value)
        self.assertEqual(set(vars(dpmf.Model())), set(dpmf.Model().get_params()))

    def test_clone_by_hand(self):
        """What sklearn.base.clone does."""
        catalogue = np.arange(3)
        model = dpmf.Model(n_factors=3, catalogue=catalogue)
        copy = type(model)(**model.get_params(deep=False))
        for name, value in model.get_params().items():
            self.assertIs(getattr(copy, name), value)
        self.assertFalse(copy.__sklearn_is_fitted__())

    def test_sklearn(self):
        try:
            from sklearn.base import clone
            from sklearn.utils.validation import check_is_fitted
        except ImportError:
            self.skipTest("there is no scikit-learn")
        users, items, ratings = made_up(n=500)
        model = dpmf.Model(n_factors=3, n_epochs=1).fit(users, items, ratings)
        check_is_fitted(model)
        self.assertEqual(clone(model).get_params(), model.get_params())
        self.assertRaises(Exception, check_is_fitted, clone(model))

    def test_set_params(self):
        model = dpmf.Model()
        self.assertIs(model.set_params(n_factors=5, memory="1GiB"), model)
        self.assertEqual((model.n_factors, model.memory), (5, "1GiB"))
        self.assertIs(model.set_params(), model)

    def test_repr(self):
        self.assertEqual(repr(dpmf.Model()), "Model()")
        self.assertEqual(repr(dpmf.Model(8, epsilon=1.0, delta=1e-5)),
                         "Model(n_factors=8, epsilon=1.0)")
        self.assertEqual(repr(dpmf.Model(rating_range=[1, 5])), "Model(rating_range=(1, 5))")
        self.assertLess(len(repr(dpmf.Model(catalogue=np.arange(1000)))), 100)
        self.assertEqual(eval(repr(dpmf.Model(n_factors=8)), {"Model": dpmf.Model}).n_factors, 8)

    def test_an_unfitted_model_pickles(self):
        again = pickle.loads(pickle.dumps(dpmf.Model(n_factors=8, progress=print)))
        self.assertEqual((again.n_factors, again.progress), (8, None))

    def test_hints(self):
        """Type hints that are there, and that mean something."""
        self.assertTrue((Path(dpmf.__file__).parent / "py.typed").exists())
        for public in dpmf.__all__:
            thing = getattr(dpmf, public)
            methods = [thing] if inspect.isfunction(thing) else [
                member for name, member in vars(thing).items()
                if inspect.isfunction(member) and (not name.startswith("_") or name == "__init__")]
            for method in methods:
                names = inspect.signature(method).parameters
                hints = typing.get_type_hints(method)
                self.assertLessEqual({name for name in names if name not in ("self", "arguments")},
                                     set(hints), method)
                self.assertIn("return", hints, method)
            self.assertTrue(inspect.getdoc(thing), public)


if __name__ == "__main__":
    unittest.main()
