"""Fold-in against an independent dense solve: NumPy, float64, from the bytes of the release alone.

docs/formats/release.md says what someone at home computes; here that is done once more, by another
reader of the file and another solver, for a thousand people of MovieLens 1M where that is at hand,
and for made-up ones.
"""

from __future__ import annotations

import json
import unittest

import numpy as np

import dpmf
from support import (FolderTest, made_up, movielens_1m, private_model, quiet, read_safetensors,
                     run_dpmf)


class Dense:
    """A release as NumPy sees it."""

    def __init__(self, data):
        tensors, metadata = read_safetensors(data)
        self.V = tensors["item_factors"].astype(np.float64)
        self.b = tensors["item_biases"].astype(np.float64)
        offsets = tensors["item_id_offsets"]
        ids = tensors["item_id_bytes"].tobytes()
        self.ids = [ids[offsets[i]:offsets[i + 1]].decode() for i in range(len(self.b))]
        self.number = {int(text): i for i, text in enumerate(self.ids)}
        self.offset = float(metadata["dpmf.offset"])
        counts = tensors["item_counts"].astype(np.float64)
        self.min, self.unit = float(metadata["dpmf.min"]), 0.25 * (float(metadata["dpmf.max"])
                                                                   - float(metadata["dpmf.min"]))
        self.mean = counts / counts.sum() @ self.V
        self.centred = self.V - self.mean
        self.C = (self.centred * (counts / counts.sum())[:, None]).T @ self.centred
        self.crowd = np.float32(np.log(counts / counts.mean()) + 0.3 / self.unit * self.b).astype(
            np.float64)
        self.penalties = np.array([float(metadata["dpmf.bias_penalty"])]
                                  + [float(metadata["dpmf.factor_penalty"])] * self.V.shape[1])

    def fit(self, items, ratings):
        X = np.column_stack([np.ones(len(items)), self.V[items]])
        y = np.asarray(ratings, dtype=np.float64) - self.offset - self.b[items]
        return np.linalg.solve(X.T @ X + np.diag(self.penalties), X.T @ y)

    def predictions(self, items, ratings):
        """The ratings to expect of someone who gave these."""
        w = self.fit(items, ratings)
        return self.offset + self.b + w[0] + self.V @ w[1:]

    def scores(self, items, ratings, taste):
        """What lists are ordered by, as docs/goals.md has it."""
        w, g, k = self.fit(items, ratings), 0.3 / self.unit, self.V.shape[1]
        centred, C = self.centred, self.C
        weights = np.clip((np.asarray(ratings, dtype=np.float64) - self.min) / self.unit - 0.5,
                          -0.5, 1)
        p = np.linalg.solve(np.abs(weights).sum() * C + np.eye(k) * np.trace(C) / 2,
                            weights @ centred[items])
        return self.crowd + g * (w[0] + w[1:] @ self.mean) + 2 * taste * centred @ (p + g * w[1:])


class AtHome(FolderTest):
    def compare(self, users, items, ratings, catalogue, n_people, epsilon):
        with quiet():  # noise from a seed, so that this test is the same every time
            model = private_model(self.folder, epsilon=epsilon, catalogue=catalogue,
                                  insecure_noise_seed=11)
            model.fit(users, items, ratings)
        model.save(self.folder / "r.safetensors")
        dense = Dense((self.folder / "r.safetensors").read_bytes())
        self.assertGreater(dense.V.shape[1], 1)
        order = np.argsort(users, kind="stable")
        items, ratings = items[order], ratings[order]
        people, starts = np.unique(users[order], return_index=True)
        ends = np.append(starts[1:], len(order))
        chosen = np.random.default_rng(2).permutation(len(people))[:n_people]
        self.assertEqual(len(chosen), n_people)
        worst = 0.0
        for person in chosen:
            mine = slice(starts[person], ends[person])
            own = [dense.number[i] for i in items[mine].tolist()]
            expected = dense.predictions(own, ratings[mine])
            me = model.fold_in((items[mine], ratings[mine]))
            got = me.predict(model.items_, clip=False)
            worst = max(worst, float(np.abs(got - expected).max()))
            for taste in (0.5, 0.9, None):
                order = {"by": "rating"} if taste is None else {"taste": taste}
                scores = (expected.copy() if taste is None else dense.scores(
                    own, ratings[mine], taste))
                without = scores.copy()
                without[own] = -np.inf
                top = np.argsort(-without, kind="stable")[:20]
                best = me.recommend(20, **order)
                self.assertEqual(best.items.tolist(), [int(dense.ids[i]) for i in top])
                self.assertLess(float(np.abs(best.scores - scores[top]).max()), 1e-6)
        self.assertLess(worst, 1e-9)  # 1e-4 would do
        return worst

    def test_movielens_1m(self):
        users, items, ratings, catalogue = movielens_1m()
        self.compare(users, items, ratings, catalogue, 1000, epsilon=8)

    def test_made_up(self):
        users, items, ratings = made_up(n_users=4000, n_items=120, n=100_000, rank=2)
        self.compare(users, items, ratings, range(125), 200, epsilon=20)

    def test_years_of_a_catalogue(self):
        users, items, ratings = made_up(n_users=4000, n_items=120, n=100_000, rank=2)
        with quiet():
            model = private_model(self.folder, epsilon=20, catalogue=range(125),
                                  insecure_noise_seed=11)
            model.fit(users, items, ratings)
        release, table = self.folder / "r.safetensors", self.folder / "items.csv"
        model.save(release)
        table.write_text("item,title,year\n" + "".join(
            f"{item},T{item},{1990 if item % 4 else 1950}\n" for item in range(125)))
        mine = (np.arange(0, 20, 4), np.full(5, 5.0))
        with quiet():
            loaded = dpmf.load(release, catalogue=table)
            others = self.folder / "others.csv"
            others.write_text("item,genres\nx1,Drama\nx2,Comedy\n")
            with self.assertWarnsRegex(dpmf.DpmfWarning, "neither kinds nor years"):
                dpmf.load(release, catalogue=others)
        plain, told = model.fold_in(mine), loaded.fold_in(mine)
        old, new = (me.recommend(10, taste=1).items for me in (plain, told))
        self.assertGreater((new % 4 == 0).sum(), (old % 4 == 0).sum())
        self.assertEqual(plain.predict(model.items_).tolist(), told.predict(model.items_).tolist())
        answer = run_dpmf("recommend", release, "--ratings", "0:5,4:5,8:5,12:5,16:5", "--catalogue",
                          table, "--taste", "1", "--json", "-q")
        self.assertEqual([int(json.loads(line)["item"]) for line in answer.splitlines()],
                         new.tolist())


if __name__ == "__main__":
    unittest.main()
