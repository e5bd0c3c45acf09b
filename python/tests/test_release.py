"""Private releases: what is in them, what is refused, and files that someone has tampered with."""

from __future__ import annotations

import copy
import json
import os
import pickle
import struct
import threading
import unittest
from datetime import date, datetime

import numpy as np

import dpmf
from support import (FolderTest, made_up, private_model, quiet, read_safetensors, releases_in,
                     run_dpmf)


class Releases(FolderTest):
    def setUp(self):
        super().setUp()
        self.users, self.items, self.ratings = made_up(n_users=2000, n_items=40, n=40_000)

    def fit(self, **parameters):
        settings = {"catalogue": range(50), **parameters}
        return private_model(self.folder, **settings).fit(self.users, self.items, self.ratings)

    def test_new_items_by_features(self):
        model = self.fit(epsilon=10)
        path, wider, again = (self.folder / name
                              for name in ("r.safetensors", "w.safetensors", "a.safetensors"))
        model.save(path)
        (self.folder / "new.csv").write_text("item\nfilm\n")
        kinds = "".join(f"{item},{item % 2}\n" for item in range(50))
        (self.folder /
         "features.csv").write_text("item,genre\n" +
                                    kinds.replace(",0", ",even").replace(",1", ",odd") +
                                    "film,odd\n")
        report = dpmf.extend_release(path, self.folder / "new.csv", self.folder / "features.csv",
                                     wider)
        self.assertEqual((report["items"], report["new_items"], report["known_items"]), (51, 1, 0))
        extended = dpmf.load(wider)
        self.assertEqual(extended.privacy_["extension"]["parent"], report["parent"])
        self.assertEqual(extended.privacy_["extension"]["epsilon"], 0)
        self.assertEqual(len(extended.items_), 51)
        self.assertTrue(np.array_equal(extended.item_factors_[:50], model.item_factors_))
        dpmf.parent_release(wider, again)
        self.assertEqual(again.read_bytes(), path.read_bytes())
        with self.assertRaises(dpmf.DpmfError):
            dpmf.extend_release(wider, self.folder / "new.csv", self.folder / "features.csv",
                                self.folder / "b")

    def test_an_independent_reader(self):
        model = self.fit(epsilon=10)
        path = self.folder / "r.safetensors"
        model.save(path)
        tensors, metadata = read_safetensors(path.read_bytes())
        self.assertEqual(
            sorted(tensors),
            ["item_biases", "item_counts", "item_factors", "item_id_bytes", "item_id_offsets"])
        self.assertTrue(np.array_equal(tensors["item_factors"], model.item_factors_))
        self.assertTrue(np.array_equal(tensors["item_biases"], model.item_biases_))
        offsets, ids = tensors["item_id_offsets"], tensors["item_id_bytes"].tobytes()
        self.assertEqual([ids[offsets[i]:offsets[i + 1]].decode() for i in range(50)],
                         [str(i) for i in range(50)])
        self.assertEqual(model.items_.tolist(), list(range(50)))
        self.assertEqual(metadata["dpmf.kind"], "release")
        self.assertEqual(float(metadata["dpmf.offset"]), model.offset_)
        self.assertEqual(json.loads(metadata["dpmf.statement"]), dict(model.privacy_))

    def test_the_statement(self):
        model = self.fit(epsilon=3, delta=1e-6, declared_users=2000, population="testers")
        statement = model.privacy_
        self.assertEqual((statement["epsilon"], statement["delta"]), (3, 1e-6))
        self.assertEqual(statement["kind"], "proven")
        self.assertTrue(statement.is_private)
        self.assertIn("epsilon = 3", statement.text)
        self.assertEqual(str(statement), statement.text)
        self.assertEqual(model.kind_, "release")
        self.assertEqual(model.n_iter_, 0)
        self.assertEqual(model.report_["users"], 2000)
        # the ledger was charged, where it was asked for
        shown = run_dpmf("ledger", "show", "--ledger", self.folder / "ledger", "--population",
                         "testers", "--json")
        self.assertIn(statement["release_id"], shown)
        model.save(self.folder / "r.safetensors")
        run_dpmf("privacy", "verify", self.folder / "r.safetensors")
        self.assertNotEqual((self.folder / "r.safetensors").stat().st_mode & 0o777, 0o600)

    def test_what_must_be_accepted(self):
        for settings, switch in (({"delta": 0.1}, "accept_delta"),
                                 ({"delta": 1e-5, "declared_users": 10**6}, "accept_delta"),
                                 ({"epsilon": 25}, "accept_epsilon"), ({"epsilon": 1e9},
                                                                       "accept_epsilon")):
            with self.assertRaisesRegex(dpmf.PrivacyRefused, f"{switch}="):
                self.fit(**settings)
            with self.assertWarnsRegex(dpmf.PrivacyWarning,
                                       "the release is partial, not proven: it assumes that so "):
                model = self.fit(**settings, **{switch: True})
            self.assertEqual((model.privacy_.kind, model.report_["kind"]), ("partial", "partial"))
            self.assertEqual(list(model.privacy_.assumptions), [switch.removeprefix("accept_")])
            self.assertFalse(model.privacy_.is_proven)
            self.assertIn("partial, not proven", repr(model.privacy_))

    def test_the_budget(self):
        self.fit(epsilon=1, ledger_budget="1.2@1e-5")
        with self.assertRaises(dpmf.BudgetExceeded) as refused:
            self.fit(epsilon=1)
        self.assertEqual(refused.exception.code_name, "DPMF_ERR_PRIVACY_BUDGET")
        self.assertIsInstance(refused.exception, dpmf.PrivacyRefused)

    def test_the_budget_is_a_mu(self):
        with self.assertRaisesRegex(dpmf.DpmfError, "is a mu, which is epsilon 33.2"):
            self.fit(ledger_budget=5)
        with self.assertRaisesRegex(dpmf.DpmfError, "nor two numbers separated by @"):
            self.fit(ledger_budget="five")
        model = self.fit(epsilon=1, ledger_budget=0.3)
        self.assertEqual(model.report_["budget_mu"], 0.3)
        self.assertRaises(dpmf.BudgetExceeded, self.fit, epsilon=1)

    def test_what_is_spent_is_logged(self):
        for i in (1, 2):
            with self.assertLogs("dpmf", "WARNING") as log:
                model = self.fit(epsilon=1)
            self.assertIn(f"in {i} release", log.output[-1])
            self.assertEqual(model.report_["spent_releases"], i)
        self.assertGreater(model.report_["spent_epsilon"], 1.4)
        with self.assertWarnsRegex(dpmf.PrivacyWarning, "'flims' is new to the ledger"):
            self.fit(population="flims")

    def test_new_users(self):
        # The first half of the users came in 2025, the others in 2026.
        times = np.where(self.users < 1000, 1735689600, 1767225600) + np.arange(len(self.users))

        def fit(**parameters):
            model = private_model(self.folder, catalogue=range(50), epsilon=1, **parameters)
            return model.fit(self.users, self.items, self.ratings, times)

        with self.assertWarnsRegex(dpmf.DpmfWarning, "1000 of 2000 users left out: first record"):
            old = fit(users_before="2026-01-01")
        self.assertEqual((old.report_["users"], old.report_["users_of_other_periods"]),
                         (1000, 1000))
        self.assertEqual(old.privacy_.kind, "proven")
        self.assertEqual(old.privacy_["cohort"]["first_record_before"], "2026-01-01")
        with self.assertWarnsRegex(dpmf.PrivacyWarning, "first record in 1970 or after 2199"):
            early = private_model(self.folder, catalogue=range(50), epsilon=1, population="early",
                                  users_before="2026-01-01")
            early.fit(self.users, self.items, self.ratings, np.full(len(self.users), 20260115))
        self.assertTrue(early.report_["times_are_doubtful"])
        with self.assertLogs("dpmf", "WARNING") as log:
            new = fit(users_since=date(2026, 1, 1), complete_histories=True)
        self.assertIn("add up in full", log.output[-1])
        self.assertGreater(new.report_["spent_epsilon"], 1.4)
        for settings in ({"users_before": "2026-01-01"}, {"users_since": "2026-01-01"}):
            model = fit(population="declared", complete_histories=True, **settings)
        self.assertEqual(model.report_["spent_kind"], "partial")
        self.assertLess(model.report_["spent_epsilon"], 1.01)
        people, = dpmf.read_ledger(self.folder / "ledger", "declared")
        self.assertLess(people.mu, people.mu_in_full)
        self.assertEqual([(entry.users_since, entry.users_before, entry.complete_histories)
                          for entry in people.entries],
                         [(None, "2026-01-01", True), ("2026-01-01", None, True)])
        with self.assertRaisesRegex(dpmf.PrivacyRefused, "have no times.*"):
            self.fit(users_since="2026-01-01")
        with self.assertRaisesRegex(dpmf.UsageError, "users_since is a int, not a date"):
            self.fit(users_since=2026)
        with self.assertRaisesRegex(dpmf.UsageError, "users_since is a datetime, not a date"):
            self.fit(users_since=datetime(2026, 1, 1))

    def test_a_mistyped_ledger(self):
        with self.assertRaisesRegex(FileNotFoundError, "there is no ledger here"):
            self.fit(ledger=self.folder / "legder")
        self.assertFalse((self.folder / "legder").exists())
        dpmf.init_ledger(self.folder / "ledger")
        with self.assertRaises(dpmf.LedgerError):
            dpmf.init_ledger(self.folder / "ledger")

    def test_no_users(self):
        model = self.fit()
        for wrong in (lambda: model.user_factors_, lambda: model.users_,
                      lambda: model.recommend(user=3), lambda: model.predict(1, 2),
                      lambda: model.recommend_many([1])):
            self.assertRaises(dpmf.KindError, wrong)
        self.assertFalse(hasattr(model, "user_factors_"))
        self.assertIsNone(model._fitted.store)  # nothing of the ratings stays behind

    def test_at_home(self):
        self.fit(epsilon=10).save(self.folder / "r.safetensors")
        release = dpmf.load(self.folder / "r.safetensors")
        self.assertEqual((release.epsilon, release.rating_range), (10, (1, 5)))
        mine = {3: 5, 4: 1, 7: 4}
        best = release.recommend(ratings=mine, n=5)
        self.assertFalse(set(best.items.tolist()) & set(mine))
        again = release.fold_in(mine)
        self.assertEqual(again.recommend(5).items.tolist(), best.items.tolist())
        rated = release.recommend(ratings=mine, n=5, by="rating")
        self.assertEqual(
            release.predict(items=rated.items, ratings=mine, clip=False).tolist(),
            rated.scores.tolist())
        low_high = release.predict(items=release.items_, ratings=mine)
        self.assertTrue(np.all((low_high >= 1) & (low_high <= 5)))

    def test_pickling(self):
        model = self.fit(user_privacy={17: 0.5}, population="secret club")
        data = pickle.dumps(model)
        for word in (b"secret club", b"ledger/", bytes(self.folder)):
            self.assertNotIn(word, data)
        again = pickle.loads(data)
        self.assertTrue(np.array_equal(again.item_factors_, model.item_factors_))
        self.assertEqual(again.items_.tolist(), model.items_.tolist())
        self.assertEqual(again.privacy_, model.privacy_)
        self.assertEqual(again.report_, {})  # private figures
        self.assertEqual(copy.deepcopy(model).recommend(ratings={3: 5}).items.tolist(),
                         model.recommend(ratings={3: 5}).items.tolist())
        texts = private_model(self.folder, catalogue=[str(i) for i in range(50)]).fit(
            self.users, [str(i) for i in self.items], self.ratings)
        self.assertEqual(
            pickle.loads(pickle.dumps(texts)).items_.tolist(), [str(i) for i in range(50)])
        # a pickle that was tampered with
        at = data.index(b"dpmf.offset")
        broken = data[:at + 15] + bytes([data[at + 15] ^ 1]) + data[at + 16:]
        self.assertRaises(dpmf.DpmfError, pickle.loads, broken)
        self.assertEqual(pickle.loads(pickle.dumps(model.privacy_)), model.privacy_)

    def test_the_total_is_no_more_than_its_releases(self):
        """One release that is not proven, and so is the sum, in the log and in the report."""
        def spent(**parameters):
            with self.assertLogs("dpmf", "WARNING") as logged, quiet():
                return self.fit(**parameters).report_["spent_kind"], logged.output[-1]

        kind, logged = spent()
        self.assertEqual((kind, "not proven" in logged), ("proven", False))
        for kind, parameters in (("partial", {"delta": 1e-3,
                                              "accept_delta": True}), ("partial", {}),
                                 ("conditional", {"mechanism": "posterior"}), ("conditional", {})):
            said, logged = spent(**parameters)
            self.assertEqual(said, kind)
            self.assertIn(f", {kind}, not proven; ", logged)

    def test_a_release_from_elsewhere_is_not_fitted_again(self):
        """It knows neither whose budget it spent nor who wanted a smaller epsilon."""
        model = self.fit(user_privacy={17: 0}, population="club", ledger_budget=3.0)
        path = self.folder / "r.safetensors"
        model.save(path)
        for again in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)),
                      dpmf.load(path), dpmf.load(path, verify=False)):
            self.assertIsNone(again.ledger_budget)
            again.set_params(catalogue=range(50), ledger=self.folder / "ledger")
            with self.assertRaisesRegex(dpmf.UsageError,
                                        "cannot be fitted again\n  make a new dpmf.Model"):
                again.fit(self.users, self.items, self.ratings)
            self.assertEqual(again.privacy_, model.privacy_)  # and stays what it is
        self.assertEqual(releases_in(self.folder / "ledger"), 1)
        model.fit(self.users, self.items, self.ratings)
        self.assertEqual((model.report_["population"], model.report_["spent_releases"],
                          model.report_["users_left_out"]), ("club", 2, 1))

    def test_what_is_not_pickled(self):
        checkpoint = dpmf.Model(n_factors=2, n_epochs=1).fit(self.users, self.items, self.ratings)
        with self.assertRaisesRegex(dpmf.PrivacyRefused, "contains user data"):
            pickle.dumps(checkpoint)
        with quiet():
            insecure = self.fit(insecure_noise_seed=1)
        self.assertFalse(insecure.privacy_.is_private)
        self.assertIn("NOT PRIVATE", repr(insecure.privacy_))
        for copying in (pickle.dumps, copy.copy, copy.deepcopy):
            with self.assertRaisesRegex(dpmf.PrivacyRefused, "NOT PRIVATE"):
                copying(insecure)
        for statement in (insecure.privacy_, pickle.loads(pickle.dumps(insecure.privacy_))):
            with self.assertRaisesRegex(dpmf.PrivacyRefused, "nothing to register"):
                statement.registry

    def test_no_usable_record(self):
        """One record does not decide whether there is a release: without any it is one of noise."""
        for ratings in (([], [], []), ([None, ""], [1, 2], [3, 4]), (["ann"], [1], ["n/a"])):
            with self.assertWarnsRegex(dpmf.PrivacyWarning, "nothing but noise"):
                model = private_model(self.folder, catalogue=range(3)).fit(*ratings)
            self.assertEqual((len(model.items_), model.privacy_["kind"]), (3, "proven"))
            with self.assertRaises(dpmf.InputError):
                dpmf.Model().fit(*ratings)

    def test_wishes_features_and_the_catalogue(self):
        wishes = {int(user): 0.0 for user in range(100)}
        features = {int(i): {"genre": "comedy|drama" if i % 2 else "drama", "year": 1950 + i,
                             "mood": None if i % 3 else float("nan")} for i in range(50)}
        model = self.fit(user_privacy=wishes, item_features=features)
        self.assertEqual(model.report_["users_left_out"], 100)
        self.assertTrue(model.privacy_["has_features"] and model.privacy_["personalised"])
        (self.folder / "catalogue.txt").write_text("\n".join(map(str, range(50))) + "\n")
        from_file = self.fit(catalogue=self.folder / "catalogue.txt")
        self.assertEqual(from_file.items_.tolist(), list(range(50)))
        for lines in (dict(catalogue=["a", "two\nlines"]), dict(user_privacy={"two\nlines": 0})):
            with self.assertRaisesRegex(dpmf.InputError, "holds a line feed"):
                self.fit(**lines)
        odd = ['a "b", c', "two, words", "naïve", " blank "]
        quoted = private_model(self.folder, catalogue=odd).fit(["u", "v"], [odd[0], odd[2]], [1, 2])
        self.assertEqual(quoted.items_.tolist(), odd)
        with self.assertWarnsRegex(dpmf.PrivacyWarning, "exactly the set of rated items"):
            self.fit(catalogue=sorted(set(self.items.tolist())))
        with self.assertWarnsRegex(dpmf.PrivacyWarning,
                                   "partial, not proven: .* made from the ratings"):
            taken = self.fit(catalogue=None, catalogue_from_ratings=True)
        self.assertTrue(taken.privacy_["catalogue_from_ratings"])

    def test_declarations(self):
        model = self.fit(
            about={
                "controller": "L\u00e4nder & Co", "Intended use": "to\nrecommend",
                "spent_before": 0.25, "erasure": "note: proven\ntitle: none"
            })
        declared = {
            "controller": "L\u00e4nder & Co", "intended_use": "to recommend",
            "spent_before": "0.25", "erasure": "note: proven title: none"
        }
        self.assertEqual(model.privacy_.declared, declared)
        self.assertEqual(model.privacy_["about"]["note"],
                         "declared by the curator, not verified by dpmf")
        self.assertIn("\n  | Controller: L\u00e4nder & Co\n", model.privacy_.text)
        self.assertIn('- "L\u00e4nder & Co" # declared by the curator', model.privacy_.registry)
        self.assertRegex(model.privacy_["build"]["sources"], "^[0-9a-f]{64}$")
        self.assertEqual([at["delta"] for at in model.privacy_["epsilon_at"]],
                         [1e-5, 1e-6, 1e-7, 1e-9])
        again = pickle.loads(pickle.dumps(model))
        self.assertEqual((again.privacy_.declared, again.privacy_.registry, again.about),
                         (declared, model.privacy_.registry, None))
        self.assertEqual(self.fit().privacy_.declared, {})
        (self.folder / "about.txt").write_text("region: Exampleland\n")
        self.assertEqual(
            self.fit(about=self.folder / "about.txt").privacy_.declared, {"region": "Exampleland"})
        for wrong, error in (({"contoller": "x"}, 'did you mean "controller"'),
                             ({"title": "a\x1b"}, "cannot be shown safely"),
                             ({"date": "soon"}, "not a date"), ({"title": ["x"]}, "neither"),
                             ({"a:b": "x"}, "neither"), (["x"], "a dict of names and texts")):
            with self.assertRaisesRegex(dpmf.DpmfError, error):
                self.fit(about=wrong)
        with self.assertRaisesRegex(dpmf.UsageError, "about is for private releases"):
            dpmf.Model(about={"title": "x"}, n_epochs=1).fit(self.users, self.items, self.ratings)

    def test_no_record_decides(self):
        """Records that cannot be used are dropped one by one: none of them stops the release."""
        users = self.users.astype(object)
        users[5], users[6], users[7] = None, 1.5, [1]
        ratings = self.ratings.astype(object)
        ratings[10], ratings[11], ratings[12] = float("nan"), "five", 99.0
        with self.assertWarnsRegex(dpmf.DpmfWarning, "bad records skipped: 5"):
            model = private_model(self.folder, catalogue=range(50)).fit(users, self.items, ratings)
        self.assertEqual(model.report_["out_of_range"], 1)
        self.assertRaises(dpmf.InputError, dpmf.Model(n_epochs=1).fit, users, self.items, ratings)

    def test_files(self):
        bare = self.folder / "bare.csv"
        bare.write_text("".join(f"{u},{i},{r:g}\n"
                                for u, i, r in zip(self.users, self.items, self.ratings)))
        model = private_model(self.folder, catalogue=range(50))
        with self.assertRaisesRegex(dpmf.PrivacyRefused, "without a header"):
            model.fit_file(bare)
        named = self.folder / "named.csv"
        named.write_text("user,item,rating\n" + bare.read_text())
        self.assertEqual(model.fit_file(named).report_["users"], 2000)
        columns = "user,item,rating"
        self.assertEqual(
            model.fit_file(bare, format="csv", columns=columns, separator=",").report_["users"],
            2000)
        store = self.folder / "r.dpr"
        run_dpmf("import", bare, "-o", store, "-q")
        with self.assertRaisesRegex(dpmf.PrivacyRefused, "guessed from the first record"):
            model.fit_file(store)
        run_dpmf("import", named, "-o", store, "-q", "--on-error", "skip")
        self.assertEqual(model.fit_file(store).report_["ratings"], 40_000)
        self.assertRaises(dpmf.UsageError, model.fit_file, bare, columns=columns, separator="::")

    def test_first_row_decides_nothing(self):
        """In MovieLens' format a first row of three columns, or of words, says nothing about the
        others."""
        rows = "".join(f"{u}::{i}::{r:g}::7\n"
                       for u, i, r in zip(self.users, self.items, self.ratings))
        path = self.folder / "r.dat"
        model = private_model(self.folder, catalogue=range(50))
        for first, users, ratings in (("", 2000, 40_000), ("mallory::1::5\n", 2001, 40_001)):
            path.write_text(first + rows)
            report = model.fit_file(path, format="movielens").report_
            self.assertEqual((report["users"], report["ratings"]), (users, ratings))
        path.write_text("alice::thematrix::good\n" + rows)
        with self.assertWarnsRegex(dpmf.DpmfWarning, "bad records skipped: 1$"):
            self.assertEqual(model.fit_file(path, format="movielens").report_["users"], 2000)
        self.assertRaises(dpmf.PrivacyRefused, model.fit_file, path)

    def test_pipes_are_read_once(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        rows = "".join(f"{u},{i},{r:g}\n" for u, i, r in zip(self.users, self.items, self.ratings))
        writer = threading.Thread(target=lambda: pipe.write_text("user,item,rating\n" + rows))
        writer.start()
        model = private_model(self.folder, catalogue=range(50)).fit_file(pipe)
        writer.join()
        self.assertEqual(model.report_["ratings"], 40_000)

    def test_refusals(self):
        for parameters, kind in (
            ({"catalogue": None}, dpmf.PrivacyRefused),
            ({"rating_range": None}, dpmf.PrivacyRefused),
            ({"delta": 0.01, "declared_users": 2000}, dpmf.PrivacyRefused),
            ({"n_factors": 8}, dpmf.UsageError),
            ({"random_state": 1}, dpmf.UsageError),
            ({"learning_rate": 0.1}, dpmf.UsageError),
            ({"epsilon": -1}, dpmf.DpmfError),
            ({"epsilon": float("nan")}, dpmf.DpmfError),
            ({"epsilon": "much"}, dpmf.UsageError),
            ({"rating_range": (5, 1)}, dpmf.UsageError),
            ({"rating_range": 5}, dpmf.UsageError),
            ({"mechanism": "magic"}, dpmf.UsageError),
            ({"catalogue": [1.5]}, dpmf.InputError),
            ({"catalogue": []}, dpmf.DpmfError),
            ({"catalogue": "no-such-file"}, dpmf.MissingFileError),
            ({"user_privacy": [1]}, dpmf.UsageError),
            ({"user_privacy": {3: "low"}}, dpmf.UsageError),
            ({"item_features": {3: 4}}, dpmf.UsageError),
            ({"catalogue_from_ratings": True}, dpmf.UsageError),
            ({"catalogue": None, "catalogue_from_ratings": "no"}, dpmf.UsageError),
            ({"accept_delta": "no"}, dpmf.UsageError),
            ({"accept_epsilon": 1}, dpmf.UsageError),
        ):
            with self.assertRaises(kind, msg=repr(parameters)):
                self.fit(**parameters)
        with self.assertRaisesRegex(dpmf.PrivacyRefused, "valid measures private ratings"):
            private_model(self.folder, catalogue=range(50)).fit(
                self.users, self.items, self.ratings, valid=(self.users, self.items, self.ratings))
        self.assertEqual(releases_in(self.folder / "ledger"), 0)  # nothing was spent
        for name, value in (("catalogue", [1]), ("ledger", "x"), ("delta", 1e-6),
                            ("mechanism", "gram"), ("population", "p"), ("insecure_noise_seed", 1),
                            ("catalogue_from_ratings", True)):
            with self.assertRaisesRegex(dpmf.UsageError, "is for private releases"):
                dpmf.Model(**{name: value}).fit(self.users, self.items, self.ratings)


class Hostile(FolderTest):
    """Files from anyone: a clear exception, never a crash."""

    def setUp(self):
        super().setUp()
        users, items, ratings = made_up(n_users=500, n_items=20, n=4000)
        model = private_model(self.folder, epsilon=20,
                              catalogue=range(30)).fit(users, items, ratings)
        self.path = self.folder / "r.safetensors"
        model.save(self.path)
        self.good = self.path.read_bytes()

    def refuse(self, data):
        self.path.write_bytes(data)
        with self.assertRaises(dpmf.DpmfError) as refused:
            dpmf.load(self.path)
        self.assertEqual(refused.exception.file, str(self.path))
        self.assertNotIn("/dev/fd", str(refused.exception))
        self.assertTrue(refused.exception.message)

    def test_cut_anywhere(self):
        for n in (0, 1, 7, 8, 9, 100, len(self.good) // 2, len(self.good) - 1):
            self.refuse(self.good[:n])
        self.refuse(self.good + b"\0")

    def test_every_kind_of_damage(self):
        (length,) = struct.unpack("<Q", self.good[:8])
        header, body = self.good[8:8 + length], self.good[8 + length:]
        self.refuse(struct.pack("<Q", 2**63) + header + body)
        self.refuse(struct.pack("<Q", length + 8) + header + body)
        self.refuse(self.good[:8] + b"[" * length + body)
        self.refuse(self.good[:8] + header.replace(b'"F32"', b'"F64"', 1) + body)
        self.refuse(self.good[:8] + header.replace(b"[30]", b"[31]", 1) + body)
        self.refuse(self.good[:8] + header.replace(b'"release"', b'"releasX"', 1) + body)
        self.refuse(self.good[:8] + header.replace(b"epsilon", b"epsilom", 1) + body)
        not_a_number = struct.pack("<f", float("nan"))
        self.refuse(self.good[:8] + header + body[:-400] + not_a_number + body[-396:])
        rng = np.random.default_rng(1)
        for at in rng.integers(len(self.good), size=300).tolist():
            self.refuse(self.good[:at] + bytes([self.good[at] ^ (1 << at % 8)]) +
                        self.good[at + 1:])

    def test_other_things(self):
        self.refuse(b"user,item,rating\n1,2,3\n")
        self.refuse(b"\x80\x04\x95" + b"x" * 100)
        self.assertRaises(dpmf.FileError, dpmf.load, self.folder)
        with self.assertRaises(FileNotFoundError):
            dpmf.load(self.folder / "missing")
        with self.assertRaises(dpmf.DpmfError):
            dpmf.load("/dev/null")


if __name__ == "__main__":
    unittest.main()
