"""What mutate.py tries its mutants on: a copy of the tree, build/mutants, compiled with the library
as one shared object, so that a mutant costs compiling its file and linking that object; and the
tests, of which clang's coverage said once which lines each reaches.
"""

import functools
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPY = os.path.join(ROOT, "build", "mutants")
BUILD = os.path.join(COPY, "build")
OUT = os.path.join(BUILD, "mutant")
LIBRARY = "libdpmf-mutant.so"
JOBS = int(os.environ.get("JOBS") or os.cpu_count() or 1)
REACH = os.path.join(OUT, "reach.json")
ROOMS = [f"lib/{room}" for room in (
    "random", "numerics", "privacy", "mechanisms", "statement", "ledger", "store", "model",
    "ratings", "arrow", "parquet")]
GOLDENS = ("private", "privacy", "ledger", "split", "synth", "store", "import", "shard", "describe",
           "model", "release", "vectors", "reading", "bad_input")
LONGEST = 20  # seconds of processor time that a test may take to be tried at all
TEST_SECONDS = float(os.environ.get("TEST_SECONDS") or 60)  # of all the tests of a mutant

# Minutes of statistics about the samplers, which these folders have no part in.
SLOW = {f"test_{name}" for name in (
    "langevin", "langevin_train", "gibbs", "gibbs_train", "convergence", "samplers_agree",
    "search")}
# A test that compiles a file of the library once more, for what is static in it.
INCLUDED = re.compile(r'^#include "(\w+/[\w/]+\.c)"', re.M)


@functools.lru_cache(maxsize=None)
def read(path):
    """A file of the copy."""
    with open(os.path.join(COPY, path), encoding="utf-8") as file:
        return file.read()


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def room_of(path):
    return "/".join(path.split("/")[:2])


worker = threading.local()


# ---- processes -----------------------------------------------------------------------------------

def limited(seconds):
    os.setpgid(0, 0)  # a group that can be ended; not a session, which would be as nice as others
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def timed(command, seconds=600, folder=COPY, **environment):
    """With the library of this worker.
    @return whether it ended well, within that much processor time; and how much it took"""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "LD_LIBRARY_PATH": place(), **environment},
                               preexec_fn=lambda: limited(int(seconds) + 1))
    timer = threading.Timer(10 * seconds + 30, end_group, (process.pid,))
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = status
    seconds = usage.ru_utime + usage.ru_stime
    worker.spent = getattr(worker, "spent", 0) + seconds
    return status == 0, seconds


def run(*command, **keywords):
    return timed(*command, **keywords)[0]


def processor_seconds():
    """What this worker's processes have taken until now."""
    return getattr(worker, "spent", 0)


def place():
    """The folder of this worker: its mutant and the library with it."""
    return getattr(worker, "place", OUT)


def in_parallel(work, items):
    """@return what each gave"""
    with ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(work, items))


# ---- the copy ------------------------------------------------------------------------------------

def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def make_copy():
    """What is in git, as it is in this folder; what has not changed keeps its time."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE,
                            check=True).stdout.decode().split("\0")
    wanted = {name for name in listed if name and os.path.isfile(os.path.join(ROOT, name))}
    for folder, folders, names in os.walk(COPY):
        folders[:] = [name for name in folders if os.path.join(folder, name) != BUILD]
        for name in names:
            if os.path.relpath(os.path.join(folder, name), COPY) not in wanted:
                os.remove(os.path.join(folder, name))
    for name in wanted:
        source, target = os.path.join(ROOT, name), os.path.join(COPY, name)
        if not os.path.exists(target) or bytes_of(source) != bytes_of(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    if not run(["cmake", "--preset", "release", "-DDPMF_TESTS=ON"], 3600):
        sys.exit("the copy cannot be configured")
    # For what is generated, and for what the program and the tests are linked with.
    if not run(["cmake", "--build", "build", "-j", str(JOBS), "--target", "dpmf",
                "dpmf-manpages", "dpmf_reference", "tests_unit_shared"], 7200):
        sys.exit("the copy does not build")


class Tree:
    """The copy, compiled: the library as one shared object, with or without a mutant."""

    def __init__(self):
        with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
            self.commands = {os.path.relpath(entry["file"], COPY): shlex.split(entry["command"])
                             for entry in json.load(file)}
        self.library = sorted(path for path in self.commands if path.startswith("lib/") and
                              not path.endswith("/parts_alone.c"))  # the client's alone
        self.tests = sorted(os.path.basename(path)[:-2] for path in self.commands
                            if path.startswith("tests/unit/test_"))
        self.headers = max(os.path.getmtime(os.path.join(folder, name))
                           for folder, _, names in os.walk(os.path.join(COPY, "lib"))
                           for name in names if name.endswith(".h"))
        self.launcher = [os.environ["CMAKE_C_COMPILER_LAUNCHER"]] if (
            "CMAKE_C_COMPILER_LAUNCHER" in os.environ) else []

    @staticmethod
    def object_of(path, kind="plain"):
        top = place() if kind in ("mutated", "best") else OUT
        return os.path.join(top, kind, path[:-2] + ".o")

    def compiles(self, path, output, source=None, flags=("-O1",), compiler=None, cached=True):
        words = self.commands[path]
        words = words[:words.index("-o")] + words[words.index("-c") + 2:]
        # Kernels are as they are built, or the tests would be slower by more than is saved.
        words = [word for word in words if word not in ("-g", "-g1", "-Werror") and
                 (word != "-O3" or "/kernels/" in path)]
        flags = [flag for flag in flags if "/kernels/" not in path or flag != "-O1"]
        mutated = ["-I", os.path.join(place(), "mutated", "lib")] if source else []
        os.makedirs(os.path.dirname(output), exist_ok=True)
        return run((self.launcher if cached else []) + [compiler or words[0], *mutated, *words[1:],
                   *flags, "-w", "-fvisibility=default", "-o", output, "-c",
                   source or os.path.join(COPY, path)], 300, BUILD)

    def is_new(self, path, output):
        sources = [path, *(f"lib/{name}" for name in INCLUDED.findall(read(path)))]
        return os.path.exists(output) and os.path.getmtime(output) > max(
            self.headers, *(os.path.getmtime(os.path.join(COPY, name)) for name in sources))

    def links_library(self, mutant=None, kind="plain"):
        """@param mutant  the file and object that come in place of one"""
        objects = {path: self.object_of(path) for path in self.library}
        if kind == "counted":
            objects.update({path: self.object_of(path, kind) for path in self.library
                            if room_of(path) in ROOMS})
        objects.update(mutant or {})
        compiler = ["clang", "-fprofile-instr-generate"] if kind == "counted" else ["cc"]
        return run([*compiler, "-shared", "-pthread", "-fuse-ld=lld", "-Wl,-Bsymbolic-functions",
                    f"-Wl,-soname,{LIBRARY}", "-o", os.path.join(place(), LIBRARY),
                    *objects.values(), "-lz", "-lzstd", "-lm", "-ldl"], 300, OUT)

    def links(self, target, output, instead=None):
        """A test or a program, with the shared library in place of the other, unless it is new.
        @param instead  an object and the one that comes in its place"""
        with open(os.path.join(BUILD, "CMakeFiles", target + ".dir", "link.txt"),
                  encoding="utf-8") as file:
            words = shlex.split(file.read())
        words = [os.path.join(OUT, LIBRARY) if word == "libdpmf.a" else word for word in words]
        words = [(instead or {}).get(word, word) for word in words]
        words[words.index("-o") + 1] = output
        linked = [os.path.join(BUILD, word) for word in words if word.endswith((".o", ".a"))]
        if os.path.exists(output) and os.path.getmtime(output) > max(map(os.path.getmtime, linked)):
            return True
        return run([*words, "-fuse-ld=lld", f"-Wl,-rpath,{OUT}"], 300, BUILD)

    def build(self):
        """Everything without a mutant, and the folders that mutants are in once more, counted."""
        counted = ("-O1", "-fprofile-instr-generate", "-fcoverage-mapping")

        def compiled(job):
            path, output, flags, compiler = job
            return self.is_new(path, output) or self.compiles(path, output, None, flags, compiler)
        jobs = [(path, self.object_of(path), ("-O1",), None) for path in self.library]
        jobs += [(path, self.object_of(path, "counted"), counted, "clang") for path in self.library
                 if room_of(path) in ROOMS]
        jobs += [(f"tests/unit/{test}.c", self.object_of(f"tests/unit/{test}.c"), ("-O1",), None)
                 for test in self.tests]
        for job, done in zip(jobs, in_parallel(compiled, jobs)):
            if not done:
                sys.exit(f"{job[0]} cannot be compiled")
        if not self.links_library():  # before what is linked with it
            sys.exit("the library cannot be linked")
        for target, done in zip(self.tests, in_parallel(self.links_test, self.tests)):
            if not done:
                sys.exit(f"{target} cannot be linked")
        for program in ("dpmf", "dpmf-manpages"):
            if not self.links(program, os.path.join(OUT, program)):
                sys.exit(f"{program} cannot be linked")

    def links_test(self, test, path=None):
        """@param path  a mutated file that the test is compiled with"""
        source, output = f"tests/unit/{test}.c", os.path.join(OUT, test)
        made = self.object_of(source)
        if path:
            made, output = self.object_of(source, "mutated"), os.path.join(place(), test)
            if not self.compiles(source, made, os.path.join(COPY, source)):
                return False
        return self.links(test, output, {f"CMakeFiles/{test}.dir/{source}.o": made})


# ---- tests ---------------------------------------------------------------------------------------

class Tests:
    """Unit tests, test_NAME, and golden tests, GROUP/NAME: what they take and which lines they
    reach. That is measured once, and again for a test that has changed."""

    def __init__(self, tree):
        self.tree, self.checked = tree, set()
        goldens = [f"{group}/{name[:-3]}" for group in GOLDENS
                   for name in sorted(os.listdir(os.path.join(COPY, "tests", "cli", group)))
                   if name.endswith(".sh")]
        self.reach = {}
        if os.path.exists(REACH):
            with open(REACH, encoding="utf-8") as file:
                self.reach = json.load(file)
        every = [test for test in tree.tests if test not in SLOW] + goldens
        self.reach = {test: self.reach[test] for test in every if test in self.reach and
                      self.reach[test]["hash"] == hash_of(read(self.source_of(test)))}
        missing = [test for test in every if test not in self.reach]
        if missing and not tree.links_library(kind="counted"):
            sys.exit("the library cannot be linked for counting")
        while missing:
            some, missing = missing[:20], missing[20:]
            for test, found in zip(some, in_parallel(self.measured, some)):
                self.reach[test] = found
                if not found["passes"]:
                    print(f"{test} fails without any mutant, or takes longer than {LONGEST} s: "
                          "left out", flush=True)
            with open(REACH, "w", encoding="utf-8") as file:
                json.dump(self.reach, file)
        if not tree.links_library():
            sys.exit("the library cannot be linked")

    @staticmethod
    def source_of(test):
        return f"tests/cli/{test}.sh" if "/" in test else f"tests/unit/{test}.c"

    @staticmethod
    def command_of(test):
        return (["tests/cli/run.sh", os.path.join(OUT, "dpmf"), test] if "/" in test else
                [os.path.join(OUT, test)])

    def measured(self, test):
        profiles = os.path.join(OUT, "profiles", test.replace("/", "."))
        shutil.rmtree(profiles, ignore_errors=True)
        os.makedirs(profiles)
        os.chmod(profiles, 0o777)  # some golden tests run as another user
        passes, seconds = timed(self.command_of(test), 3 * LONGEST,
                                LLVM_PROFILE_FILE=os.path.join(profiles, "%4m"))
        files = {}
        if passes and seconds <= LONGEST and os.listdir(profiles):
            merged = os.path.join(profiles, "merged")
            subprocess.run(["llvm-profdata", "merge", "-sparse", "-o", merged,
                            *(os.path.join(profiles, name) for name in os.listdir(profiles))],
                           check=True)
            text = subprocess.run(["llvm-cov", "export", "-format=lcov", "-instr-profile", merged,
                                   os.path.join(OUT, LIBRARY)], check=True,
                                  stdout=subprocess.PIPE, text=True).stdout
            for part in text.split("end_of_record"):
                name = re.search("^SF:(.*)$", part, re.M)
                counts = [(int(line), int(n) > 0) for line, n in
                          re.findall(r"^DA:(\d+),(\d+)", part, re.M)]
                if name and any(n for _, n in counts):
                    path = os.path.relpath(name[1], COPY)
                    files[path] = [hash_of(read(path)), [line for line, n in counts if n],
                                   [line for line, n in counts if not n]]
        shutil.rmtree(profiles)
        return {"hash": hash_of(read(self.source_of(test))), "seconds": seconds, "files": files,
                "passes": passes and seconds <= LONGEST}

    def includes(self, test, path):
        return "/" not in test and path[4:] in INCLUDED.findall(read(self.source_of(test)))

    def reaches(self, test, path, line):
        """Whether a test runs the line; of lines that are not counted, such as those of tables, or
        a file that has changed, whether it runs any of the file."""
        if not self.reach[test]["passes"]:
            return False
        if self.includes(test, path):
            return True
        known, yes, no = self.reach[test]["files"].get(path, (None, (), ()))
        return bool(yes) and (known != hash_of(read(path)) or line in yes or line not in no)

    def of(self, path, line):
        """The tests that reach a line, first those that include its file, then those that reach
        much of it in little time; sooner when they are called like it, later when they are golden
        tests."""
        words = {*re.split(r"\W|_", path[4:-2])}

        def rank(test):
            if self.includes(test, path):
                return 0
            reached = len(self.reach[test]["files"].get(path, (0, (0,)))[1])
            related = not words.isdisjoint(re.split("/|_", test))
            return (self.reach[test]["seconds"] + 0.1) / reached * (
                0.1 if related else 1) * (3 if "/" in test else 1)
        return sorted((test for test in self.reach if self.reaches(test, path, line)), key=rank)

    def passes(self, test, mutated=None):
        command = self.command_of(test)
        if mutated and self.includes(test, mutated):
            if not self.tree.links_test(test, mutated):
                return False, 0
            command = [os.path.join(place(), test)]
        return timed(command, 2 + 5 * self.reach[test]["seconds"])

    def killer(self, path, line, mutated):
        """@return the first that fails, "survived" or "not reached" """
        tests, spent = self.of(path, line), 0
        for test in tests:
            passed, seconds = self.passes(test, path)
            if not passed and test not in self.checked:
                self.tree.links_library()
                self.checked.add(test)
                if not self.passes(test)[0]:
                    print(f"{test} fails without any mutant: left out", flush=True)
                    passed, self.reach[test]["passes"] = True, False
                self.tree.links_library(mutated)
            if not passed:
                return test if "/" not in test else f"tests/cli {test}"
            spent += seconds
            if spent > TEST_SECONDS:
                break
        return "survived" if tests else "not reached"
