#!/usr/bin/env python3
"""Runs the paper's evaluation and writes the report: `make paper`.

    bench/paper/paper.py --scale small --out build/paper/small build/dpmf

Every file of sections/ is a table or a figure of the paper. Each measures (through work.once, so
that a killed run goes on where it was), shows what it found, and says whether the paper's claim
holds. A section that fails is said to have failed, the others are still tried, and the exit status
is 1: no figure ever comes from anywhere but this folder's measurements by this program.
"""
import argparse
import importlib.util
import os
import pathlib
import platform
import shutil
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import peers  # noqa: E402
import report  # noqa: E402
from work import CLAIMS, SIZES, Failure, Work  # noqa: E402


def load_section(path):
    spec = importlib.util.spec_from_file_location("section_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    for name in ("TITLE", "PAPER", "measure", "show", "verdict"):
        if not hasattr(module, name):
            raise Failure(f"{path.name} has no {name}")
    return module


def section_files(folder):
    return sorted(p for p in pathlib.Path(folder).glob("[0-9]*.py"))


def chosen(files, only):
    """Those that --only names: by number, by name, or by the start of a name."""
    if not only:
        return files
    found = []
    for word in only.split(","):
        matches = [
            f for f in files if f.stem.startswith(word) or f.stem.split("_", 1)[1].startswith(word)
        ]
        if not word or not matches:
            raise Failure(f"--only {word}: there is no such section; --list names them")
        found += matches
    return [f for f in files if f in found]


def run_section(work, path):
    """A section's part of the report; a failure is one too, with its reason."""
    name = path.stem
    work.section = name
    work.say(name)
    begun = time.perf_counter()
    section = {"name": name, "title": name, "paper": "", "shown": [], "data": None}
    try:
        module = load_section(path)
        section.update(title=module.TITLE, paper=module.PAPER)
        data = module.measure(work)
        section.update(data=data, shown=list(module.show(data)))
        section["verdict"], section["why"] = module.verdict(data)
        if section["verdict"] not in report.VERDICTS or section["verdict"] == "failed":
            raise Failure(f"{name} has no verdict {section['verdict']}")
    # whatever a section does, the others are tried and this one is said to have failed
    except Exception as error:
        if not isinstance(error, Failure):
            traceback.print_exc()
        section.update(verdict="failed", shown=[], data=None, why=str(error) or
                       type(error).__name__)
        work.say(f"FAILED: {name}: {section['why']}")
    finally:
        work.section = ""
    section["seconds"] = round(time.perf_counter() - begun, 1)
    return section


# ---- about the machine ---------------------------------------------------------------------------


def processor():
    try:
        for line in open("/proc/cpuinfo", encoding="utf-8"):
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def machine(work):
    doctor = work.dpmf_json("doctor")[0]
    used = doctor["tiles_for"]
    caches = ", ".join(f"L{c['level']} {c['type'].lower()} {report.size_text(c['bytes'])}"
                       for c in doctor["caches"] if c["type"] != "Instruction")
    if used["from"] != "system":
        sizes = ", ".join(f"L{level} {report.size_text(used[f'l{level}'])}" for level in (1, 2, 3))
        caches = sizes + (" (by DPMF_CACHES)" if used["from"] == "environment" else " (guessed)")
    kernels = [k["name"] for k in doctor["kernels"] if k["chosen"]]
    claims = [f"{name}={work.env[name]}" for name in CLAIMS if work.env.get(name)]
    return {
        "processor": processor(), "threads": work.threads, "caches": caches,
        "memory": report.size_text(doctor["memory"]),
        "system": f"{platform.system()} {platform.release()}", "kernels": ", ".join(kernels),
        "load": f"{os.getloadavg()[0]:.2f}", "claims": claims,
    }


def facts_of(work, machine_facts, left_out):
    measured = sum(m["seconds"] for m in work.measurements)
    return {
        "scale": work.scale, "seed": work.seed, "program": work.program, "machine": machine_facts,
        "finished": report.now_text(), "seconds": round(measured, 1),
        "seconds_text": report.duration_text(measured), "left_out": left_out +
        ([f"all dimensions but {', '.join(map(str, work.factors))}"] if work.factors else []) +
        ([f"all sets but {', '.join(work.sets)}"] if work.sets else []), "datasets": [
            {"name": d.name, "label": d.label, "real": d.real} for d in work._datasets.values()
        ], "peers": [{"name": p.name, "description": p.description} for p in work.peers],
        "absent": [{"name": name, "how": how} for name, how in work.absent], "measurements": [{
            "name": m["key"]["name"], "began": m["began"], "seconds": m["seconds"],
            "load": m["load"], "others": m["others"], "commands": m["commands"]
        } for m in work.measurements],
    }


def options(argv):
    parser = argparse.ArgumentParser(prog="paper.py",
                                     description="The paper's evaluation, run again.")
    parser.add_argument("dpmf", nargs="?", help="the program, such as build/dpmf")
    parser.add_argument("--scale", default="small",
                        help="small (10 minutes), medium (an hour) or full (hours)")
    parser.add_argument("--out", help="where the report goes (default build/paper/SCALE)")
    parser.add_argument("--only", default="", help="these sections: a list of numbers or names")
    parser.add_argument("--factors", default="",
                        help="only these numbers of factors, where a section has them")
    parser.add_argument("--sets", default="", help="only these sets: netflix, yahoo, movielens")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="name the sections and end")
    parser.add_argument("--sections", default=str(HERE / "sections"), help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv):
    arguments = options(argv)
    files = section_files(arguments.sections)
    if arguments.list:
        for path in files:
            print(f"{path.stem:26}{load_section(path).TITLE}")
        return 0
    if not arguments.dpmf:
        raise Failure("which program? paper.py build/dpmf")
    wanted = chosen(files, arguments.only)
    out = pathlib.Path(arguments.out or f"build/paper/{arguments.scale}")
    if arguments.scale not in SIZES:
        raise Failure(f"there is no scale {arguments.scale}: it is one of small, medium, full")
    work = Work(arguments.dpmf, out, arguments.scale, arguments.seed)
    work.factors = tuple(int(k) for k in arguments.factors.split(",") if k)
    work.sets = tuple(name for name in arguments.sets.split(",") if name)
    for stale in ("report.html", "report.json"):  # an earlier report says nothing about this run
        (work.out / stale).unlink(missing_ok=True)
    shutil.rmtree(work.out / "csv", ignore_errors=True)
    (work.out / "csv").mkdir()
    work.peers, work.absent = peers.find_all(work)
    machine_facts = machine(work)
    sections = [run_section(work, path) for path in wanted]
    left_out = [f.stem for f in files if f not in wanted]
    whole = report.write(work.out, sections, facts_of(work, machine_facts, left_out))
    shutil.rmtree(work.out / "tmp", ignore_errors=True)
    if work.reused:
        work.say(f"{work.reused} of {len(work.measurements)} measurements were there already")
    print(f"{'the report' if whole else 'a report that is NOT WHOLE'}: {work.out / 'report.html'}")
    return 0 if whole else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        print(f"paper.py: {failure}", file=sys.stderr)
        sys.exit(1)
