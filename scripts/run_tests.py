#!/usr/bin/env python3
"""Builds and runs the tests: `make test` and, with --long, `make test-long`.

    scripts/run_tests.sh [--long] [--only PATTERN]

A line per suite with its counts and seconds; of a failure the end of its log is shown, and every
log stays in build/test-logs/, with times.tsv, which has the seconds of every job. The last line is
"N passed, N failed" and, if any, ", N skipped"; the exit status is 1 when any failed. PATTERN is a
regular expression that a suite's name must match. FUZZ_SECONDS is the time of each fuzzer, JOBS
the number of cores.

After the release build everything is a job of one pool (scripts/job_pool.py): the other builds, and
what needs none of them beside these. A suite is one job or several, and of a kind:

    cmocka  executables that print cmocka's summary; their own counts are added up
    line    a script whose last line is "N passed, N failed[, N skipped]"
    exit    commands that pass when their exit status is 0; each counts as one test
    build   says nothing but that it is done, and counts only when it fails

With --long the tests have more to do (DPMF_TEST_LONG): more cases, kills and faults. Builds of
other kinds, other machines' shapes and valgrind repeat the unit tests in their ordinary size: what
these could find does not depend on the number of cases.

With --long each suite that passed is remembered in build/test-stages for the tree as it is, to the
last byte: a run that was interrupted is started again by the same command, and runs what is left.
NEW=1 begins anew.
"""

import argparse
import glob
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import job_pool

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOGS = "build/test-logs"

# What takes long on two quiet cores, in seconds of processor time: begun first. Only the order
# depends on it; times.tsv of a run has the figures for this table.
LONG_JOBS = {
    "build: address, undefined sanitizers": 160, "build: fuzzers, clang": 140,
    "build: thread sanitizer": 30,
    "tests/cli/run.sh": 55, "tests/paper/run.sh": 37, "tests/python/run.sh": 33,
    "tests/home/run.sh": 24, "tests/memory/run.sh": 24, "tests/failure/run.sh": 25,
    "asan test_allocation": 25, "tsan test_import": 35, "asan test_ials": 15, "asan test_ranks": 18,
    "tsan test_tiling": 17,
}

# Statistics takes long under the sanitizers and touches no other memory: with --long only.
STATISTICS = {
    "langevin", "langevin_train", "gibbs", "posterior_sampler", "convergence", "audit", "search",
    "exact_gaussian"
}
# Slow, so without --long only what threads stand on: everything else is made of these.
UNDER_TSAN = {"threads", "pipeline", "superblock_stream", "import", "tiling", "id_map"}
ROOMS_UNDER_TSAN = ("arrow", "base", "cluster", "database", "export", "files", "kernels", "model",
                    "parquet", "random", "ratings", "schedule", "store", "synth", "tables",
                    "train")  # what these need
# Depends on the sizes of caches, on the number of cores, on the size of a page, on the set of
# kernels.
ON_CACHES = {"superblock_stream", "train", "snapshot", "noise_schedule", "ranks", "convergence",
             "bench", "evaluate"}
ON_CORES = {"train", "threads", "pipeline", "import", "store", "split", "evaluate"}
ON_PAGES = {"memory", "rating_sorter"}
ON_KERNELS = {"train", "convergence", "recommend", "fold_in", "client_user", "gibbs",
              "posterior_mean", "evaluate"}
# The sanitizers end a program at once, with a status of their own.
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=99",
    "TSAN_OPTIONS": "exitcode=99:halt_on_error=1:second_deadlock_stack=1",
}


def file_name(name):
    return re.sub(r"[ ,:/]+", "-", name)


class Suite:
    """Jobs whose results are one line."""

    def __init__(self, name, kind):
        self.name, self.kind, self.jobs = name, kind, []
        self.passed = self.failed = self.skipped = 0
        self.elapsed = 0
        self.failures = []  # lines to show

    def add(self, job_name, command, **settings):
        log = os.path.join(LOGS, file_name(job_name) + ".log")
        job = job_pool.Job(job_name, command, log, **settings)
        job.seconds = LONG_JOBS.get(job_name, job.seconds)
        self.jobs.append(job)
        return job

    def count(self, job):
        """Adds the counts of a job that has ended."""
        with open(job.log, encoding="utf-8", errors="replace") as file:
            text = file.read()
        counts = {"cmocka": count_cmocka, "line": count_line, "exit": count_exit,
                  "build": count_build}[self.kind](text, job.status)
        if counts is None:
            text += f"\n(ended without a line of counts, status {job.status})"
            counts = 0, 1, 0
        elif job.status != 0 and counts[1] == 0:
            # A crash, a leak found at exit or a timeout is a failure that no summary counted.
            text += f"\n(ended with status {job.status})"
            counts = counts[0], 1, counts[2]
        self.passed += counts[0]
        self.failed += counts[1]
        self.skipped += counts[2]
        self.elapsed = max(self.elapsed, job.elapsed) if self.kind == "build" else (
            self.elapsed + job.elapsed)
        if counts[1]:
            lines = telling(self.kind, text.splitlines())
            if len(self.jobs) > 1:
                lines.insert(0, f"--- {job.name}")
            self.failures += lines + [f"(all of it: {job.log})"]


def telling(kind, lines):
    """The lines that say what is wrong, at most 40."""
    if kind == "build":
        wrong = re.compile(
            r": (fatal )?(error|warning): |undefined reference|CMake Error|is needed:")
        return [line for line in lines if wrong.search(line)][:40] or lines[-40:]
    if kind == "cmocka":
        lines = [line for line in lines if not re.match(r"\[ +(RUN|OK) ", line)]
    return lines[-40:]


def count_cmocka(text, status):
    def total(word):
        return sum(int(n) for n in re.findall(rf"\[  {word}\] (\d+) test\(s\)", text))

    counts = total("PASSED  "), total("FAILED  "), total("SKIPPED ")
    return counts if any(counts) else None


def count_line(text, status):
    last = text.rstrip("\n").rpartition("\n")[2]
    match = re.fullmatch(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", last)
    return tuple(int(n or 0) for n in match.groups()) if match else None


def count_exit(text, status):
    return (1, 0, 0) if status == 0 else (0, 1, 0)


def count_build(text, status):
    return (0, 0, 0) if status == 0 else (0, 1, 0)


class Run:
    """One run: its suites, what has passed before, and the sums."""

    def __init__(self, arguments):
        self.long = arguments.long
        self.more = {"DPMF_TEST_LONG": "1"} if self.long else {}  # for tests that have more to do
        self.only = re.compile(arguments.only or "")
        self.cores = int(os.environ.get("JOBS") or len(os.sched_getaffinity(0)))
        self.fuzz_seconds = int(os.environ.get("FUZZ_SECONDS") or (60 if self.long else 1))
        self.begun = time.monotonic()
        self.suites, self.ended = [], []
        self.passed = self.failed = self.skipped = 0
        self.stages = self.find_stages() if self.long else None

    def find_stages(self):
        """The folder of what has passed on this tree: the commit, and what differs from it."""
        def git(*command):
            return subprocess.run(["git", *command], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, check=True).stdout

        fresh = bool(os.environ.get("NEW"))
        tree = hashlib.sha256()
        try:
            tree.update(git("rev-parse", "HEAD") + git("diff", "HEAD"))
            for path in git("ls-files", "--others", "--exclude-standard", "-z").split(b"\0"):
                if path and os.path.isfile(path):
                    with open(path, "rb") as file:
                        tree.update(path + b"\0" + hashlib.sha256(file.read()).digest())
        except (OSError, subprocess.CalledProcessError):
            fresh = True  # then nothing tells one tree from another
        stages = os.path.join("build/test-stages", tree.hexdigest()[:16])
        if fresh:
            shutil.rmtree(stages, ignore_errors=True)
        os.makedirs(stages, exist_ok=True)
        return stages

    def suite(self, name, kind):
        """A new suite; None when it is not wanted or has passed before."""
        if kind != "build" and not self.only.search(name):
            return None
        kept = self.stages and os.path.join(self.stages, file_name(name))
        if kept and os.path.exists(kept):
            with open(kept, encoding="utf-8") as file:
                passed, skipped, seconds = file.read().split()
            say(name, f"{passed} passed before  ({seconds} s)")
            self.passed += int(passed)
            self.skipped += int(skipped)
            return None
        suite = Suite(name, kind)
        self.suites.append(suite)
        return suite

    def script(self, name, command, seconds=10, limit=1800, needs=(), environment=None):
        """A suite of one script that prints a line of counts."""
        suite = self.suite(name, "line")
        if suite:
            suite.add(name, command, seconds=seconds, limit=limit, needs=list(needs),
                      environment={**self.more, **(environment or {})})

    def unit_tests(self, name, folder, only=None, but=(), prefix="", launcher=(), needs=(),
                   limit=1800, environment=None, also=()):
        """A suite of the unit tests in a folder of builds: all, `only` some, all `but` some."""
        tests = [os.path.basename(path)[:-2] for path in sorted(glob.glob("tests/unit/test_*.c"))]
        chosen = [test for test in tests
                  if (only is None or test[5:] in only) and test[5:] not in but]
        suite = self.suite(name, "cmocka")
        if suite:
            for path in [f"unit/{test}" for test in chosen] + list(also):
                test = os.path.basename(path)
                suite.add(f"{prefix or name} {test}", [*launcher, f"{folder}/tests/{path}"],
                          limit=limit, needs=list(needs), environment=environment or {})

    def build(self, name, preset, targets, *options, alone=False):
        """Configures and builds, warnings as errors: a job that other jobs need."""
        folder = "build" if preset == "release" else f"build/{preset}"
        command = ["cmake", "--preset", preset, *options]
        make = ["cmake", "--build", folder, "-j", str(self.cores if alone else 1), "--target",
                *targets]
        suite = self.suite(f"build: {name}", "build")
        return suite.add(f"build: {name}", ["bash", "-c", '"${@:1:$0}" && "${@:$0+1}"',
                                            str(len(command)), *command, *make], seconds=60)

    def skip(self, name, why):
        if self.only.search(name):
            say(name, f"skipped: {why}")
            self.skipped += 1

    def run(self):
        """Runs the suites that were added since the last time. False when a build failed."""
        suites, self.suites = self.suites, []
        # A build that nothing needs is none: what needed it has passed before, or is not wanted.
        wanted = {need for suite in suites for job in suite.jobs for need in job.needs}
        suites = [suite for suite in suites if suite.kind != "build" or suite.jobs[0] in wanted or
                  suite.name == "build: release"]
        owner = {job: suite for suite in suites for job in suite.jobs}
        left = {suite: len(suite.jobs) for suite in suites}

        def ended(job):
            suite = owner[job]
            if job.status is not None:
                suite.count(job)
            self.ended.append((suite, job))
            left[suite] -= 1
            if left[suite] == 0:
                self.report(suite)

        job_pool.run(list(owner), self.cores + 1, ended)  # one more, because jobs wait now and then
        return not any(suite.failed for suite in suites if suite.kind == "build")

    def report(self, suite):
        if any(job.status is None for job in suite.jobs):
            say(suite.name, "not run: its build failed")
            return
        text = "done" if suite.kind == "build" else f"{suite.passed} passed"
        if suite.failed:
            text = f"{suite.passed} passed, {suite.failed} FAILED"
        if suite.skipped:
            text += f", {suite.skipped} skipped"
        say(suite.name, f"{text}  ({suite.elapsed:.0f} s)")
        if self.stages and suite.kind != "build" and not suite.failed:
            with open(os.path.join(self.stages, file_name(suite.name)), "w",
                      encoding="utf-8") as file:
                file.write(f"{suite.passed} {suite.skipped} {suite.elapsed:.0f}\n")
        for line in suite.failures:
            print(f"    {line}", flush=True)
        self.passed += suite.passed
        self.failed += suite.failed
        self.skipped += suite.skipped

    def finish(self):
        with open(os.path.join(LOGS, "times.tsv"), "w", encoding="utf-8") as file:
            file.write("job\tsuite\telapsed\tprocessor\n")
            for suite, job in sorted(self.ended, key=lambda pair: -pair[1].processor):
                file.write(f"{job.name}\t{suite.name}\t{job.elapsed:.1f}\t{job.processor:.1f}\n")
        minutes, seconds = divmod(round(time.monotonic() - self.begun), 60)
        processor = sum(job.processor for _, job in self.ended) / 60
        print(f"in {minutes} min {seconds} s, with {processor:.1f} minutes of processor time" +
              (", besides what had passed before" if self.long else ""))
        print(f"{self.passed} passed, {self.failed} failed" +
              (f", {self.skipped} skipped" if self.skipped else ""))
        return 1 if self.failed else 0


def say(name, text):
    print(f"{name:<40} {text}", flush=True)


def launcher_for(compiler, sanitizers):
    """How a sanitized program is started: plainly, or with a fixed address layout where the
    kernel's random one is wider than the sanitizer's map. None when neither works."""
    probe = os.path.join(os.environ["TMPDIR"], "probe")
    with open(probe + ".c", "w", encoding="utf-8") as file:
        file.write("int main(void) { return 0; }\n")

    def works(*command):
        try:
            return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, check=False).returncode == 0
        except OSError:
            return False

    if not works(compiler, f"-fsanitize={sanitizers}", probe + ".c", "-o", probe):
        return None
    if all(works(probe) for _ in range(8)):
        return []
    fixed = ["setarch", os.uname().machine, "-R"]
    return fixed if works(*fixed, probe) else None


def fastest_folder():
    """Where files can be flushed at no cost: memory, when there is plenty of it. Or None."""
    shared, enough = "/dev/shm", 6 << 30
    try:
        space = os.statvfs(shared)
        with open("/proc/meminfo", encoding="utf-8") as file:
            available = int(re.search(r"MemAvailable: *(\d+) kB", file.read())[1]) << 10
        fits = min(space.f_bavail * space.f_frsize, available // 2) >= enough
        no_programs = space.f_flag & os.ST_NOEXEC
        return shared if fits and not no_programs and os.access(shared, os.W_OK) else None
    except (OSError, TypeError, AttributeError):
        return None


# ---- what is run ---------------------------------------------------------------------------------

def kernel_sets():
    """Every set of kernels of the program, and whether this machine has it."""
    text = subprocess.run(["build/dpmf", "doctor", "--json"], stdout=subprocess.PIPE, check=False,
                          text=True).stdout
    return {name: has == "true" for name, has in re.findall(
        r'"name":"([a-z0-9]+)","description":"[^"]*","supported":(true|false)', text)}


def on_other_machines(run):
    """What is sized from caches, divided among cores or computed by an instruction set's kernels,
    as on other machines; all of it with --long. The unit tests themselves have 32K,512K,32M."""
    for shape in "32K,256K,8M", "48K,2M,260M", "64K,1M,none", "unknown":
        run.unit_tests(f"unit tests, caches {shape}", "build", only=None if run.long else ON_CACHES,
                       environment={"DPMF_CACHES": shape})
    for cores in "1", "2", "64":
        run.unit_tests(f"unit tests, cores {cores}", "build", only=None if run.long else ON_CORES,
                       environment={"DPMF_CORES": cores})
    run.unit_tests("unit tests, pages 64K", "build", only=None if run.long else ON_PAGES,
                   environment={"DPMF_PAGE": "64K"})
    sets = kernel_sets()
    for name in sets:
        if sets[name]:
            run.unit_tests(f"unit tests, kernels {name}", "build",
                           only=None if run.long else ON_KERNELS,
                           environment={"DPMF_KERNELS": name})
    for name in "avx2", "avx512":
        if not sets.get(name):
            run.skip(f"unit tests, kernels {name}", "this machine has none")
    if run.long:
        golden_tests_on(run, [name for name in sets if sets[name]])


def golden_tests_on(run, sets):
    """What the command line prints is the same on every machine: memory in a hint, a shape, a
    fallback."""
    machines = [("DPMF_CACHES", "caches", shape)
                for shape in ("32K,256K,8M", "48K,2M,260M", "64K,1M,none", "unknown")]
    machines += [("DPMF_CORES", "cores", cores) for cores in ("1", "64")]
    machines += [("DPMF_KERNELS", "kernels", name) for name in sets]
    for variable, what, value in machines:
        run.script(f"tests/cli/run.sh, {what} {value}", ["tests/cli/run.sh", "build/dpmf"],
                   environment={variable: value})


def scripts(run, disk):
    """The scripts work on a disk, as users do; unit tests where flushing costs nothing, if there is
    such a place."""
    for script in sorted(glob.glob("tests/*/run.sh")):
        run.script(script, [script, "build/dpmf"], limit=7200 if run.long else 1800,
                   environment={"TMPDIR": disk})
    run.script("man page examples", ["tests/cli/man_examples.sh", "build/dpmf"], seconds=28,
               environment={"TMPDIR": disk})
    run.script("include law", ["scripts/include_law.sh", "--objects", "build"], seconds=28)


def sanitizers(run):
    """With --long gcc's address sanitizer and libFuzzer's build are two, and everything is tried
    with the first; without, clang's build for both is quicker to make than the two."""
    clang = shutil.which("clang") and launcher_for("clang", "fuzzer-no-link,address")
    if clang is None:
        run.skip("fuzzers", "there is no clang with libFuzzer that works here")
    if clang is not None and not run.long:
        need = [run.build("address, undefined sanitizers", "checked", ["tests"])]
        address_tests(run, "build/checked", clang, need)
        fuzzers(run, "build/checked", clang, need)
    else:
        address = launcher_for("cc", "address")
        if address is None:
            run.skip("address sanitizer", "it does not run on this machine")
        else:
            targets = ["all", "tests"] if run.long else ["tests"]  # --long tries the program
            need = [run.build("address, undefined sanitizers", "asan", targets)]
            address_tests(run, "build/asan", address, need)
        if address is not None and run.long:
            for name, script in (("tests/cli/run.sh", "tests/cli/run.sh"),
                                 ("man page examples", "tests/cli/man_examples.sh")):
                run.script(f"{name}, asan+ubsan", [*address, script, "build/asan/dpmf"], needs=need)
        if clang is not None:
            fuzzers(run, "build/fuzz", clang, [run.build("fuzzers, clang", "fuzz", ["tests"])])

    thread = launcher_for("cc", "thread")
    if thread is None:
        run.skip("thread sanitizer", "it does not run on this machine")
    else:
        targets = ["all", "tests"] if run.long else [f"test_{test}" for test in sorted(UNDER_TSAN)]
        rooms = "" if run.long else ";".join(ROOMS_UNDER_TSAN)
        need = [run.build("thread sanitizer", "tsan", targets, f"-DDPMF_ROOMS={rooms}")]
        run.unit_tests("unit tests, tsan", "build/tsan", prefix="tsan", launcher=thread, needs=need,
                       only=None if run.long else UNDER_TSAN)
        if run.long:
            run.script("tests/cli/run.sh, tsan", [*thread, "tests/cli/run.sh", "build/tsan/dpmf"],
                       needs=need)


def address_tests(run, folder, launcher, needs):
    run.unit_tests("unit and failure tests, asan+ubsan", folder, prefix="asan",
                   but=() if run.long else STATISTICS, launcher=launcher, needs=needs,
                   also=["failure/test_allocation"])


def fuzzers(run, folder, launcher, needs):
    """Each starts from its seeds in tests/fuzz/corpus/NAME; what it finds goes to
    build/fuzz-corpus."""
    suite = run.suite(f"fuzzers, {run.fuzz_seconds} s each", "exit")
    for source in sorted(glob.glob("tests/fuzz/fuzz_*.c")) if suite else ():
        name = os.path.basename(source)[:-2]
        found, seeds = f"build/fuzz-corpus/{name}", f"tests/fuzz/corpus/{name[5:]}"
        os.makedirs(found, exist_ok=True)
        suite.add(name, [
            *launcher, f"{folder}/tests/fuzz/{name}", f"-max_total_time={run.fuzz_seconds}",
            "-timeout=120", "-rss_limit_mb=2048", "-print_final_stats=1",
            f"-artifact_prefix={LOGS}/{name}-", found, *([seeds] if os.path.isdir(seeds) else [])
        ], seconds=run.fuzz_seconds, limit=run.fuzz_seconds + 600, needs=needs)


def more_with_time(run):
    """What --long has besides: clang's optimised build, one without optimisation, valgrind."""
    if not shutil.which("clang"):
        run.skip("clang", "there is no clang")
    else:
        run.unit_tests("unit tests, clang", "build/clang",
                       needs=[run.build("clang, release", "clang", ["all", "tests"])])
    run.unit_tests("unit tests, debug", "build/debug", needs=[run.build("debug", "debug",
                                                                        ["all", "tests"])])
    if not shutil.which("valgrind"):
        run.skip("valgrind", "it is not installed")
    else:
        # The optimised build: it is what users run, and quicker here than the debug one. Statistics
        # would take hours; the address sanitizer has seen it.
        run.unit_tests("unit tests, valgrind", "build", limit=3600, prefix="valgrind",
                       but=STATISTICS, launcher=[
                           "valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full",
                           "--errors-for-leak-kinds=definite"])


def several_processes(run):
    if not shutil.which("mpirun"):
        run.skip("several processes", "there is no mpirun")
        return
    need = run.build("the plugin for MPI", "release", ["all"], "-DDPMF_MPI=ON", alone=True)
    run.script("several processes", ["tests/mpi/run.sh", "build/dpmf"], needs=[need],
               environment={"DPMF_TEST_MPI": "1"})


def main():
    parser = argparse.ArgumentParser(usage="scripts/run_tests.sh [--long] [--only PATTERN]")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", metavar="PATTERN")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    os.makedirs(LOGS, exist_ok=True)
    for path in glob.glob(f"{LOGS}/*"):
        os.unlink(path)
    os.environ.update(ENVIRONMENT)
    for name in "DPMF_THREADS", "NO_COLOR":
        os.environ.pop(name, None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # Begun in the background, or by nohup, this ignores signals, and so would every test; a handler
    # that does nothing is not passed on to them.
    for number in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)

    with tempfile.TemporaryDirectory() as disk, \
            tempfile.TemporaryDirectory(dir=fastest_folder()) as quick:
        os.environ["TMPDIR"] = quick
        run = Run(arguments)
        run.build("release", "release", ["all", "tests", "benches"], "-DDPMF_TESTS=ON",
                  "-DDPMF_BENCH=ON", "-DDPMF_WERROR=ON", alone=True)
        if run.run():
            run.unit_tests("unit tests", "build", environment=run.more)
            on_other_machines(run)
            scripts(run, disk)
            if run.long:
                # Without --long allocations fail under the address sanitizer alone: it sees what
                # this one does, and more.
                run.unit_tests("failure tests", "build", only=(), environment=run.more,
                               also=["failure/test_allocation"])
                more_with_time(run)
            sanitizers(run)
            run.run()
            if run.long:
                several_processes(run)
                run.run()
        return run.finish()


if __name__ == "__main__":
    sys.exit(main())
