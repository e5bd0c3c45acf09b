"""What the curator is told of a private fit before anything is spent: wishes that match nobody, ratings
outside the catalogue, and that there is time to stop."""

from __future__ import annotations

import pty
import signal
import subprocess
import sys
import unittest
import warnings

import dpmf
from support import FolderTest, made_up, private_model, releases_in


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
            model = private_model(self.folder, **{"catalogue": range(50), **parameters}).fit(*self.ratings)
        self.assertTrue(releases_in(ledger) > 0)
        ledger.unlink()
        (self.folder / "ledger.lock").unlink()
        return told, model

    def test_wishes_of_nobody(self):
        told, model = self.warned(user_privacy={f"u{i}": 0 for i in range(50)})
        self.assertEqual(told, [("50 of 50 wishes match nobody: check the ids", dpmf.PrivacyWarning, False)])
        self.assertEqual(model.report_["wishes_of_nobody"], 50)
        told, model = self.warned(user_privacy={3: 0, 4: 9})
        self.assertEqual([text for text, *_ in told], ["1 of 2 wishes above epsilon: the release's epsilon holds"])
        self.assertEqual(model.report_["wishes_above"], 1)
        # of two rows of one user the stricter one counts, and it is reported
        wishes = self.folder / "wishes.csv"
        wishes.write_text("user,epsilon\n3,0\n3,1\n")
        told, model = self.warned(user_privacy=wishes)
        self.assertEqual(len(told), 1)
        self.assertRegex(told[0][0], "the smallest epsilon counts")
        self.assertEqual((model.report_["users_left_out"], model.report_["wishes_twice"]), (1, 1))

    def test_ratings_outside(self):
        told, model = self.warned(catalogue=range(1000, 1050))
        self.assertEqual(told, [
            ("6000 of 6000 ratings are outside the catalogue: check how it spells its items",
             dpmf.PrivacyWarning, False),
            ("no user is left: the release will hold nothing but noise", dpmf.PrivacyWarning, False)])
        told, model = self.warned(catalogue=range(1, 50), rating_range=(2, 5))
        (first, kind, is_late), (second, *_) = told
        self.assertRegex(first, r"^\d+ of 6000 ratings are outside the catalogue, and left out$")
        self.assertEqual((kind, is_late), (dpmf.DpmfWarning, False))
        self.assertRegex(second, "outside the declared range: check rating_range")

    def test_warnings_as_errors_spend_nothing(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error", dpmf.PrivacyWarning)
            with self.assertRaisesRegex(dpmf.PrivacyWarning, "1 of 1 wish matches nobody"):
                private_model(self.folder, catalogue=range(50), user_privacy={"x": 0}).fit(*self.ratings)
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
            process = subprocess.Popen([sys.executable, "-c", script], stderr=other,
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


if __name__ == "__main__":
    unittest.main()
