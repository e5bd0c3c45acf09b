"""What the sections of the report measure with: a folder of results that outlives the process,
commands that are recorded, and ratings of a known shape.

paper.py makes one Work and hands it to every section. A section calls `once` for each measurement,
`run` or `dpmf_json` inside it, and `dataset` for its ratings. report.py reads what was recorded.

A measurement is kept under its name together with everything it depends on (its parameters, the
code of its function and of what that calls, the scale, the seed, the program's bytes, the machine
that the environment names). It is taken from the folder only when all of that is the same; so a
killed run goes on where it was, and a changed program is measured anew.
"""
import ctypes
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from code_key import code_digest

# ---- sizes ---------------------------------------------------------------------------------------

NETFLIX = {"users": 480_189, "items": 17_770, "ratings": 99_072_112}
YAHOO = {"users": 1_000_990, "items": 624_961, "ratings": 262_810_175}

# users, items, ratings. Netflix's keep all items and the ratings a user gave. Yahoo's keep the
# ratings a user gave and those an item got: with all items, nearly every vector of a small set
# would never be learned.
SIZES = {
    "tiny": {
        "netflix": (300, 400, 12_000), "yahoo": (200, 500, 12_000), "movielens": (300, 200, 12_000)
    }, "small": {
        "netflix": (40_000, 17_770, 8_252_759), "yahoo": (24_000, 14_984, 6_301_212),
        "movielens": None
    }, "medium": {
        "netflix": (97_000, 17_770, 20_012_940), "yahoo": (96_000, 59_937, 25_204_845),
        "movielens": None
    }, "full": {"netflix": None, "yahoo": None, "movielens": None},
}
LIKE = {"netflix": "netflix", "yahoo": "yahoo", "movielens": "ml-1m"}
TITLES = {"netflix": "Netflix", "yahoo": "Yahoo", "movielens": "MovieLens 1M"}
RANGES = {"netflix": "1:5", "yahoo": "0:5", "movielens": "1:5"}
# What the paper held back: 1.4 of 100.4 million, 6 of 269 million. Of MovieLens what is usual.
TEST_FRACTIONS = {"netflix": 0.014, "yahoo": 0.0223, "movielens": 0.1}
# What tells dpmf of another machine than this one: a measurement under one says nothing about
# another.
CLAIMS = ("DPMF_CACHES", "DPMF_CORES", "DPMF_RAM", "DPMF_PAGE")
MACHINE_VARIABLES = (*CLAIMS, "DPMF_KERNELS")


class Failure(Exception):
    """What a section could not do, as a sentence for the report and the terminal."""


class Dataset:
    """Ratings as stores: all of them, and what is learned from and tested on. It is a path: that of
    all."""

    def __init__(self, folder, facts):
        self.folder = pathlib.Path(folder)
        # name, label, real, users, items, ratings, train_ratings, test_ratings, key
        self.__dict__.update(facts)
        self.path = str(self.folder / "all.dpr")
        self.train = str(self.folder / "train.dpr")
        self.test = str(self.folder / "test.dpr")
        self.catalogue = str(self.folder / self.catalogue) if self.catalogue else None

    def __fspath__(self):
        return self.path

    def __str__(self):
        return self.path


class Result:
    """A command that ended: what it printed and how long it took."""

    def __init__(self, stdout, stderr, seconds, status):
        self.stdout, self.stderr, self.seconds, self.status = stdout, stderr, seconds, status


def sha256_of_file(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def write_whole(path, text):
    """The file appears whole or not at all, also when the power fails."""
    part = pathlib.Path(f"{path}.{os.getpid()}.part")
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def processor_seconds():
    """(of everything on this machine, of this process and those it waited for), since they began.
    What the host of a virtual machine took away counts as everything's."""
    own = os.times()
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int,
                                                                      file.readline().split()[1:9])
    return ((user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK"),
            own.user + own.system + own.children_user + own.children_system)


def dies_with_parent():
    """In a child, before it starts: a killed run leaves nothing behind that would disturb the next
    one."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def key_part(value):
    """A parameter as it enters a measurement's key."""
    if isinstance(value, Work):
        return None
    if isinstance(value, Dataset):
        return value.key
    if hasattr(value, "key"):
        return value.key
    if isinstance(value, (list, tuple)):
        return [key_part(v) for v in value]
    if isinstance(value, dict):
        return {str(k): key_part(v) for k, v in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a measurement cannot depend on a {type(value).__name__}")


class Work:
    def __init__(self, dpmf, out, scale="small", seed=1, env=os.environ, say=None):
        if scale not in SIZES:
            raise Failure(f"there is no scale {scale}: it is one of {', '.join(SIZES)}")
        self.dpmf = os.path.realpath(dpmf)
        self.out = pathlib.Path(out).resolve()
        self.scale = scale
        self.seed = seed
        self.env = env
        self.repeats = 2 if scale == "tiny" else 3
        self.threads = len(os.sched_getaffinity(0))
        self.section = ""
        self.factors = ()  # when not empty, sections measure with these alone, where they have them
        self.sets = ()     # and with these sets
        self.peers = []    # those found, see peers/__init__.py
        self.absent = []   # (name, how to provide it)
        self.measurements = []  # of this run, in order: what once() gave
        self.reused = 0
        self._commands = None  # those of the measurement under way
        self._say = say or (lambda text: print(text, file=sys.stderr, flush=True))
        self._datasets = {}
        for folder in ("data", "csv", "sets"):
            (self.out / folder).mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.out / "tmp", ignore_errors=True)
        (self.out / "tmp").mkdir()
        self.program = {
            "version": self._version(),
            "sha256": sha256_of_file(self.dpmf),
        }

    def only_factors(self, factors):
        """Those of a section's numbers of factors that --factors asks for: all, without it."""
        return [k for k in factors if not self.factors or k in self.factors]

    def only_sets(self, *names):
        """Those of a section's sets that --sets asks for."""
        found = [name for name in names if not self.sets or name in self.sets]
        if not found:
            raise Failure(f"--sets leaves none of {', '.join(names)}")
        return found

    def _version(self):
        found = subprocess.run([self.dpmf, "--version"], capture_output=True, text=True, check=True)
        return found.stdout.strip()

    def say(self, text):
        self._say(text)

    # ---- commands --------------------------------------------------------------------------------

    def shown(self, argv):
        """A command as a reader can repeat it: without the places of this machine's files."""
        words = []
        for word in map(str, argv):
            word = "dpmf" if word == self.dpmf else word.replace(str(self.out) + "/", "")
            if os.path.isabs(word) and os.access(word, os.X_OK):
                word = os.path.basename(word)
            if len(words) == 40:
                words.append(f"... ({len(argv) - 40} more)")
                break
            words.append(word if word and not set(word) & set(" '\"$|&;<>()*?") else "'" + word +
                         "'")
        return " ".join(words)

    def record(self, argv, seconds, status):
        if self._commands is not None:
            self._commands.append(
                {"command": self.shown(argv), "seconds": round(seconds, 3), "status": status})

    def run(self, argv, cwd=None, env=None, accept=(0,), timeout=None, on_line=None):
        """Runs a command to its end and records it. Fails with what it said unless its status is in
        `accept`.

        `on_line(seconds, line)` is called for each line of standard output as it comes; when it
        returns True, nothing more is wanted and the command is ended.
        """
        argv = [str(word) for word in argv]
        begun = time.perf_counter()
        merged = {**self.env, "LC_ALL": "C.UTF-8", **(env or {})}
        errors = open(self.out / "tmp" / "stderr", "w+", encoding="utf-8", errors="replace")
        lines = []
        with errors:
            try:
                child = subprocess.Popen(argv, cwd=cwd or self.out / "tmp", env=merged,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=errors, text=True, errors="replace",
                                         preexec_fn=dies_with_parent)
            except OSError as error:
                raise Failure(f"{self.shown(argv)}: {error.strerror}") from error
            try:
                for line in child.stdout:
                    lines.append(line)
                    if on_line and on_line(time.perf_counter() - begun, line):
                        child.kill()
                        accept = (*accept, -signal.SIGKILL)
                        break
                    if timeout and time.perf_counter() - begun > timeout:
                        raise Failure(f"{self.shown(argv)}: took more than {timeout} s")
                child.wait()
            finally:
                child.stdout.close()
                if child.poll() is None:
                    child.kill()
                    child.wait()
            seconds = time.perf_counter() - begun
            errors.seek(0)
            said = errors.read()
        self.record(argv, seconds, child.returncode)
        if child.returncode not in accept:
            raise Failure(
                f"{self.shown(argv)}: exit status {child.returncode}\n{said.strip()[-2000:]}")
        return Result("".join(lines), said, seconds, child.returncode)

    def dpmf_json(self, *args, **options):
        """A dpmf command's JSON objects, in order."""
        result = self.run([self.dpmf, *args, "--json", "--quiet"], **options)
        try:
            return [json.loads(line) for line in result.stdout.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            raise Failure(
                f"{self.shown(['dpmf', *args])}: printed what is not JSON: {error}") from error

    def tool(self, name):
        """A benchmark program that was built beside dpmf: build/bench/NAME."""
        path = pathlib.Path(self.dpmf).parent / "bench" / name
        if not path.exists():
            raise Failure(
                f"{name} is not built: cmake -DDPMF_BENCH=ON, then the target {name}; make paper "
                "does"
            )
        return str(path)

    def temporary(self, name):
        """A path for a file that nothing after this measurement needs."""
        path = self.out / "tmp" / name
        return str(path)

    # ---- measurements ----------------------------------------------------------------------------

    def key_of(self, name, function, args):
        try:
            code = code_digest(function, (Work,))
        except (OSError, TypeError):
            raise TypeError(f"{name}: a measurement is a function in a file") from None
        return {
            "name": name, "parameters": [key_part(value) for value in args], "code": code,
            "scale": self.scale, "seed": self.seed, "dpmf": self.program, "threads": self.threads,
            "environment": {
                name: self.env[name] for name in MACHINE_VARIABLES if self.env.get(name)
            },
        }

    def once(self, name, function, *args):
        """What function(*args) returns, measured now or, when nothing it depends on has changed,
        earlier.

        A Work among the arguments is handed on and is no part of the key; a Dataset and a peer
        stand for their contents. The rest, and the result, must be what JSON can hold.
        """
        full_name = re.sub(r"[^A-Za-z0-9_.-]+", "-",
                           f"{self.section}.{name}" if self.section else name)
        path = self.out / "data" / f"{full_name}.json"
        key = json.loads(json.dumps(self.key_of(full_name, function, args)))
        kept = self._kept(path, key)
        if kept is None:
            kept = self._measure(path, key, function, args)
        else:
            self.reused += 1
        self.measurements.append(kept)
        return kept["value"]

    def _kept(self, path, key):
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(kept, dict) or kept.get("key") != key or "value" not in kept:
            return None
        return kept

    def _measure(self, path, key, function, args):
        self.say(f"  {key['name']}")
        outer, self._commands = self._commands, []
        began = time.time()
        begun, before = time.perf_counter(), processor_seconds()
        try:
            value = function(*args)
        finally:
            commands, self._commands = self._commands, outer
        seconds, after = time.perf_counter() - begun, processor_seconds()
        others = (after[0] - before[0]) - (after[1] - before[1])
        kept = {
            "key": key,
            "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
            "seconds": round(seconds, 3),
            "load": os.getloadavg()[0],
            # cores that something else kept busy meanwhile
            "others": round(max(0, others) / seconds, 3),
            "commands": commands,
            "value": value,
        }
        text = json.dumps(kept, indent=1, allow_nan=False)
        write_whole(path, text)
        return json.loads(text)

    # ---- ratings ---------------------------------------------------------------------------------

    def dataset(self, name):
        """The stores of a set, made once: netflix, yahoo or movielens."""
        if name not in self._datasets:
            section, self.section = self.section, ""
            folder = self.out / "sets" / name
            try:
                facts = self._real(name, folder)
                if facts is None:
                    facts = self.once(f"set.{name}", make_synthetic, self, name, str(folder.name))
                self._datasets[name] = Dataset(folder, facts)
                missing = [
                    p for p in ("all.dpr", "train.dpr", "test.dpr") if not (folder / p).exists()
                ]
                if missing:
                    (self.out / "data" / f"set.{name}.json").unlink()
                    del self._datasets[name]
                    return self.dataset(name)
            finally:
                self.section = section
        return self._datasets[name]

    def _real(self, name, folder):
        variable = name.upper()
        where = self.env.get(variable, "")
        if not where:
            return None
        where = os.path.realpath(where)
        inputs = real_inputs(name, where)
        stamps = [[os.path.basename(p), os.path.getsize(p)] for p in inputs["files"]]
        return self.once(f"set.{name}", import_real, self, name, str(folder.name), stamps)


def described(path, work):
    facts = work.dpmf_json("describe", path)[0]
    return {
        key: facts[key]
        for key in ("users", "items", "ratings", "min", "max", "mean", "top_500_share")
    }


def describe_set(work, name, folder, real):
    """The facts and the label of a set whose three stores are there."""
    everything, train, test = folder / "all.dpr", folder / "train.dpr", folder / "test.dpr"
    facts = described(everything, work)
    label = (
        f"{'real' if real else 'synthetic'}, {TITLES[name]}{'' if real else '-shaped'}, "
        f"{facts['ratings']:,} "
        f"ratings of {facts['users']:,} users for {facts['items']:,} items")
    return {
        **facts, "name": name, "title": TITLES[name], "label": label, "real": real,
        "range": RANGES[name], "train_ratings": described(train, work)["ratings"],
        "test_ratings": described(test, work)["ratings"],
        "key": [name, real, facts, sha256_of_file(everything)],
    }


def split_set(work, folder, *how):
    work.run([
        work.dpmf, "split", folder / "all.dpr", "--train", folder / "train.dpr", "--test",
        folder / "test.dpr", *how, "--quiet"
    ])


def make_synthetic(work, name, folder_name):
    folder = work.out / "sets" / folder_name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    size = SIZES[work.scale][name]
    options = ["--scale", "0:5:0.05"] if name == "yahoo" else []  # as the paper rescaled it
    if size:
        options += ["--users", size[0], "--items", size[1], "--ratings", size[2]]
    work.run([
        work.dpmf, "synth", "--like", LIKE[name], *options, "--seed", work.seed, "-o",
        folder / "all.dpr", "--catalogue-out", folder / "catalogue.csv", "--quiet"
    ])
    split_set(work, folder, "--test-fraction", TEST_FRACTIONS[name], "--seed", work.seed)
    return {**describe_set(work, name, folder, False), "catalogue": "catalogue.csv"}


def real_inputs(name, where):
    """The files of a real set in a folder, by what its publishers named them."""
    place = pathlib.Path(where)

    def first(*patterns):
        for pattern in patterns:
            if found := sorted(place.glob(pattern)):
                return [str(path) for path in found]
        return []

    if name == "netflix":
        found = {"files": first("training_set/mv_*.txt", "mv_*.txt", "combined_data_*.txt*"),
                 "probe": first("probe.txt")}
    elif name == "yahoo":
        found = {
            "files": first("trainIdx1.txt*", "train*.txt*"), "test": first("validationIdx1.txt*")
        }
    else:
        found = {"files": first("ratings.dat", "ratings.dat.*"), "catalogue": first("movies.dat")}
    if not found["files"]:
        raise Failure(
            f"{name.upper()}={where} has none of the files of that set: see docs/paper.md")
    return found


def import_real(work, name, folder_name, stamps):
    folder = work.out / "sets" / folder_name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = real_inputs(name, os.path.realpath(work.env[name.upper()]))
    reading = {"yahoo": ["--rescale", "0:100=0:5"],
               # as private runs want it
               "movielens": ["--format", "movielens", "--on-error", "skip"]}
    importing = [work.dpmf, "import", "--quiet", *reading.get(name, [])]
    work.run([*importing, "-o", folder / "all.dpr", *found["files"], *found.get("test", [])])
    if found.get("test"):
        work.run([*importing, "-o", folder / "train.dpr", *found["files"]])
        work.run([*importing, "-o", folder / "test.dpr", *found["test"]])
    elif found.get("probe"):
        split_set(work, folder, "--probe", found["probe"][0])
    else:
        split_set(work, folder, "--test-fraction", TEST_FRACTIONS[name], "--seed", work.seed)
    catalogue = None
    if found.get("catalogue"):
        catalogue = os.path.basename(found["catalogue"][0])
        shutil.copyfile(found["catalogue"][0], folder / catalogue)
    return {**describe_set(work, name, folder, True), "catalogue": catalogue, "files": stamps[:20]}
