"""What the command line does, from Python: measuring, searching, splitting, snapshots, intervals,
the ledger, plans, the audit, exports, progress."""

from __future__ import annotations

import copy
import io
import json
import math
import os
import subprocess
import sys
import unittest
import unittest.mock
import warnings

import numpy as np

import dpmf
from dpmf import _progress
from support import FolderTest, made_up, private_model, quiet, run_dpmf


class Measuring(FolderTest):
    def test_evaluate_is_the_programs(self):
        users, items, ratings = made_up(n_users=80, n_items=30, n=1500)
        names = [f"u{i}" for i in users], [f"i{i}" for i in items]
        train, test = self.folder / "train.dpr", self.folder / "test.dpr"
        parts = dpmf.split((*names, ratings), train, test, test_fraction=0.2, random_state=4)
        self.assertEqual(parts["train_ratings"] + parts["test_ratings"], 1500)
        self.assertEqual(os.stat(train).st_mode & 0o777, 0o600)
        model = dpmf.Model(n_factors=4, n_epochs=5, deterministic=True).fit_file(train)
        model.save(self.folder / "m.safetensors")
        mine = model.evaluate(test, history=train, ranking=5)
        theirs = json.loads(
            run_dpmf("evaluate", self.folder / "m.safetensors", test, "--history", train,
                     "--ranking", "-n", "5", "--json"))
        for name in ("rmse", "mae", "n"):
            self.assertAlmostEqual(mine[name], theirs[name], places=9)
        self.assertGreater(mine["recall"], 0)
        self.assertEqual(len(mine["by_popularity"]), 5)
        self.assertNotIn("recall", model.evaluate(test))
        with self.assertRaises(dpmf.UsageError):
            dpmf.split(train, train, test, by="luck")

    def test_candidates_are_the_programs(self):
        users, items, ratings = made_up(n_users=80, n_items=30, n=1500)
        model = dpmf.Model(n_factors=4, n_epochs=5, deterministic=True).fit(users, items, ratings)
        model.save(self.folder / "m.safetensors")
        known = model.items_.tolist()
        rows = [[user, known[k % len(known)],
                 *(known[(k + step) % len(known)] for step in range(1, 9))]
                for k, user in enumerate(model.users_.tolist()[:40])]
        rows += [["nobody", known[0], known[1]], [rows[0][0], "nothing", known[1]]]
        table = self.folder / "candidates.csv"
        with open(table, "w", encoding="utf-8") as file:
            file.write("user,item,negatives\n")
            file.writelines(",".join(map(str, row)) + "\n" for row in rows)
        theirs = json.loads(
            run_dpmf("evaluate", self.folder / "m.safetensors", "--candidates", table, "-n", "3",
                     "--json"))
        turned = self.folder / "turned.csv"
        with open(turned, "w", encoding="utf-8") as file:
            file.write("item,user,negatives\n")
            file.writelines(",".join(map(str, [item, user, *others])) + "\n"
                            for user, item, *others in rows)
        for given in rows, table, str(table), turned:
            mine = model.evaluate(candidates=given, n=3, history=False)["candidates"]
            for name in ("rows", "unknown_users", "unknown_items", "hr", "ndcg", "mrr"):
                self.assertAlmostEqual(mine[name], theirs[name], places=9)
        self.assertTrue(0 < mine["hr"] < 1)
        both = model.evaluate((users, items, ratings), candidates=rows, history=(users, items,
                                                                                 ratings))
        self.assertEqual(both["n"], len(ratings))
        self.assertEqual(both["candidates"]["rows"], len(rows))
        table.write_text("1,2,3\n", encoding="utf-8")
        for bad in [table], 5, ["abc"], [[1, 2]], [[1, None, 3]], [], table:
            with self.assertRaises(dpmf.DpmfError):
                model.evaluate(candidates=bad)
        for wrong in {}, {"candidates": rows, "ranking": 5}:
            with self.assertRaises(dpmf.UsageError):
                model.evaluate(**wrong)

    def test_new_users_of_a_checkpoint_are_fitted(self):
        users, items, ratings = made_up(n_users=80, n_items=30, n=1500)
        known = users < 60
        model = dpmf.Model(n_factors=4, n_epochs=20, deterministic=True)
        model.fit(users[known], items[known], ratings[known])
        test = [70], [29], [5]
        before = users, items, ratings
        had = (users != 70) | (items != 29)
        before = users[had], items[had], ratings[had]
        own = dict(zip(before[1][before[0] == 70].tolist(), before[2][before[0] == 70].tolist()))
        found = model.evaluate(test, history=before)
        self.assertEqual((found["fitted_users"], found["unknown_users"]), (1, 0))
        self.assertAlmostEqual(found["mae"], 5 - model.fold_in(own).predict(29), places=5)
        place = model.recommend(ratings=own, n=30).items.tolist().index(29) + 1
        found = model.evaluate(test, history=before, ranking=30)
        self.assertAlmostEqual(found["mrr"], 1 / place)
        rows = [[70, 29, *(item for item in model.items_.tolist() if item not in own)]]
        found = model.evaluate(candidates=rows, history=before, n=30)["candidates"]
        self.assertEqual((found["fitted_users"], found["unknown_users"]), (1, 0))
        self.assertAlmostEqual(found["mrr"], 1 / place)

    def test_what_was_learned_is_no_test(self):
        users, items, ratings = made_up(n_users=80, n_items=30, n=1500)
        old, new = np.arange(1500) < 1000, np.arange(1500) >= 1400
        with quiet():
            model = dpmf.Model(n_factors=4, n_epochs=3).fit(users[old], items[old], ratings[old])
        with self.assertWarnsRegex(dpmf.DpmfWarning, "was trained on these ratings"):
            found = model.evaluate((users[old], items[old], ratings[old]))
        self.assertEqual(found["learned_share"], 1)
        with self.assertWarnsRegex(dpmf.DpmfWarning, "trained on about [0-9]+ %"):
            model.evaluate((users, items, ratings))
        pairs = set(zip(users[old], items[old]))
        fresh = np.array([(u, i) not in pairs for u, i in zip(users, items)]) & new
        found = model.evaluate((users[fresh], items[fresh], ratings[fresh]))
        self.assertEqual((found["learned_share"], found["in_fitted_history"]), (0, 0))

    def test_a_history_off_the_scale_warns(self):
        users, items, ratings = made_up(n_users=80, n_items=30, n=1500)
        model = dpmf.Model(n_factors=4, n_epochs=2).fit(users, items, ratings)
        path = self.folder / "m.safetensors"
        model.save(path)
        off = [100, 100], [1, 2], [9, 1]
        with self.assertWarnsRegex(dpmf.DpmfWarning, "from 1 to 9, and the model's scale"):
            model.evaluate(([100], [3], [4]), history=off)
        with self.assertWarnsRegex(dpmf.DpmfWarning, "from 1 to 9, and the model's scale"):
            dpmf.load(path, history=off)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.evaluate(([1], [3], [4]), history=(users, items, ratings))

    def test_a_ranking_without_a_history_warns(self):
        users, items, ratings = made_up(n_users=80, n_items=30, n=1500)
        model = dpmf.Model(n_factors=4, n_epochs=2).fit(users, items, ratings)
        with self.assertWarnsRegex(dpmf.DpmfWarning, "without history"):
            model.evaluate((users, items, ratings), ranking=5, history=False)
        ranks = dpmf.Model(n_factors=4, n_epochs=2, goal="ranking").fit(users, items)
        with self.assertWarnsRegex(dpmf.DpmfWarning, "nobody could be ranked"):
            ranks.evaluate((users, items))  # it was fitted to all of them
        with self.assertWarnsRegex(dpmf.DpmfWarning, "without history"):
            found = ranks.evaluate((users, items), history=False)
        self.assertGreater(found["recall"], 0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", ".*was trained on")
            self.assertNotIn("recall", ranks.evaluate((users, items), ranking=0))
            later = np.isin(users, users[:1200]) & (np.arange(len(users)) >= 1200)
            test, before = (users[later], items[later]), (users[:1200], items[:1200])
            ranks.evaluate(test, history=before)
        with self.assertWarnsRegex(dpmf.DpmfWarning, "it has nothing of 79 of 80 users"):
            ranks.evaluate((users, items), history=([users[0]], [items[0]]))
        with self.assertWarnsRegex(dpmf.DpmfWarning, "1 of 1500 ratings to look for are in the h"):
            model.evaluate((users, items, ratings), ranking=5,
                           history=(users[:1], items[:1], ratings[:1]))

    def test_a_ranking_leaves_out_what_the_model_remembers(self):
        users, items, ratings = made_up(n_users=80, n_items=30, n=1500)
        before, test = [c[:1200] for c in (users, items, ratings)], (
            users[1200:], items[1200:], ratings[1200:])
        rows = [[int(users[1200]), int(items[1200]), *range(30)]]
        model = dpmf.Model(n_factors=4, n_epochs=2, deterministic=True).fit(*before)
        given = model.evaluate(test, ranking=5, candidates=rows, history=tuple(before))
        self.assertNotEqual(given["ndcg"],
                            model.evaluate(test, ranking=5, history=False)["ndcg"])
        path = self.folder / "remembers.safetensors"
        model.save(path)
        for one in (model, dpmf.load(path, history=tuple(before))):
            for _ in range(2):  # before a list was asked for, and after
                self.assertEqual(one.evaluate(test, ranking=5, candidates=rows), given)
                one.recommend(int(users[0]), n=1)
        with self.assertWarnsRegex(dpmf.DpmfWarning, "without history"):
            dpmf.load(path).evaluate(test, ranking=5)
        continued = model.partial_fit([1], [2], [3])
        with self.assertWarnsRegex(dpmf.DpmfWarning, "without history"):
            continued.evaluate(test, ranking=5)

    def test_a_release_is_evaluated_by_fold_in(self):
        users, items, ratings = made_up()
        model = private_model(self.folder, catalogue=range(60), epsilon=10,
                              insecure_noise_seed=1)  # fresh noise might decide it
        with quiet():
            model.fit(users, items, ratings)
        generous = [4.5 if user % 2 else 1.5 for user in users]  # which a history tells at home
        history = users[::2], items[::2], generous[::2]
        test = users[1::2], items[1::2], generous[1::2]
        with_history = model.evaluate(test, history=history)
        self.assertEqual(with_history["unknown_users"], 0)
        with self.assertWarnsRegex(dpmf.DpmfWarning, "a release has no users"):
            without = model.evaluate(test)
        self.assertEqual(without["unknown_users"], len(test[0]))
        self.assertLess(with_history["rmse"], without["rmse"])

    def test_outputs_replace_what_they_are(self):
        users, items, ratings = made_up()
        model = dpmf.Model(n_factors=2, n_epochs=1).fit(users, items, ratings)
        release = private_model(self.folder, catalogue=range(60), epsilon=10)
        with quiet():
            release.fit(users, items, ratings)
        wishes, store = self.folder / "wishes.csv", self.folder / "s.dpr"
        wishes.write_text("user,epsilon\n1,0\n")
        before = wishes.read_bytes()
        checkpoint, published = self.folder / "m.safetensors", self.folder / "r.safetensors"
        for _ in range(2):  # each over its own kind, but a release
            model.save(checkpoint)
            dpmf.synth(store, users=9, items=9, ratings=30)
        release.save(published)
        ledger = self.folder / "ledger"
        if not ledger.exists():
            run_dpmf("ledger", "init", ledger)
        lock = ledger.with_name("ledger.lock")

        def write_text(path, **how):
            dpmf.write_csv(store, path, **how)

        for write in (lambda path, **how: model.save(path, **how),
                      lambda path, **how: release.save(path, **how),
                      lambda path, **how: dpmf.synth(path, users=9, items=9, ratings=30, **how),
                      lambda path, **how: dpmf.split(store, self.folder / "a", path, **how),
                      lambda path, **how: dpmf.import_ratings(store, path, **how), write_text):
            for path in (wishes, published):
                with self.assertRaises(dpmf.FileError) as caught:
                    write(path)
                self.assertIn("replace=", str(caught.exception))
            for path in (ledger, lock):
                with self.assertRaises(dpmf.UsageError):
                    write(path, replace=True)
        self.assertEqual(wishes.read_bytes(), before)
        write_text(self.folder / "s.csv")
        write_text(self.folder / "s.csv", replace=True)
        release.save(published, replace=True)
        model.save(wishes, replace=True)
        self.assertNotEqual(wishes.read_bytes(), before)

    def test_describe_synth_csv(self):
        store = self.folder / "s.dpr"
        made = dpmf.synth(store, users=60, items=20, ratings=500, random_state=3,
                          catalogue=self.folder / "t.csv")
        self.assertEqual(made["ratings"], 500)
        self.assertEqual(
            dpmf.describe(store)["items"],
            dpmf.describe((*made_up(60, 20, 500), ))["items"])
        self.assertTrue((self.folder / "t.csv").exists())
        size = dpmf.write_csv(store, self.folder / "s.csv")
        self.assertEqual(size, (self.folder / "s.csv").stat().st_size)
        self.assertEqual((self.folder / "s.csv").read_text(),
                         run_dpmf("export", store, "--csv", "-"))
        with self.assertRaisesRegex(dpmf.UsageError, "ml-1m"):
            dpmf.synth(store, like="nothing known")

    def test_tune(self):
        users, items, ratings = made_up(n_users=80, n_items=30, n=1500)
        found = dpmf.tune((users, items, ratings), dpmf.Model(n_factors=4, n_epochs=4), trials=3,
                          hold=("n_factors", "n_epochs"))
        self.assertEqual(len(found.trials), 3)
        self.assertEqual((found.model.n_factors, found.model.n_epochs), (4, 4))
        self.assertEqual(found.model.learning_rate, found.best.parameters["learning_rate"])
        self.assertEqual(found.best.valid_rmse, min(trial.valid_rmse for trial in found.trials))
        with self.assertRaises(dpmf.UsageError):
            dpmf.tune((users, items, ratings), hold=("patience",))
        with self.assertRaises(dpmf.UsageError):
            dpmf.tune((users, items, ratings), dpmf.Model(epsilon=1))

    def test_tuning_is_recorded(self):
        ledger = self.folder / "ledger"
        dpmf.init_ledger(ledger)
        dpmf.tune(made_up(60, 20, 600), dpmf.Model(n_factors=2, n_epochs=1), trials=1,
                  population="readers", ledger=ledger)
        (readers,) = dpmf.read_ledger(ledger)
        self.assertEqual([entry.state for entry in readers.entries], ["tuning"])
        self.assertEqual(readers.mu, 0)

    def test_intervals(self):
        users, items, ratings = made_up(60, 20, 800)
        model = dpmf.Model(n_factors=3, n_epochs=12, solver="gibbs",
                           average=True).fit(users, items, ratings)
        low, high = model.interval([users[0], 10**6], items[0])
        self.assertTrue(1 <= low[0] < high[0] <= 5)
        self.assertTrue(math.isnan(low[1]) and math.isnan(high[1]))
        wide = model.interval(users[0], items[0], level=0.99)
        self.assertTrue(wide[0][0] <= low[0] and high[0] <= wide[1][0])
        with self.assertRaises(dpmf.KindError):
            dpmf.Model(n_factors=2, n_epochs=1).fit(users, items,
                                                    ratings).interval(users[0], items[0])
        for wrong in ({"average": True}, {"burn_in": 3}, {"step": 0.1},
                      {"solver": "gibbs", "step": -1}):
            with self.assertRaises(dpmf.UsageError, msg=wrong):
                dpmf.Model(**wrong).fit(users, items, ratings)


class Snapshots(FolderTest):
    def test_resume(self):
        users, items, ratings = made_up(60, 20, 800)
        file = self.folder / "run.snapshot"
        settings = {"n_factors": 3, "n_epochs": 6, "deterministic": True, "random_state": 1}
        whole = dpmf.Model(**settings).fit(users, items, ratings)

        def stop(progress):
            if progress.epoch is not None and progress.epoch.epoch == 3:
                raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            dpmf.Model(**settings, snapshot=file, snapshot_every=1,
                       progress=stop).fit(users, items, ratings)
        again = dpmf.Model(**settings).fit(users, items, ratings, resume=file)
        self.assertTrue(np.array_equal(again.item_factors_, whole.item_factors_))
        self.assertLess(len(again.history_), 6)
        with self.assertRaises(dpmf.DpmfError):  # of another run
            dpmf.Model(**{**settings, "n_factors": 4}).fit(users, items, ratings, resume=file)
        with self.assertRaises(dpmf.UsageError):
            dpmf.Model(snapshot_every=2).fit(users, items, ratings)
        with self.assertRaises(dpmf.PrivacyRefused):
            private_model(self.folder, catalogue=range(20)).fit(users, items, ratings, resume=file)


class Copies(unittest.TestCase):
    def test_a_checkpoint_is_copied_within_the_process(self):
        users, items, ratings = made_up(60, 20, 800)
        model = dpmf.Model(n_factors=3, n_epochs=2, rating_range=[1, 5]).fit(users, items, ratings)
        for again in (copy.copy(model), copy.deepcopy(model)):
            self.assertTrue(np.array_equal(again.item_factors_, model.item_factors_))
            self.assertEqual(again.get_params(), model.get_params())
            self.assertEqual(
                again.recommend(users[0]).items.tolist(),
                model.recommend(users[0]).items.tolist())
        # and one does not change the other
        deep = copy.deepcopy(model).fit(users, items, ratings[::-1].copy())
        self.assertFalse(np.array_equal(deep.item_factors_, model.item_factors_))
        self.assertIsNot(deep.rating_range, model.rating_range)
        self.assertFalse(copy.deepcopy(dpmf.Model(n_factors=3)).__sklearn_is_fitted__())


class Privacy(FolderTest):
    def test_plan_and_account(self):
        one = dpmf.account(epsilon=1, delta=1e-5)
        self.assertAlmostEqual(one["mu"], 0.26805, places=4)
        self.assertAlmostEqual(dpmf.account(mu=one["mu"], delta=1e-5)["epsilon"], 1, places=6)
        self.assertAlmostEqual(dpmf.account(mu=one["mu"], epsilon=1)["delta"], 1e-5, places=9)
        self.assertEqual(
            dpmf.plan(users=6040, items=3706, ratings_per_user=165, rating_range=[1, 5])["mu"],
            one["mu"])
        for wrong in ({}, {"epsilon": -1}, {"epsilon": 1, "delta": 2}, {"mu": 0}):
            with self.assertRaises(dpmf.UsageError, msg=wrong):
                dpmf.account(**wrong)

    def test_ledger(self):
        users, items, ratings = made_up(200, 20, 2000)
        ledger = self.folder / "ledger"
        with self.assertRaises(dpmf.MissingFileError):
            dpmf.read_ledger(ledger)
        model = private_model(self.folder, catalogue=range(20), population="readers")
        with quiet():
            model.fit(users, items, ratings)
        (readers,) = dpmf.read_ledger(ledger)
        self.assertEqual((readers.name, readers.kind, readers.budget_mu),
                         ("readers", "proven", None))
        self.assertEqual([entry.id for entry in readers.entries], [model.report_["release_id"]])
        self.assertAlmostEqual(readers.epsilon, 2, places=3)
        dpmf.set_ledger_budget("readers", "2.5@1e-5", ledger)
        self.assertGreater(dpmf.read_ledger(ledger, "readers")[0].budget_mu, readers.mu)
        with quiet(), self.assertRaises(dpmf.BudgetExceeded):
            private_model(self.folder, catalogue=range(20),
                          population="readers").fit(users, items, ratings)
        with self.assertRaises(dpmf.PrivacyError):  # it was published
            dpmf.return_release(model.report_["release_id"], ledger)

    def test_audit(self):
        users, items, ratings = made_up(60, 20, 600)
        model = dpmf.Model(epsilon=1, rating_range=(1, 5), catalogue=range(20), mechanism="biases")
        found = dpmf.audit((users, items, ratings), model, runs=6, users=30)
        self.assertEqual(found["findings"], [])
        self.assertGreater(found["worlds"], 0)
        self.assertFalse(model.__sklearn_is_fitted__())
        with self.assertRaises(dpmf.UsageError):
            dpmf.audit((users, items, ratings), dpmf.Model())

    def test_export(self):
        users, items, ratings = made_up(60, 20, 600)
        checkpoint = dpmf.Model(n_factors=3, n_epochs=1).fit(users, items, ratings)
        with self.assertRaises(dpmf.PrivacyRefused):
            checkpoint.export(self.folder / "npy")
        report = checkpoint.export(self.folder / "npy", not_private=True, users=True)
        self.assertEqual((report["items"], report["users"], report["is_private"]), (20, 60, False))
        vectors = np.load(self.folder / "npy" / "item_vectors.npy")
        self.assertTrue(np.array_equal(vectors, checkpoint.item_factors_))
        release = private_model(self.folder, catalogue=range(20))
        with quiet():
            release.fit(users, items, ratings)
        self.assertTrue(release.export(self.folder / "csv", "csv")["is_private"])
        with self.assertRaises(dpmf.UsageError):
            release.export(self.folder / "x", "xml")


class Progressing(unittest.TestCase):
    RATINGS = made_up(60, 20, 800)

    def test_plain(self):
        stream = io.StringIO()
        with unittest.mock.patch.object(sys, "stderr", stream), \
                unittest.mock.patch.dict(sys.modules, {"tqdm": None}):
            dpmf.Model(n_factors=2, n_epochs=3, progress=True).fit(*self.RATINGS)
            self.assertIn("epoch 3 of 3 epochs 100 %: train ", stream.getvalue())
            self.assertTrue(stream.getvalue().endswith("\r"))  # the line is gone when it is over
            stream.truncate(0)
            dpmf.Model(n_factors=2, n_epochs=3, progress=False).fit(*self.RATINGS)
            dpmf.Model(n_factors=2, n_epochs=3).fit(*self.RATINGS)  # nobody looks
            self.assertEqual(stream.getvalue(), "")
            stream.isatty = lambda: True
            dpmf.Model(n_factors=2, n_epochs=3).fit(*self.RATINGS)
            self.assertIn("epoch", stream.getvalue())

    def test_tqdm_bars(self):
        class Bar:
            made = []

            def __init__(self, **about):
                self.about, self.n, self.closed = about, about["initial"], False
                self.made.append(self)

            def update(self, n):
                self.n += n

            def set_postfix_str(self, text):
                self.text = text

            def close(self):
                self.closed = True

        def fit(**about):
            Bar.made.clear()
            bars = _progress.Bars(Bar, **about)
            with unittest.mock.patch.object(_progress, "_drawn", lambda: bars):
                dpmf.Model(n_factors=2, n_epochs=3, progress=True).fit(*self.RATINGS)
            self.assertTrue(all(bar.closed for bar in Bar.made))

        fit(patience=0)
        training, = [bar for bar in Bar.made if bar.about["desc"] == "training"]
        self.assertEqual((training.about["total"], training.n), (3, 3))
        self.assertRegex(training.text, r"\Atrain [0-9.]+\Z")
        fit(patience=3600)  # what is over at once leaves nothing in a notebook
        self.assertEqual(Bar.made, [])

    def test_a_notebook(self):
        class ZMQInteractiveShell:
            pass

        class IPython:
            get_ipython = staticmethod(ZMQInteractiveShell)

        class Tqdm:
            tqdm = object()

        with unittest.mock.patch.dict(sys.modules, {"IPython": IPython}):
            self.assertTrue(_progress._is_watched())
            # tqdm.auto, which warns where there are no widgets, is not asked for then.
            with unittest.mock.patch.dict(sys.modules, {"tqdm": Tqdm, "tqdm.auto": None}), \
                    unittest.mock.patch("importlib.util.find_spec", lambda name: None):
                self.assertIs(_progress._drawn()._make, Tqdm.tqdm)


class Command(unittest.TestCase):
    def test_python_m_dpmf(self):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-m", "dpmf", "--version"], env=environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, f"dpmf {dpmf.__version__}\n"),
                         done.stderr)
        done = subprocess.run([sys.executable, "-m", "dpmf", "trian"], env=environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("train", done.stderr)


if __name__ == "__main__":
    unittest.main()
