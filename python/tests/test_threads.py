"""Threads and signals: the interpreter goes on during a fit, and an interrupt ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import numpy as np

import dpmf
from dpmf._run import Run
from support import FolderTest, made_up


def much():
    """Ratings for a fit that takes a while, if it is let."""
    rng = np.random.default_rng(1)
    users, items = np.divmod(rng.permutation(4000 * 500)[:400_000], 500)
    return users, items, rng.normal(3, 1, size=len(users))


class Machine(unittest.TestCase):
    """What the environment says of the machine holds for Python, too."""

    def test_cores(self):
        users, items, ratings = made_up()
        model = dpmf.Model(n_factors=4, n_epochs=1).fit(users, items, ratings)
        begun = []

        class Pool(ThreadPoolExecutor):
            def __init__(self, threads):
                begun.append(threads)
                super().__init__(threads)

        with mock.patch("dpmf.model.ThreadPoolExecutor", Pool):
            with mock.patch.dict(os.environ, {"DPMF_CORES": "7"}):
                model.recommend_many(users[:2])
                model.recommend_many(ratings=[{int(items[0]): 4.0}])
        self.assertEqual(begun, [7, 7])

    def test_what_is_not_understood_is_refused(self):
        users, items, ratings = made_up()
        for name, value in (("DPMF_CORES", "many"), ("DPMF_RAM", "much"), ("DPMF_PAGE", "3"),
                            ("DPMF_CACHES", "32K"), ("DPMF_KERNELS", "cray")):
            with mock.patch.dict(os.environ, {name: value}):
                with self.assertRaisesRegex(dpmf.UsageError, value):
                    dpmf.Model(n_factors=4, n_epochs=1).fit(users, items, ratings)


class Threads(unittest.TestCase):
    def test_the_lock_is_released(self):
        """Another thread counts while the library works: with the lock held it could not, in any of
        these tries; without, a busy machine may keep it from counting in one or two."""
        for _ in range(4):
            try:
                return self.count_beside_a_fit()
            except AssertionError:
                pass
        self.count_beside_a_fit()

    def count_beside_a_fit(self):
        users, items, ratings = much()
        done = threading.Event()
        result = []

        def work():
            result.append(
                dpmf.Model(n_factors=64, n_epochs=20, n_threads=1).fit(users, items, ratings))
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        ticks, gaps, last = 0, 0.0, time.monotonic()
        while not done.is_set():
            time.sleep(0.001)
            now = time.monotonic()
            gaps, last, ticks = max(gaps, now - last), now, ticks + 1
        thread.join()
        took = result[0].report_["seconds"]
        self.assertGreater(ticks, 20)
        self.assertLess(gaps, max(0.5 * took, 0.25))

    def test_calls_at_once(self):
        users, items, ratings = made_up()
        model = dpmf.Model(n_factors=8, n_epochs=3).fit(users, items, ratings)
        me = model.fold_in({1: 5, 2: 1})
        expected = [model.recommend(user=user, n=5).items.tolist() for user in range(50)]

        def use(turn):
            me.rate(3 + turn % 5, 1 + turn % 4).recommend(3)
            me.explain(9)
            return [model.recommend(user=user, n=5).items.tolist() for user in range(50)]

        with ThreadPoolExecutor(8) as pool:
            for got in pool.map(use, range(32)):
                self.assertEqual(got, expected)

    def test_progress_runs_where_fit_was_called(self):
        users, items, ratings = made_up()
        where = set()
        model = dpmf.Model(n_epochs=3, progress=lambda event: where.add(threading.current_thread()))
        thread = threading.Thread(target=model.fit, args=(users, items, ratings))
        thread.start()
        thread.join()
        self.assertEqual(where, {thread})

    def test_what_progress_raises(self):
        users, items, ratings = made_up()

        def stop(event):
            if event.phase == "epoch":
                raise LookupError("enough")

        model = dpmf.Model(n_epochs=10**6, progress=stop)
        with self.assertRaisesRegex(LookupError, "enough"):
            model.fit(users, items, ratings)
        self.assertFalse(model.__sklearn_is_fitted__())

    def test_an_end_that_was_not_heard_of(self):
        """The thread of a call may be over before its end is taken from the queue: the next call
        must not take it."""
        users, items, ratings = made_up()
        tell_next = Run._tell_next

        def late(run, thread):
            thread.join(0.05)
            if thread.is_alive():
                tell_next(run, thread)

        model = dpmf.Model(n_epochs=2, n_factors=2, progress=lambda event: None)
        with mock.patch.object(Run, "_tell_next", late):
            fit = threading.Thread(target=model.fit, args=(users, items, ratings), daemon=True)
            fit.start()
            fit.join(60)
        self.assertTrue(model.__sklearn_is_fitted__())


class Interrupts(FolderTest):
    def interrupted(self, program):
        """Runs a program that says when it fits, interrupts it, and @returns its status and what it
        said."""
        started = self.folder / "started"
        environment = {**os.environ, "TMPDIR": str(self.folder),
                       "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program),
             str(started)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        deadline = time.monotonic() + 60
        while not started.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        begun = time.monotonic()
        child.send_signal(signal.SIGINT)
        out, error = child.communicate(timeout=60)
        return child.returncode, out, error, time.monotonic() - begun

    def test_keyboard_interrupt(self):
        for settings in ("n_epochs=10**6", "n_epochs=10**6, progress=lambda event: None"):
            (self.folder / "started").unlink(missing_ok=True)
            status, out, error, seconds = self.interrupted(f"""
                import pathlib, sys, dpmf
                from test_threads import much
                users, items, ratings = much()
                model = dpmf.Model(n_factors=16, {settings})
                pathlib.Path(sys.argv[1]).touch()
                try:
                    model.fit(users, items, ratings)
                except KeyboardInterrupt:
                    print("interrupted", model.__sklearn_is_fitted__())
                """)
            self.assertEqual((status, out.split()), (0, ["interrupted", "False"]), error)
            self.assertLess(seconds, 50)  # of a million epochs; a busy machine has time
            # nothing left behind
            self.assertEqual([path.name for path in self.folder.iterdir()], ["started"])

    def test_uncaught(self):
        status, _, error, _ = self.interrupted("""
            import pathlib, sys, dpmf
            from test_threads import much
            users, items, ratings = much()
            pathlib.Path(sys.argv[1]).touch()
            dpmf.Model(n_epochs=10**6).fit(users, items, ratings)
            """)
        self.assertEqual(status, -signal.SIGINT)
        self.assertIn("KeyboardInterrupt", error)


if __name__ == "__main__":
    unittest.main()
