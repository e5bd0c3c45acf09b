"""One set of ratings on many scales: wherever it lies, a model is as good as on 1 to 5, or is
refused in words that help.

    scales.py DPMF

A scale is a step and a lowest rating. Errors are compared in steps, so that they are the same
numbers. The last line is "N passed, N failed".
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

DPMF = sys.argv[1]
SOLVERS = ["sgd", "gibbs", "sgld", "sghmc", "sgnht"]
MECHANISMS = ["residual", "biases", "dpals", "gram", "langevin", "posterior"]
FINE = [(1, 1e8), (1, -1e12), (1e6, 1e10), (1e16, 0), (1e-16, 0), (1e-9, 1)]
BEYOND = [(1e300, 0), (1e-300, 0), (1e30, 0), (1e-30, 0), (4e307, -1e308)]
passed = failed = 0


def dpmf(*arguments):
    return subprocess.run([DPMF, *arguments], capture_output=True, text=True, check=False)


def must(*arguments):
    process = dpmf(*arguments)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)}: {process.stderr}")


def verdict(good, what):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print(f"FAILED: {what}")


def make(rows, step, low):
    """train.csv, train.dpr and test.csv on that scale."""
    for part in ("train", "test"):
        with open(f"{part}.csv", "w", encoding="ascii") as file:
            file.write("user,item,rating\n")
            for i, (user, item, rating) in enumerate(rows):
                if (i % 8 == 0) == (part == "test"):
                    file.write(f"{user},{item},{(rating - 1) * step + low!r}\n")
    must("import", "-q", "train.csv", "--format", "csv", "--on-error", "skip", "-o", "train.dpr")


def error(step, *more):
    """The error on test.csv in steps, or what was said."""
    process = dpmf("evaluate", "m.safetensors", "test.csv", "--json", *more)
    return (float(json.loads(process.stdout)["rmse"]) /
            step if process.returncode == 0 else process.stderr)


def learn(solver, *more):
    return dpmf("train", "-q", "train.csv", "-o", "m.safetensors", "--replace", "-k", "3",
                "--epochs", "8", "--seed", "1", "--deterministic", "--solver", solver, *more)


def release(step, low, mechanism):
    """With the same noise on every scale: no error here is due to chance."""
    own = ["-k", "3", "--epochs", "40"] if mechanism == "posterior" else []
    return dpmf("train", "-q", "train.dpr", "-o", "m.safetensors", "--replace", "--epsilon", "20",
                "--mechanism", mechanism, "--rating-range", f"{low!r}:{low + 4 * step!r}",
                "--catalogue", "items.csv", "--insecure-noise-seed", "7", *own)


def compare(name, process, got, usual, slack):
    verdict(process.returncode == 0, f"{name}: {process.stderr}")
    verdict(
        isinstance(got, float) and abs(got - usual) <= slack * usual,
        f"{name}: an error of {got}, and on 1 to 5 of {usual}")


def check_fine(rows):
    usual = {}
    for step, low in [(1, 1), *FINE]:
        make(rows, step, low)
        scale = f"steps of {step:g} from {low:g}"
        for solver in SOLVERS:
            process = learn(solver, "--valid", "test.csv")
            got = error(step)
            compare(f"{solver}, {scale}", process, got, usual.setdefault(solver, got), 0.05)
        for mechanism in MECHANISMS:
            process = release(step, low, mechanism)
            got = error(step, "--history", "train.dpr")
            compare(f"{mechanism}, {scale}", process, got, usual.setdefault(mechanism, got), 0.05)
    make(rows, 1, 1e8)
    must("train", "-q", "train.csv", "-o", "m.safetensors", "--replace", "-k", "3", "--epochs", "2")
    process = dpmf("export", "-q", "m.safetensors", "--libmf", "libmf", "--not-private")
    verdict(process.returncode == 3 and "floats" in process.stderr and not os.path.exists("libmf"),
            f"an export to LIBMF that loses all: {process.stderr}")


def check_beyond(rows):
    for step, low in BEYOND:
        make(rows, step, low)
        for solver in SOLVERS:
            for rate in ([], ["--learning-rate", "1e-3"],
                         ["--learning-rate", "1e-30"]) if solver == "sgd" else ([], ):
                process = learn(solver, *rate)
                verdict(
                    process.returncode == 3 and "--rescale" in process.stderr and
                    " inf" not in process.stderr,
                    f"{solver} {rate}, steps of {step:g}: status {process.returncode}, "
                    f"{process.stderr}"
                )
        for mechanism in MECHANISMS:
            process = release(step, low, mechanism)
            verdict(
                process.returncode == 2 and "range" in process.stderr + process.stdout or
                "within" in process.stderr,
                f"{mechanism}, steps of {step:g}: status {process.returncode}, {process.stderr}")


work = tempfile.mkdtemp()
try:
    os.chdir(work)
    os.environ.update(LC_ALL="C.UTF-8", XDG_STATE_HOME=work)
    must("synth", "-q", "--users", "300", "--items", "90", "--ratings", "9000", "--seed", "3", "-o",
         "all.dpr", "--catalogue-out", "items.csv")
    must("export", "-q", "all.dpr", "--csv", "all.csv")
    with open("all.csv", encoding="ascii") as text:
        table = [line.strip().split(",")[:3] for line in text][1:]
    ratings = [(user, item, float(rating)) for user, item, rating in table]
    check_fine(ratings)
    check_beyond(ratings)
finally:
    os.chdir("/")
    shutil.rmtree(work, ignore_errors=True)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
