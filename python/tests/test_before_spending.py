"""What the curator is told of a private fit before anything is spent: what may be claimed of it,
wishes that match nobody, ratings outside the catalogue, and that there is time to stop. And what
has been paid for is delivered."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
import unittest
import warnings
from unittest import mock

import dpmf
from dpmf._native import lib
from dpmf._run import Run
from support import FolderTest, made_up, private_model, releases_in, run_dpmf


class BeforeSpending(FolderTest):
    def setUp(self):
        super().setUp()
        self.ratings = made_up(n_users=400, n_items=40, n=6000)

    def warned(self, **parameters):
        """What was warned of, and whether the ledger was there by then."""
        told = []
        ledger = self.folder / "ledger"

        def show(message, category, *place):
            told.append((str(message), category, releases_in(ledger) > 0))

        with warnings.catch_warnings():
            warnings.simplefilter("always", dpmf.DpmfWarning)
            warnings.showwarning = show
            model = private_model(self.folder, **{"catalogue": range(50),
                                                  **parameters}).fit(*self.ratings)
        self.assertTrue(releases_in(ledger) > 0)
        ledger.unlink()
        (self.folder / "ledger.lock").unlink()
        return told, model

    def test_wishes_of_nobody(self):
        told, model = self.warned(user_privacy={f"u{i}": 0 for i in range(50)})
        self.assertEqual(
            told, [("50 of 50 wishes match nobody: check the ids", dpmf.PrivacyWarning, False)])
        self.assertEqual(model.report_["wishes_of_nobody"], 50)
        told, model = self.warned(user_privacy={3: 0, 4: 9})
        self.assertEqual([text for text, *_ in told],
                         ["1 of 2 wishes above epsilon: the release's epsilon holds"])
        self.assertEqual(model.report_["wishes_above"], 1)
        # of two rows of one user the stricter one counts, and it is reported
        wishes = self.folder / "wishes.csv"
        wishes.write_text("user,epsilon\n3,0\n3,1\n")
        told, model = self.warned(user_privacy=wishes)
        self.assertEqual(len(told), 1)
        self.assertRegex(told[0][0], "the smallest epsilon counts")
        self.assertEqual((model.report_["users_left_out"], model.report_["wishes_twice"]), (1, 1))

    def test_people_in_the_place_of_items(self):
        users, items, ratings = self.ratings
        self.ratings = [f"u{user}" for user in users], [str(item) for item in items], ratings
        people = sorted(set(self.ratings[0]))
        told, _ = self.warned(catalogue=[str(i) for i in range(40)] + people[:3])
        self.assertIn((
            "3 users have the id of an item of the catalogue that nobody rated: is it a list of "
            "people? The "
            "release would publish it", dpmf.PrivacyWarning, False), told)
        told, _ = self.warned(
            catalogue=[str(i) for i in range(50)], item_features={
                "item": [str(i) for i in range(40)], "kind": [people[i % 2] for i in range(40)]
            })
        self.assertIn((
            "2 users have the id of a category or a number of the item features: are they about "
            "people?",
            dpmf.PrivacyWarning, False), told)

    def test_ratings_outside(self):
        told, model = self.warned(catalogue=range(1000, 1050))
        self.assertEqual(told, [
            ("6000 of 6000 ratings are outside the catalogue: check how it spells its items",
             dpmf.PrivacyWarning, False),
            ("no user is left: the release will hold nothing but noise", dpmf.PrivacyWarning, False)
        ])
        told, model = self.warned(catalogue=range(1, 50), rating_range=(2, 5))
        (first, kind, is_late), (second, *_) = told
        self.assertRegex(first, r"^\d+ of 6000 ratings are outside the catalogue, and left out$")
        self.assertEqual((kind, is_late), (dpmf.DpmfWarning, False))
        self.assertRegex(second, "outside the declared range: check rating_range")

    def test_warnings_as_errors_spend_nothing(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error", dpmf.PrivacyWarning)
            with self.assertRaisesRegex(dpmf.PrivacyWarning, "1 of 1 wish matches nobody"):
                private_model(self.folder, catalogue=range(50),
                              user_privacy={"x": 0}).fit(*self.ratings)
        self.assertEqual(releases_in(self.folder / "ledger"), 0)

    def test_claims_as_errors_spend_nothing(self):
        """What may be claimed follows from the parameters: whoever would not have it has not paid
        for it."""
        for kind, assumed, parameters in (
            ("partial", "so weak a promise", {"epsilon": 30, "accept_epsilon": True}),
            ("partial", "delta", {"delta": 1e-3, "accept_delta": True}),
            ("partial", "ratings", {"catalogue": None, "catalogue_from_ratings": True}),
            ("conditional", "converged", {"mechanism": "posterior"}),
        ):
            with self.subTest(assumed), warnings.catch_warnings():
                warnings.simplefilter("error", dpmf.PrivacyWarning)
                model = private_model(self.folder, **{"catalogue": range(50), **parameters})
                with self.assertRaisesRegex(dpmf.PrivacyWarning,
                                            f"is {kind}, not proven: it assumes .*{assumed}"):
                    model.fit(*self.ratings)
                self.assertFalse(model.__sklearn_is_fitted__())
                self.assertEqual(releases_in(self.folder / "ledger"), 0)

    def test_time_to_interrupt_on_a_terminal(self):
        script = (
            "import sys; sys.path[:0] = %r\n"
            "import dpmf\n"
            "dpmf.init_ledger(%r)\n"
            "dpmf.Model(epsilon=1, rating_range=(1, 5), catalogue=['a', 'b'], ledger=%r,\n"
            "           user_privacy={'Ann': 0}).fit(['ann', 'bob'], ['a', 'b'], [4, 2])\n"
            % (sys.path, str(self.folder / "ledger"), str(self.folder / "ledger")))
        end, terminal = pty.openpty()
        with open(terminal, "wb", buffering=0) as other:
            process = subprocess.Popen(
                [sys.executable, "-c", script], stderr=other,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        said = b""
        with open(end, "rb", buffering=0) as stream:
            while b"begins in" not in said:
                piece = stream.read(1)
                self.assertTrue(piece, said)
                said += piece
            process.send_signal(signal.SIGINT)
            self.assertNotEqual(process.wait(timeout=60), 0)
            try:
                while more := stream.read(1000):
                    said += more
            except OSError:  # its other end is closed
                pass
        self.assertIn(b"1 of 1 wish matches nobody", said)
        self.assertIn(b"KeyboardInterrupt", said)
        self.assertEqual(releases_in(self.folder / "ledger"), 0)

    def test_nobody_is_left_behind(self):
        """Whatever ends the process in the middle of a fit, no file says who had a wish."""
        script = (
            "import os, signal, sys; sys.path[:0] = %r\n"
            "import dpmf\n"
            "from support import made_up, private_model\n"
            "from pathlib import Path\n"
            "private_model(Path(%r), catalogue=range(50), user_privacy={'ann@example.org': 0}, "
            "about={'title': 'x'},\n"
            "              item_features={3: {'year': 1984}},\n"
            "              progress=lambda progress: os.kill(os.getpid(), "
            "signal.SIGKILL)).fit(*made_up())\n"
            % (sys.path, str(self.folder)))
        temporary = self.folder / "temporary"
        temporary.mkdir()
        done = subprocess.run([sys.executable, "-c", script],
                              env={**os.environ, "TMPDIR": str(temporary)})
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual([path for path in temporary.rglob("*") if path.is_file()], [])


class OnceSpent(FolderTest):
    """Whatever is raised when the ledger has the release already, there is a model, and it is
    reported."""

    def states(self):
        """What became of each release, by the ledger."""
        shown = run_dpmf("ledger", "show", "--json", "--ledger",
                         self.folder / "ledger").splitlines()
        return [line["state"] for line in map(json.loads, shown) if line["event"] == "release"]

    def fit_and_then(self, late):
        """A fit in which `late` is called, in the library's thread, when the release has been paid
        for."""
        call = Run.call

        def call_and(run, function, *arguments, **options):
            def paid(*given):
                code = function(*given)
                late()
                return code

            is_release = function is lib.dpmf_release_make
            return call(run, paid if is_release else function, *arguments, **options)

        model = private_model(self.folder, catalogue=range(50))
        with mock.patch.object(Run, "call", call_and):
            with self.assertLogs("dpmf", "WARNING") as logged, self.assertRaises(KeyboardInterrupt):
                model.fit(*made_up(n_users=400, n_items=40, n=6000))
        self.assertEqual(self.states(), ["committed"])
        self.assertEqual((model.kind_, model.report_["spent_releases"]), ("release", 1))
        self.assertEqual(len(logged.output), 1)
        self.assertIn("has spent mu", logged.output[0])

    def test_an_interrupt(self):
        def interrupt():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)

        self.fit_and_then(interrupt)

    def test_several_interrupts(self):
        def interrupt():
            for _ in range(3):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.1)

        self.fit_and_then(interrupt)

    def test_before_that_it_is_given_back(self):
        def stop(progress):
            if releases_in(self.folder / "ledger"):  # reserved
                raise LookupError("enough")

        users, items, ratings = made_up(n_users=4000, n_items=40, n=60_000)
        model = private_model(self.folder, catalogue=range(50), progress=stop)
        with self.assertRaisesRegex(LookupError, "enough"):
            model.fit(users, items, ratings)
        self.assertFalse(model.__sklearn_is_fitted__())
        self.assertEqual(self.states(), ["returned"])


if __name__ == "__main__":
    unittest.main()
