"""The caches that cachegrind simulates: every shape of caches gives options that it takes, and what
was rounded is said."""
import json
import os
import re
import shutil
import subprocess
import unittest

import cachegrind_caches
from paper import load_section
from support import DPMF, PAPER, Scratch
from work import Work

# What doctor says of each shape that `make test` knows, and what cachegrind is to be told of it.
SHAPES = {
    "32K,256K,8M": (["--D1=32768,8,64", "--LL=8388608,8,64"], []),
    "32K,512K,32M": (["--D1=32768,8,64", "--LL=33554432,8,64"], []),
    "48K,2M,260M": (["--D1=49152,12,64",
                     "--LL=268435456,16,64"], ["260 MiB is simulated as one of 256 MiB"]),
    "64K,1M,none": (["--D1=65536,8,64", "--LL=1048576,8,64"], ["no third level"]),
    "unknown": (["--D1=32768,8,64", "--LL=2097152,8,64"], ["guessed"]),
}


def sets_of(option):
    size, ways, line = map(int, re.fullmatch(r"--(?:D1|LL)=(\d+),(\d+),(\d+)", option).groups())
    return size / ways / line


def tiles_for(shape):
    return json.loads(
        subprocess.run([DPMF, "doctor", "--json"], env={**os.environ, "DPMF_CACHES": shape},
                       check=True, capture_output=True, text=True).stdout)["tiles_for"]


class ShapesTest(Scratch):
    def test_every_shape_can_be_simulated(self):
        for shape, (options, said) in SHAPES.items():
            found, notes = cachegrind_caches.options(tiles_for(shape))
            self.assertEqual(found, options)
            self.assertTrue(
                all(
                    cachegrind_caches.is_power_of_two(int(sets_of(o))) and sets_of(o) % 1 == 0
                    for o in found))
            for words in said:
                self.assertIn(words, "; ".join(notes))
            self.assertEqual(any("simulated as" in note for note in notes), shape == "48K,2M,260M")

    def test_sizes_that_systems_report(self):
        for size, ways, line in ((272629760, 20, 64), (48 << 10, 12, 64), (36 << 20, 12, 64),
                                 (57671680, 11, 64), (1, 8, 64), (25 << 20, 20, 64),
                                 (5 << 20, 10, 64), (12345678, 7, 128)):
            bytes_, *rest = cachegrind_caches.simulated(size, ways, line)
            self.assertEqual(rest, [ways, line])
            self.assertTrue(cachegrind_caches.is_power_of_two(bytes_ // ways // line), size)
            self.assertTrue(size < ways * line or 2 / 3 <= bytes_ / size <= 3 / 2, size)
        self.assertEqual(cachegrind_caches.simulated(32 << 20, 16), (32 << 20, 16, 64))
        self.assertEqual(cachegrind_caches.simulated(272629760, 20), (335544320, 20, 64))

    def test_the_systems_ways_count_only_for_the_systems_sizes(self):
        index = self.folder / "index2"
        index.mkdir()
        for name, value in (("level", 3), ("type", "Unified"), ("ways_of_associativity", 20),
                            ("coherency_line_size", 64)):
            (index / name).write_text(f"{value}\n")
        sizes = {"l1": 48 << 10, "l2": 2 << 20, "l3": 272629760}
        found, notes = cachegrind_caches.options({**sizes, "from": "system"}, self.folder)
        self.assertEqual(found, ["--D1=49152,12,64", "--LL=335544320,20,64"])
        self.assertIn("260 MiB is simulated as one of 320 MiB", "; ".join(notes))
        self.assertEqual(
            cachegrind_caches.options({**sizes, "from": "environment"}, self.folder)[0][1],
            "--LL=268435456,16,64")
        (index / "ways_of_associativity").write_text("fully\n")
        self.assertEqual(cachegrind_caches.reported(3, self.folder), (None, 64))


class BandwidthTest(unittest.TestCase):
    def test_caches_that_are_named_count(self):
        """Levels and sizes are those of DPMF_CACHES, whatever this machine has."""
        section = load_section(PAPER / "sections" / "10_bandwidth.py")
        known = {"32K,256K,8M": [32 << 10, 256 << 10, 8 << 20],
                 "48K,2M,260M": [48 << 10, 2 << 20, 260 << 20],
                 "64K,1M,none": [64 << 10, 1 << 20], "unknown": []}
        for shape, sizes in known.items():
            doctor = json.loads(
                subprocess.run([DPMF, "doctor", "--json"], env={**os.environ, "DPMF_CACHES": shape},
                               check=True, capture_output=True, text=True).stdout)
            levels = section.level_sizes(doctor)
            self.assertEqual([capacity for _, capacity, _ in levels[:-1]], sizes, shape)
            for _, capacity, gone_over in levels[:-1]:
                self.assertLess(max(gone_over), capacity)

    def test_a_machine_that_reports_no_caches(self):
        """Nothing is said of a first-level cache that was not measured."""
        section = load_section(PAPER / "sections" / "10_bandwidth.py")
        used = {"l1": 32 << 10, "l2": 256 << 10, "l3": 2 << 20, "from": "guess"}
        levels = section.level_sizes({"caches": [], "tiles_for": used, "memory": 8 << 30})
        self.assertEqual([name for name, *_ in levels], ["RAM"])
        rate = {"read": 1e10, "write": 5e9}
        data = {"disk": {"read": 1e9, "write": 5e8, "bytes": 8 << 20, "how": "read"},
                "levels": [{"name": "RAM", "capacity": 8 << 30, "sizes": [rate]}]}
        verdict, said = section.verdict(data)
        self.assertEqual(verdict, "no claim")
        self.assertNotIn("L1", said)
        self.assertEqual([row[0] for row in section.show(data)[0].table_rows], ["disk", "RAM"])


@unittest.skipUnless(shutil.which("valgrind"), "there is no valgrind")
class SectionTest(Scratch):
    def test_counted_and_said(self):
        for shape, (options, said) in SHAPES.items():
            section = load_section(PAPER / "sections" / "45_cache_misses.py")
            work = Work(DPMF, self.out, "tiny", env={**os.environ, "DPMF_CACHES": shape},
                        say=lambda text: None)
            data = section.measure(work)
            table = next(x for x in section.show(data) if getattr(x, "name", "") == "misses")
            for words in [options[1], *said]:
                self.assertIn(words, table.caption)
            # what was measured for another machine is not this one's
            self.assertEqual(work.reused, 0)
            self.assertGreater(data["rows"][0]["references"], 0)
