"""Errors: every code has its exception, and every mistake its words."""

from __future__ import annotations

import os
import pickle
import stat
import unittest

import numpy as np

import dpmf
from dpmf._native import ffi, lib
from dpmf.errors import class_of, rendered
from support import FolderTest, made_up


class Codes(unittest.TestCase):
    def test_every_code_is_an_exception(self):
        codes = {name: getattr(lib, name) for name in dir(lib) if name.startswith("DPMF_ERR_")}
        self.assertGreater(len(codes), 40)
        built_in = {
            1: object,
            2: ValueError,
            3: OSError,
            4: ValueError,
            5: ValueError,
            6: ValueError,
            7: object,
            # 10: of several processes, which Python has not
            8: ArithmeticError,
            9: dpmf.PrivacyError,
            10: object
        }
        for name, code in codes.items():
            kind = class_of(code)
            self.assertTrue(issubclass(kind, built_in[-code // 100]), name)
            error = kind(code)
            self.assertEqual(error.code_name, name)
            self.assertEqual(error.message, ffi.string(lib.dpmf_error_sentence(code)).decode())
            self.assertIsInstance(error, dpmf.DpmfError)
        self.assertIs(class_of(lib.DPMF_ERR_IO_MISSING), dpmf.MissingFileError)
        self.assertTrue(issubclass(dpmf.MissingFileError, FileNotFoundError))
        self.assertTrue(issubclass(dpmf.NoMemoryError, MemoryError))
        self.assertTrue(issubclass(dpmf.UnknownIdError, KeyError))
        self.assertTrue(issubclass(class_of(lib.DPMF_ERR_PRIVACY_BUDGET), dpmf.PrivacyRefused))
        self.assertIs(class_of(-9999), dpmf.DpmfError)

    def test_text(self):
        error = dpmf.InputError(lib.DPMF_ERR_INPUT_NUMBER, "no number", "mend it", "a.csv", 3, 7)
        self.assertEqual(str(error), "a.csv:3:7: no number\n  mend it")
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.line, type(again)), (str(error), 3, dpmf.InputError))
        unknown = dpmf.UnknownIdError(lib.DPMF_ERR_MODEL_UNKNOWN_ID, "who?")
        self.assertEqual(str(unknown), "who?")
        missing = pickle.loads(
            pickle.dumps(dpmf.MissingFileError(lib.DPMF_ERR_IO_MISSING, "gone", "", "f")))
        self.assertEqual((missing.filename, missing.file), ("f", "f"))


class Settings(FolderTest):
    """What the library calls a setting is a parameter here, and what only looks like one is not."""

    def rendered(self, text):
        return rendered(text.encode())

    def test_settings_are_parameters(self):
        self.assertEqual(self.rendered("give it {memory}"), "give it memory=")
        self.assertEqual(self.rendered("{memory 2GiB}, {factors 8}"), 'memory="2GiB", n_factors=8')
        self.assertEqual(self.rendered("{rating-range 1:5} {on-error skip}"),
                         'rating_range=(1, 5) on_error="skip"')
        self.assertEqual(self.rendered("first: {:ledger init FILE}"),
                         "first: dpmf.init_ledger(FILE)")
        self.assertEqual(self.rendered("{:ledger show} lists"), "dpmf.read_ledger() lists")
        self.assertEqual(self.rendered("{{memory{} \u20ac{seed \u20ac}"),
                         '{memory} \u20acrandom_state="\u20ac"')
        self.assertEqual(
            self.rendered("{memory " + "\u20ac" * 400 + "}")[:10], 'memory="\u20ac\u20ac')

    def test_hints_name_parameters(self):
        users, items, ratings = made_up(n=500)
        with self.assertRaises(dpmf.UsageError) as refused:
            dpmf.Model(memory=1000).fit(users, items, ratings)
        self.assertRegex(str(refused.exception), r'memory="\d+MiB"|memory=')
        with self.assertRaises(dpmf.TrainingError) as failed:
            dpmf.Model(learning_rate=1000.0, n_epochs=20).fit(users, items, ratings)
        self.assertRegex(failed.exception.hint,
                         "a smaller learning_rate= .*, or a larger regularization=")

    def test_a_file_named_like_a_setting(self):
        path = self.folder / "{memory}.csv"
        path.write_text("user,item,rating\n1,2,{epochs 3}\n")
        with self.assertRaises(dpmf.InputError) as failed:
            dpmf.Model().fit_file(path)
        self.assertEqual(failed.exception.file, str(path))
        self.assertIn('rating "{epochs 3}" is not a number', str(failed.exception))


class Mistakes(FolderTest):
    def wrong(self, kind, pattern, *arguments, **parameters):
        with self.assertRaisesRegex(kind, pattern):
            dpmf.Model(n_epochs=1, **parameters).fit(*arguments)

    def test_ratings(self):
        wrong = self.wrong
        wrong(dpmf.InputError, "3 users, 2 items, 3 ratings", [1, 2, 3], [1, 2], [1, 2, 3])
        wrong(dpmf.InputError, r"ratings\[1\] is not finite", [1, 2], [1, 2], [1, np.nan])
        wrong(dpmf.InputError, r"ratings\[1\] is not finite", [1, 2], [1, 2],
              np.array([1, np.inf], dtype=np.float32))
        wrong(dpmf.InputError, r"ratings\[0\] is 'good', which is not a number", [1, 2], [1, 2],
              ["good", 3])
        wrong(dpmf.InputError, "ratings has 2 dimensions", [1, 2], [1, 2], np.array([[1, 2]]))
        wrong(dpmf.InputError, r"ratings\[0\] is <list of 2>", [1, 2], [1, 2], [[1, 2], 3])
        wrong(dpmf.InputError, r"timestamps\[1\] is 'soon'", [1, 2], [1, 2], [1, 2], [0, "soon"])
        wrong(dpmf.InputError, r"users\[1\] is None: an id is text or a whole number", [1, None],
              [1, 2], [1, 2])
        wrong(dpmf.InputError, r"users\[0\] is 1.5.*\n.*below 2\^53", np.array([1.5, 2]), [1, 2],
              [1, 2])
        wrong(dpmf.InputError, r"items\[1\] is 2.5", [1, 2], ["a", 2.5], [1, 2])
        wrong(dpmf.InputError, r"items\[1\] is <list of 1>", [1, 2], ["a", [3]], [1, 2])
        wrong(dpmf.InputError, r"users\[0\] is True", [True, 2], [1, 2], [1, 2])
        wrong(dpmf.InputError, r"users\[2\] is nan", np.array([1, 2, np.nan]), [1, 2, 3], [1, 2, 3])
        wrong(dpmf.InputError, r"users\[2\] is None", ["a", "a", None], [1, 2, 3], [1, 2, 3])
        wrong(dpmf.InputError, r"users\[0\] is ''", ["", "b"], [1, 2], [1, 2])
        wrong(dpmf.InputError, "an id has 1 to 65536 bytes", ["x" * 65537, "b"], [1, 2], [1, 2])
        wrong(dpmf.InputError, "is one text", "ann", [1], [1])
        wrong(dpmf.InputError, "2 dimensions", np.zeros((2, 2), dtype=int), [1, 2], [1, 2])
        wrong(dpmf.InputError, "there are no ratings", [], [], [])
        wrong(dpmf.InputError, "outside the range 1:5", [1, 2], [1, 2], [1, 6], rating_range=(1, 5))
        wrong(dpmf.InputError, "does not say what was not rated", np.ones((2, 2), dtype=int))
        wrong(dpmf.InputError, "a list alone is neither", [1, 2, 3])
        wrong(dpmf.InputError, "two dimensions, not 1", np.array([1, 2, 3]))
        wrong(dpmf.InputError, "fit_file reads a file", "ratings.csv")
        wrong(dpmf.UsageError, "users, items and ratings", [1, 2], None, [1, 2])
        wrong(dpmf.UsageError, "timestamps go with", np.ones((2, 2)), None, None, [1])

    def test_parameters(self):
        users, items, ratings = made_up(n=500)
        for name, value in (("n_factors", 0), ("n_factors", 5000), ("n_factors", "8"), ("n_factors",
                                                                                        2.5),
                            ("n_factors", True), ("learning_rate", "fast"), ("learning_rate", -1),
                            ("learning_rate", float("nan")), ("regularization", -1), ("decay", -1),
                            ("random_state", -1), ("random_state", 2**64), ("n_threads", -1),
                            ("n_threads", 1.5), ("memory", "lots"), ("memory", -5),
                            ("memory", 1000), ("rating_range", "1:5"), ("patience", 3), ("solver",
                                                                                         "magic"),
                            ):
            with self.assertRaises(dpmf.UsageError, msg=f"{name}={value!r}") as refused:
                dpmf.Model(**{name: value}).fit(users, items, ratings)
            # options of the command line are none here
            self.assertNotIn("--", str(refused.exception))
        with self.assertRaises(dpmf.UsageError):
            dpmf.Model(n_epochs=0).fit(users, items, ratings)
        with self.assertRaises(dpmf.UsageError):
            dpmf.Model().set_params(n_factor=3)
        with self.assertRaises(TypeError):
            dpmf.Model(n_factor=3)

    def test_diverging(self):
        users, items, ratings = made_up()
        with self.assertRaises(dpmf.TrainingError) as failed:
            dpmf.Model(learning_rate=1000.0, n_epochs=20).fit(users, items, ratings)
        self.assertIsInstance(failed.exception, ArithmeticError)

    def test_files(self):
        path = self.folder / "ratings.csv"
        path.write_text('user,item,rating\n1,2,3\n1,3,"4,5"\n')
        with self.assertRaises(dpmf.InputError) as failed:
            dpmf.Model().fit_file(path)
        error = failed.exception
        self.assertEqual((error.file, error.line), (str(path), 3))
        self.assertIn('"4,5" is not a number', str(error))
        with self.assertRaises(FileNotFoundError):
            dpmf.Model().fit_file(self.folder / "missing.csv")
        with self.assertRaises(dpmf.UsageError):
            dpmf.Model().fit_file(path, format="magic")
        model = dpmf.Model(n_factors=2, n_epochs=1).fit_file(self.write_bare(),
                                                             columns="item,user,rating")
        self.assertEqual(sorted(model.items_.tolist()), [10, 11])

    def write_bare(self):
        path = self.folder / "bare.csv"
        path.write_text("10,1,3\n11,2,4\n10,2,5\n")
        return path

    def test_before_a_fit(self):
        model = dpmf.Model()
        self.assertFalse(hasattr(model, "item_factors_"))
        for use in (lambda: model.recommend(user=1), lambda: model.items_,
                    lambda: model.save(self.folder / "m"), lambda: model.fold_in({1: 2}),
                    lambda: model.privacy_):
            self.assertRaises(dpmf.NotFittedError, use)

    def test_a_fit_that_fails_leaves_what_there_was(self):
        users, items, ratings = made_up(n=500)
        model = dpmf.Model(n_factors=2, n_epochs=1).fit(users, items, ratings)
        before = model.items_
        self.assertRaises(dpmf.InputError, model.fit, [1], [1], [np.nan])
        self.assertIs(model.items_, before)

    def test_ids(self):
        users, items, ratings = made_up(n=500)
        model = dpmf.Model(n_factors=2, n_epochs=1).fit(users, items, ratings)
        for use in (lambda: model.recommend(user=98765), lambda: model.similar_items(98765),
                    lambda: model.explain({1: 3}, 98765)):
            with self.assertRaises(KeyError) as failed:
                use()
            self.assertIn("98765", str(failed.exception))
        self.assertRaises(dpmf.InputError, model.similar_items, 1.5)
        self.assertRaises(dpmf.UsageError, model.recommend, 1, {1: 3})
        self.assertRaises(dpmf.KindError, lambda: model.privacy_)

    def test_saving(self):
        users, items, ratings = made_up(n=500)
        model = dpmf.Model(n_factors=2, n_epochs=1).fit(users, items, ratings)
        with self.assertRaises(OSError):
            model.save(self.folder / "no" / "such" / "folder")
        (self.folder / "taken").mkdir()
        with self.assertRaises(OSError):
            model.save(self.folder / "taken")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["taken"])

    def test_saving_where_no_file_can_be(self):
        users, items, ratings = made_up(n=500)
        model = dpmf.Model(n_factors=2, n_epochs=1).fit(users, items, ratings)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for target, kind, word in (("/dev/null", dpmf.FileError, "only be written to a file"),
                                   (pipe, dpmf.FileError, "only be written to a file"),
                                   (self.folder, dpmf.FileError, "is a directory"),
                                   (self.folder / "no" / "file", dpmf.MissingFileError,
                                    "no such file"), (self.folder / ("x" * 300), dpmf.FileError,
                                                      "too long"), ("a\0b", dpmf.UsageError, "NUL"),
                                   ("\ud800", dpmf.UsageError, "surrogate"), ("", dpmf.UsageError,
                                                                              "is empty")):
            with self.assertRaisesRegex(kind, word) as failed:
                model.save(target)
            self.assertNotIn(".tmp", str(failed.exception))
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["pipe"])
        self.assertRaises(TypeError, model.save, None)

    def test_saving_through_a_link(self):
        users, items, ratings = made_up(n=500)
        model = dpmf.Model(n_factors=2, n_epochs=1).fit(users, items, ratings)
        (self.folder / "other").mkdir()
        target, link = self.folder / "other" / "model", self.folder / "link"
        link.symlink_to("other/model")
        for _ in range(2):  # to what is not there yet, and to what is
            model.save(link)
            self.assertTrue(link.is_symlink() and not target.is_symlink())
            self.assertEqual(dpmf.load(target).kind_, "checkpoint")
        # Behind a link of the system's to an open file is one that others go on writing to.
        with open(self.folder / "printed", "w+b") as printed:
            (self.folder / "out").symlink_to(f"/proc/self/fd/{printed.fileno()}")
            for name in (f"/dev/fd/{printed.fileno()}", self.folder / "out"):
                with self.assertRaisesRegex(dpmf.FileError, "only be written to a file"):
                    model.save(name, replace=True)
            self.assertEqual(os.stat(self.folder / "printed").st_ino,
                             os.fstat(printed.fileno()).st_ino)
        (self.folder / "null").symlink_to("/dev/null")
        self.assertRaises(dpmf.FileError, model.save, self.folder / "null")
        (self.folder / "loop").symlink_to("loop")
        self.assertRaises(dpmf.FileError, model.save, self.folder / "loop")

    def test_texts_that_are_none(self):
        users, items, ratings = made_up(n=500)
        model = dpmf.Model(n_factors=2, n_epochs=1).fit(users, items, ratings)
        self.wrong(dpmf.InputError, "surrogate", ["\ud800", "b"], ["x", "y"], [1, 2])
        self.wrong(dpmf.UsageError, "surrogate", users, items, ratings, solver="\ud800")
        self.wrong(dpmf.UsageError, "not a function", users, items, ratings, progress=3)
        for use in (lambda: model.similar_items("\ud800"), lambda: model.fold_in({"\ud800": 3}),
                    lambda: model.predict("\ud800", 1)):
            self.assertRaises(dpmf.InputError, use)
        for use in (lambda: dpmf.load("a\0b"), lambda: dpmf.load("\ud800"), lambda: dpmf.load(""),
                    lambda: dpmf.Model().fit_file("a\0b"), lambda: model.recommend(user=1, n="x"),
                    lambda: dpmf.Model(epsilon=1).fit_file("\ud800")):
            self.assertRaises(dpmf.UsageError, use)
        for use in (lambda: dpmf.load(None), lambda: dpmf.load(3.5),
                    lambda: dpmf.Model().fit_file(None)):
            self.assertRaises(TypeError, use)


if __name__ == "__main__":
    unittest.main()
