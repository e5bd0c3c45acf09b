"""Measurements are kept, taken up again only when nothing they depend on has changed, and never
half."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from code_key import code_digest
from support import DPMF, Scratch
from work import Failure, Work

calls = []


def measured(work, value):
    calls.append(value)
    return {"value": value}


def measured_otherwise(work, value):
    calls.append(value)
    return {"value": value, "otherwise": True}


def fails(work):
    raise Failure("not today")


def not_finite(work):
    return float("nan")


def runs_a_command(work):
    return work.run(["sh", "-c", "echo said; exit 3"], accept=(3,)).stdout


class OnceTest(Scratch):
    def setUp(self):
        super().setUp()
        calls.clear()
        self.program = self.folder / "dpmf"
        shutil.copy(DPMF, self.program)

    def work(self, **options):
        return Work(self.program, self.out,
                    **{"scale": "tiny", "say": lambda text: None, **options})

    def measure(self, value=1, function=measured, name="a", **options):
        work = self.work(**options)
        return work.once(name, function, work, value)

    def test_measured_once(self):
        first = self.measure()
        self.assertEqual(self.measure(), first)
        self.assertEqual(calls, [1])

    def test_other_parameters_are_measured_anew(self):
        self.measure(1)
        self.assertEqual(self.measure(2), {"value": 2})
        self.assertEqual(calls, [1, 2])

    def test_so_are_another_seed_scale_and_code(self):
        self.measure()
        self.measure(seed=2)
        self.measure(seed=2, scale="small")
        self.assertEqual(
            self.measure(seed=2, scale="small", function=measured_otherwise)["otherwise"], True)
        self.assertEqual(len(calls), 4)

    def digest(self, constant="1", helper="return FACTOR", beside="return 2", doc=""):
        (self.folder / "beside.py").write_text(f"def other():\n    {beside}\n")
        (self.folder / "section.py").write_text(
            f"import beside\n\nFACTOR = {constant}\n\n\ndef helper():\n    {helper}\n\n\n"
            f"def unused():\n    return 1{doc}\n\n\n"
            "def measure(work):\n    return [helper() for _ in range(3)], beside.other(), "
            "work.run(['true'])\n"
        )
        code = (
            "import code_key, section, work, pathlib\n"
            "print(code_key.code_digest(section.measure, (work.Work,)))"
        )
        path = os.pathsep.join([str(self.folder), *sys.path])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, "-c", code], env=environment, check=True,
                              capture_output=True).stdout

    def test_code_is_what_a_measurement_calls(self):
        first = self.digest()
        self.assertEqual(self.digest(), first)
        self.assertEqual(self.digest(doc="  # nobody calls this"), first)
        others = [
            self.digest(constant="2"),
            self.digest(helper="return FACTOR + 1"),
            self.digest(beside="return 3")
        ]
        self.assertEqual(len({first, *others}), 4)

    def test_code_of_the_works_methods_counts(self):
        self.assertNotEqual(code_digest(runs_a_command, (Work,)), code_digest(runs_a_command))

    def test_another_program_is_measured_anew(self):
        self.measure()
        with open(self.program, "ab") as file:
            file.write(b"\0")
        self.measure()
        self.assertEqual(calls, [1, 1])

    def test_a_damaged_file_is_measured_anew(self):
        self.measure()
        path = self.out / "data" / "a.json"
        path.write_text(path.read_text()[:-20])
        self.measure()
        path.write_text("[]")
        self.measure()
        self.assertEqual(calls, [1, 1, 1])

    def test_a_failure_leaves_nothing(self):
        work = self.work()
        with self.assertRaises(Failure):
            work.once("a", fails, work)
        with self.assertRaises(ValueError):
            work.once("b", not_finite, work)
        self.assertEqual(os.listdir(self.out / "data"), [])

    def test_a_measurement_cannot_depend_on_what_has_no_key(self):
        with self.assertRaises(TypeError):
            self.measure(object())

    def test_commands_are_kept_with_it(self):
        work = self.work()
        self.assertEqual(work.once("a", runs_a_command, work), "said\n")
        kept = json.loads((self.out / "data" / "a.json").read_text())
        self.assertEqual(kept["commands"][0]["status"], 3)
        self.assertIn("echo said", kept["commands"][0]["command"])

    def test_a_command_that_fails_says_why(self):
        work = self.work()
        with self.assertRaisesRegex(Failure, "exit status 5\nbecause"):
            work.run(["sh", "-c", "echo because >&2; exit 5"])
        with self.assertRaisesRegex(Failure, "No such file"):
            work.run(["/nowhere/at/all"])

    def test_names_are_safe_as_files(self):
        self.measure(name="a/../b c")
        self.assertEqual(os.listdir(self.out / "data"), ["a-..-b-c.json"])


class KilledTest(Scratch):
    def test_goes_on_where_it_was(self):
        first = self.section("10_first")
        wait = self.folder / "wait"
        wait.touch()
        pid_file = self.folder / "pid"
        second = self.section(
            "20_second", f'''import os
    if os.path.exists("{wait}"):
        work.run(["sh", "-c", "echo $$ >{pid_file}.part; mv {pid_file}.part {pid_file};"
                  " exec sleep 1000"])''')
        run = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not pid_file.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        child = int(pid_file.read_text())
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        self.assertTrue(self.ends(child), "what it ran is still running")
        self.assertFalse((self.out / "report.html").exists())
        self.assertFalse((self.out / "report.json").exists())
        wait.unlink()

        again = self.run_paper()
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(first.read_text(), "measured\n")
        self.assertEqual(second.read_text(), "measured\n" * 2)
        found = json.loads((self.out / "report.json").read_text())
        self.assertTrue(found["complete"])
        self.assertEqual([s["data"] for s in found["sections"]], [{"value": 7}] * 2)
        self.assertIn("1 of 2 measurements were there already", again.stderr)

    def ends(self, pid):
        for _ in range(500):
            try:
                with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                        return True
            except (FileNotFoundError, ProcessLookupError):
                return True
            time.sleep(0.02)
        return False
