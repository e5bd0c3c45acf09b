"""What is known about items and users besides ratings: item_features, user_features."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import dpmf

# People like their own kind of items.
ROWS = [(f"u{u}", f"i{i}", 5.0 if u % 2 == i % 2 else 1.0)
        for u in range(60) for i in range(40) if (7 * u + 3 * i) % 5]
ITEMS = {f"i{i}": {"kind": "odd" if i % 2 else "even"} for i in range(50)}
USERS = {"user": [f"u{u}" for u in range(70)],
         "kind": ["odd" if u % 2 else "even" for u in range(70)]}


def fitted(**parameters):
    model = dpmf.Model(n_factors=4, n_epochs=30, adapt=False, deterministic=True, **parameters)
    return model.fit(*zip(*ROWS))


class Features(unittest.TestCase):
    def test_cold(self):
        model = fitted(item_features=ITEMS, user_features=USERS)
        self.assertEqual((len(model.users_), len(model.items_)), (70, 50))
        high, low = model.predict(["u61", "u61"], ["i45", "i44"])
        self.assertGreater(high, 3.5)
        self.assertLess(low, 2.5)
        found = model.evaluate((["u1", "u61"], ["i1", "i45"], [5.0, 5.0]))
        self.assertEqual((found["n"], found["cold"], found["unknown_users"]), (2, 1, 0))
        self.assertLess(found["warm_rmse"], 1)
        self.assertNotIn("cold", fitted().evaluate((["u1"], ["i1"], [5.0])))
        self.assertIn("i45", model.recommend("u1", n=50).items)

    def test_other_solvers_place(self):
        model = dpmf.Model(n_factors=4, goal="ranking", like=4, user_features=USERS)
        model = model.fit(*zip(*ROWS))
        odd = [item for item in model.recommend("u61", n=20).items if int(item[1:]) % 2]
        self.assertEqual(len(odd), 20)

    def test_saved_and_loaded(self):
        model = fitted(item_features=ITEMS)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.safetensors"
            model.save(path)
            self.assertEqual(len(dpmf.load(path).items_), 40)
            again = dpmf.load(path, item_features=ITEMS)
        self.assertEqual(len(again.items_), 50)
        self.assertEqual(again.predict(["u1"], ["i45"])[0], model.predict(["u1"], ["i45"])[0])

    def test_refused(self):
        with self.assertRaisesRegex(dpmf.UsageError, "cannot be continued"):
            fitted(item_features=ITEMS).partial_fit(["u1"], ["i1"], [5.0])
        with self.assertRaisesRegex(dpmf.UsageError, "user_features"):
            fitted(user_features={"u1": 3})
        with self.assertRaisesRegex(dpmf.UsageError, "user_features"):
            dpmf.Model(epsilon=1, rating_range=(1, 5), catalogue=list(ITEMS),
                       user_features=USERS).fit(*zip(*ROWS))
        with self.assertRaises(dpmf.InputError):
            fitted(item_features={"x": {"kind": "a"}, "y": {"kind": "b"}, "z": {"kind": "a"},
                                  "v": {"kind": "b"}, "w": {"kind": "a"}, "t": {"kind": "b"}})


if __name__ == "__main__":
    unittest.main()
