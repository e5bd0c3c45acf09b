"""Models that go on learning: partial_fit."""

from __future__ import annotations

import unittest

import numpy as np

import dpmf

USERS = np.repeat(np.arange(40), 12)
ITEMS = np.array([(u * 7 + j * 11) % 30 for u in range(40) for j in range(12)])
RATINGS = np.array([1 + (u * 3 + j * j) % 5 for u in range(40) for j in range(12)], dtype=float)


def fitted(**parameters):
    model = dpmf.Model(n_factors=4, n_epochs=3, random_state=1, deterministic=True, **parameters)
    return model.fit(USERS, ITEMS, RATINGS)


class PartialFit(unittest.TestCase):
    def test_new_rows_and_old_ones(self):
        model = fitted()
        before = model.user_factors_.copy()
        model.partial_fit([3, 3, 99], [29, 77, 77], [5.0, 4.0, 1.0])
        self.assertEqual((len(model.users_), len(model.items_)), (41, 31))
        order = {user: row for row, user in enumerate(model.users_)}
        self.assertEqual(order[99], 40)
        moved = [user for user in range(40)
                 if not np.array_equal(before[order[user]], model.user_factors_[order[user]])]
        self.assertEqual(moved, [3])
        self.assertEqual(model.n_iter_, 2)

    def test_learns_what_is_said_often(self):
        model = fitted()
        before = model.predict([5], [8])[0]
        for _ in range(5):
            model.partial_fit([5], [8], [5.0])
        high = model.predict([5], [8])[0]
        for _ in range(15):
            model.partial_fit([5], [8], [1.0])
        self.assertGreater(high, before)
        self.assertLess(model.predict([5], [8])[0], high)

    def test_what_was_seen_is_left_out(self):
        model = fitted()
        had = {int(item) for item in ITEMS[USERS == 3]}
        new = next(item for item in range(30) if item not in had)
        model.partial_fit([3], [new], [5.0])
        left = set(model.recommend(3, n=40).items)
        self.assertEqual(left, set(range(30)) - had - {new})

    def test_first_call_fits_and_two_columns(self):
        model = dpmf.Model(n_factors=4, n_epochs=3, random_state=1, deterministic=True)
        model.partial_fit(np.column_stack([USERS, ITEMS]), RATINGS)
        np.testing.assert_array_equal(model.item_factors_, fitted().item_factors_)
        model.partial_fit(np.array([[3, 29]]), [5.0])
        self.assertEqual(len(model.users_), 40)

    def test_history(self):
        made = []
        for history in (None, True, (USERS, ITEMS, RATINGS)):
            model = fitted(goal="ranking")
            model.partial_fit([3, 3, 99], [29, 5, 77], [5.0, 4.0, 1.0], history=history)
            made.append(model)
        self.assertTrue(np.array_equal(made[1].user_factors_, made[2].user_factors_))
        self.assertFalse(np.array_equal(made[0].user_factors_, made[1].user_factors_))
        with self.assertRaisesRegex(ValueError, "does not remember"):
            made[1].partial_fit([3], [1], [5.0], history=True)
        with self.assertRaisesRegex(dpmf.DpmfError, "for models that rank"):
            fitted().partial_fit([3], [1], [5.0], history=True)
        with self.assertRaisesRegex(dpmf.DpmfError, "does not know 1 of the users"):
            fitted(goal="ranking").partial_fit([3], [1], [5.0], history=([777], [1], [5.0]))

    def test_ranking_and_threads(self):
        made = []
        for threads in (1, 3):
            model = fitted(goal="ranking", n_threads=threads)
            model.partial_fit([50, 50], [1, 2], [5.0, 5.0])
            made.append(model.item_factors_.copy())
            self.assertEqual(model.goal_, "ranking")
        np.testing.assert_array_equal(made[0], made[1])

    def test_refused(self):
        with self.assertRaises(dpmf.PrivacyRefused):
            dpmf.Model(epsilon=1).partial_fit([1], [2], [3.0])
        model = fitted()
        with self.assertRaises(dpmf.DpmfError) as caught:
            model.partial_fit([1], [2], [50.0])
        self.assertIn("the model's from 1 to 5", str(caught.exception))
        with self.assertRaises(dpmf.DpmfError):
            model.partial_fit([1], [2], [3.0], n_epochs=0)
        self.assertEqual(len(model.users_), 40)


if __name__ == "__main__":
    unittest.main()
