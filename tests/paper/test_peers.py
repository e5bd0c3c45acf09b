"""The peers' adapters against programs that print what the peers print, and ratings under the real
sets' names."""
import importlib
import importlib.util
import json
import os
import subprocess

import peers
from peers import authors, graphchi, rating_text
from support import DPMF, PAPER, Scratch
from work import Failure, Work

LIBMF = r"""
echo "iter  tr_rmse va_rmse obj"
while getopts ":k:s:t:r:l:p:" o; do [[ $o == t ]] && n=$OPTARG; done
for ((i = 0; i < ${FAKE_ITERATIONS:-20}; i++)); do
    sleep 0.01
    printf '%4d 0.9 0.8%d 1e3\n' $i $i
done
sleep 100
"""


class PeersTest(Scratch):
    def work(self, **env):
        return Work(DPMF, self.out, "tiny", env={**os.environ, **env}, say=lambda text: None)

    def test_absent_ones_are_said_to_be_absent(self):
        work = self.work(PATH="/usr/bin:/bin", LIBMF="")
        found, absent = peers.find_all(work)
        names = [name for name, _ in absent] + [peer.name for peer in found]
        self.assertEqual(len(names), len(peers.ADAPTERS))
        self.assertIn("LIBMF", [name for name, _ in absent])
        self.assertTrue(all(how for _, how in absent))

    def test_the_page_installs_every_one(self):
        """Its commands, run with programs that do nothing but tell how they were called."""
        page = (PAPER.parent.parent / "docs" / "peers.md").read_text(encoding="utf-8")
        commands = "\n".join(line[4:] for line in page.splitlines() if line.startswith("    "))
        say = 'printf "%s" "${0##*/}"; printf " <%s>" "$@"; echo\n'
        for name in ("git", "make", "g++", "python3"):
            self.script(name, say)
        home = self.folder / "home"
        pip = home / "peers" / "venv" / "bin" / "pip"
        pip.parent.mkdir(parents=True)
        pip.write_text("#!/bin/bash\n" + say, encoding="utf-8")
        pip.chmod(0o755)
        (home / "peers/graphchi/toolkits/collaborative_filtering").mkdir(parents=True)
        done = subprocess.run(
            ["bash", "-euc", commands + '\necho "$LIBMF" "$GRAPHCHI" "$PEER_PYTHON"\n'],
            env={"HOME": str(home), "PATH": f"{self.folder}:/usr/bin:/bin"}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[-1].replace(str(home), "~"), "~/peers/libmf/mf-train "
                         "~/peers/graphchi/toolkits/collaborative_filtering/sgd "
                         "~/peers/venv/bin/python")
        installed = [line for line in lines if line.startswith("pip <install>")]
        self.assertEqual(len(installed), 1, done.stdout)
        for package in ("implicit", "irspack", "scikit-surprise", "cmfrec", "myfm", "lenskit",
                        "pyspark", "setuptools<81"):
            self.assertIn(f" <{package}>", installed[0])
            if package[:5] != "setup":
                self.assertIn(f"| `{package}` |", page)

    def test_one_that_is_named_but_not_there_is_an_error(self):
        for variable in ("LIBMF", "PROTOTYPE", "GRAPHCHI", "AUTHORS"):
            with self.assertRaisesRegex(Failure, variable):
                peers.find_all(self.work(**{variable: "/nowhere/at/all"}))

    def test_libmf_is_timed_from_line_to_line(self):
        work = self.work(LIBMF=self.script("mf-train", LIBMF))
        peer = peers.find_all(work)[0][0]
        files = {"train": "a", "test": "b", "ratings": 1000}
        # ends without waiting for the model to be written
        found = peer.run(work, files, 8, 4, 1, validate=True)
        self.assertEqual(len(found["updates_per_second"]), 4)
        self.assertEqual([error for _, error in found["rmse_by_time"]], [0.80, 0.81, 0.82, 0.83])
        times = [seconds for seconds, _ in found["rmse_by_time"]]
        self.assertEqual(times, sorted(times))
        # How long a line takes is the machine's affair: two may be read at once after a pause.
        self.assertTrue(all(speed > 0 for speed in found["updates_per_second"]))

    def test_libmf_that_ends_early_is_an_error(self):
        work = self.work(LIBMF=self.script("mf-train", "echo '   0 0.9 0.8 1e3'"))
        peer = peers.find_all(work)[0][0]
        with self.assertRaisesRegex(Failure, "1 iterations of 5"):
            peer.run(work, {"train": "a", "test": "b", "ratings": 1000}, 8, 4, 1)

    def test_another_libmf_is_another_peer(self):
        keys = [peers.find_all(self.work(LIBMF=self.script(name, text)))[0][0].key
                for name, text in (("one", "exit 1"), ("two", "exit 2"), ("same", "exit 1"))]
        self.assertNotEqual(keys[0], keys[1])
        self.assertEqual(keys[0], keys[2])

    def test_libmf_with_its_defaults(self):
        train = self.script("mf-train",
                            'echo "$@" >"$(dirname "$0")/asked"; echo model >"${@: -1}"')
        peer = peers.find_all(self.work(LIBMF=train))[0][0]
        files = {"train": "a.txt", "test": "b.txt", "ratings": 10}
        with self.assertRaisesRegex(Failure, "mf-predict"):
            peer.run_with_defaults(self.work(), files, 2)
        self.script("mf-predict",
                    '[[ $1 == b.txt && -s $2 ]] && echo predicted >"$3" && echo "RMSE = 0.8765"')
        found = peer.run_with_defaults(self.work(), files, 2)
        self.assertEqual(found["rmse"], 0.8765)
        self.assertGreater(found["seconds"], 0)
        asked = (self.folder / "asked").read_text().split()
        # and a model: nothing else is asked for
        self.assertEqual((asked[:3], len(asked)), (["-s", "2", "a.txt"], 4))

    def test_graphchi_with_its_defaults(self):
        (self.folder / "conf").mkdir()
        (self.folder / "conf" / "graphchi.cnf").write_text("")
        line = "  0.7) Iteration:   3 Training RMSE:    0.9963  Validation  RMSE:  0.968071"
        sgd = self.script("sgd",
                          f'[[ ! -e ${{1#--training=}}.shard && ! "$*" =~ --D ]] && echo "{line}"')
        work = self.work(GRAPHCHI=sgd)
        peer = next(p for p in peers.find_all(work)[0] if p.name == "GraphChi")
        for name in ("train.mm", "train.mm.shard"):  # of an earlier run
            (self.folder / name).write_text("")
        files = {"train": str(self.folder / "train.mm"), "test": "t", "low": 1, "high": 5}
        self.assertEqual(peer.run_with_defaults(work, files, 2)["rmse"], 0.968071)
        self.assertTrue((self.folder / "train.mm").exists())

    def test_python_packages(self):
        """A package is found with its version, in the Python that is named; one that cannot be
        loaded is absent."""
        packages = self.folder / "packages"
        packages.mkdir()
        (packages / "cmfrec.py").write_text('__version__ = "7.8"\n')
        (packages / "lenskit.py").write_text("import no_such_module\n")
        python = self.script("python", f'PYTHONPATH="{packages}" exec /usr/bin/python3 "$@"')
        found, absent = peers.find_all(self.work(PEER_PYTHON=python, PATH="/usr/bin:/bin"))
        peer = next(p for p in found if p.name == "cmfrec CMF")
        self.assertIn("version 7.8", peer.description)
        self.assertEqual(peer.python, python)
        if not importlib.util.find_spec("lenskit"):
            self.assertIn("LensKit ALS", [name for name, _ in absent])

    def test_every_adapter_is_whole(self):
        for name in peers.ADAPTERS:
            adapter = importlib.import_module(f"peers.{name}")
            self.assertTrue(adapter.NAME and adapter.HOW)
            self.assertTrue(callable(adapter.find) and callable(adapter.convert))
            self.assertEqual(bool(adapter.SHAPES), hasattr(adapter, "run"), name)
            self.assertTrue(not adapter.SHAPES or callable(adapter.memory_needed))

    def test_prototype(self):
        line = json.dumps({"k": 8, "solver": "sgd", "updates_per_second": 5e6})
        work = self.work(PROTOTYPE=self.script("tile", f"echo '{{\"users\":1}}'; echo '{line}'"))
        peer = next(p for p in peers.find_all(work)[0] if p.name == "prototype")
        self.assertEqual(peer.run(work, {"users": 10}, 8, 3, 1), {"updates_per_second": [5e6]})

    def test_what_the_others_print(self):
        line = "  0.768324) Iteration:   3 Training RMSE:    0.9963  Validation  RMSE:  0.968071"
        self.assertEqual(
            graphchi.LINE.match(line).groups(), ("0.768324", "3", "0.9963", "0.968071"))
        self.assertEqual(graphchi.LINE.match(line.split("  Val")[0]).groups()[3], None)
        found = authors.LINE.match("iter#3\t12.500000\ttRMSE=0.930000\n")
        self.assertEqual(found.groups(), ("3", "12.500000", "0.930000"))

    def test_ratings_as_numbered_text(self):
        work = self.work()
        dataset = work.dataset("netflix")
        files = rating_text.numbered(work, dataset)
        rows = [tuple(map(float, line.split())) for line in open(files["train"], encoding="ascii")]
        self.assertEqual(len(rows), dataset.train_ratings)
        self.assertEqual({u for u, _, _ in rows}, set(range(files["users"])))
        self.assertEqual({i for _, i, _ in rows}, set(range(files["items"])))
        tests = [tuple(map(float, line.split())) for line in open(files["test"], encoding="ascii")]
        self.assertEqual(len(tests), files["test_ratings"])
        self.assertTrue(0 < len(tests) <= dataset.test_ratings)
        self.assertTrue(all(u < files["users"] and i < files["items"] for u, i, _ in tests))
        self.assertFalse({r[:2] for r in rows} & {t[:2] for t in tests})


class RealSetsTest(Scratch):
    def work(self, **env):
        return Work(DPMF, self.out, "tiny", env={**os.environ, **env}, say=lambda text: None)

    def test_movielens(self):
        (self.folder / "ratings.dat").write_text("".join(
            f"{u}::{i}::{1 + (u + i) % 5}::97830{u}{i}\n" for u in range(1, 30)
            for i in range(1, 20)))
        (self.folder / "movies.dat").write_text("1::A (1999)::Drama\n")
        dataset = self.work(MOVIELENS=str(self.folder)).dataset("movielens")
        self.assertTrue(dataset.real)
        self.assertIn("real, MovieLens 1M, 551 ratings of 29 users for 19 items", dataset.label)
        self.assertEqual(dataset.train_ratings + dataset.test_ratings, 551)
        self.assertTrue(dataset.catalogue.endswith("movies.dat"))
        self.assertFalse(self.work().dataset("movielens").real)

    def test_netflix_and_its_probe(self):
        folder = self.folder / "training_set"
        folder.mkdir()
        for movie in (1, 2, 3):
            lines = "".join(f"{user},{1 + (user + movie) % 5},2005-09-0{movie}\n"
                            for user in range(1, 40))
            (folder / f"mv_000000{movie}.txt").write_text(f"{movie}:\n{lines}")
        (self.folder / "probe.txt").write_text("1:\n5\n7\n2:\n9\n")
        dataset = self.work(NETFLIX=str(self.folder)).dataset("netflix")
        self.assertTrue(dataset.real)
        self.assertEqual((dataset.train_ratings, dataset.test_ratings), (114, 3))

    def test_yahoo_with_its_validation_set(self):
        (self.folder /
         "trainIdx1.txt").write_text("0|2\n10\t100\t0\t12:00:00\n11\t50\t0\t12:00:00\n")
        (self.folder / "validationIdx1.txt").write_text("0|1\n12\t20\t0\t12:00:00\n")
        dataset = self.work(YAHOO=str(self.folder)).dataset("yahoo")
        self.assertEqual((dataset.train_ratings, dataset.test_ratings, dataset.ratings), (2, 1, 3))
        self.assertEqual(dataset.max, 5)

    def test_a_folder_without_them_is_an_error(self):
        for name in ("netflix", "yahoo", "movielens"):
            with self.assertRaisesRegex(Failure, name.upper()):
                self.work(**{name.upper(): str(self.folder)}).dataset(name)
