"""The paper's first table: what one thread reads and writes a second, from the disk to the nearest
cache."""
import json
import mmap
import os
import time

from report import Plot, Series, Table, Text, size_text
from work import Failure

TITLE = "Bandwidth of this machine (Table 1)"
PAPER = (
    "Each level of storage is faster than the one below, from a hard disk at 0.15 GB/s to the "
    "first-level cache "
    "at up to 135 GB/s (one thread, a laptop of 2011): so data should be used while it is near.")
QUOTED = {  # read, write, in GB/s: the paper's Table 1; spreads by their upper end
    "disk": (0.5, 0.35), "RAM": (14, 9), "L3": (44, 30), "L1": (135, 80),
}
DISK_BYTES = {"tiny": 8 << 20, "small": 512 << 20, "medium": 1 << 30, "full": 2 << 30}
PIECE = 4 << 20


def data_caches(doctor):
    """Bytes by level: of the caches that dpmf sizes its tiles for, so that DPMF_CACHES counts. None
    where it had to guess, for what is guessed cannot be measured."""
    used = doctor["tiles_for"]
    if used["from"] == "system":
        return {c["level"]: c["bytes"] for c in doctor["caches"] if c["type"] != "Instruction"}
    if used["from"] == "guess":
        return {}
    levels = {1: used["l1"], 2: used["l2"]}
    return {**levels, 3: used["l3"]} if used["l3"] > used["l2"] else levels


def level_sizes(doctor):
    """Sizes of what is gone over, for each level: within its cache and well beyond the one
    above."""
    caches = data_caches(doctor)
    levels, above = [], 0
    for level in sorted(caches):
        size = caches[level]
        fitting = [s for s in (size // 4, size // 2, size * 5 // 8) if s > 2 * above and s >= 4096]
        levels.append([f"L{level}", size, fitting or [size * 3 // 4]])
        above = size
    levels.append(["RAM", doctor["memory"], [max(256 << 20, 8 * above)]])
    return levels


def memory_levels(work):
    doctor = work.dpmf_json("doctor")[0]
    tool = work.tool("bench_bandwidth")
    found = []
    for name, capacity, sizes in level_sizes(doctor):
        lines = [json.loads(line) for line in work.run([tool, "-", *sizes]).stdout.splitlines()]
        found.append({"name": name, "capacity": capacity, "sizes": lines})
    return found


def disk(work, total):
    """A file written and flushed, then read past the page cache."""
    path = work.temporary("disk")
    piece = mmap.mmap(-1, PIECE)  # aligned, as reads past the cache need
    piece.write(os.urandom(PIECE))
    try:
        begun = time.perf_counter()
        with open(path, "wb", buffering=0) as file:
            for _ in range(total // PIECE):
                file.write(piece)
            os.fsync(file.fileno())
            written = time.perf_counter() - begun
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECT)
            how = "read past the page cache (O_DIRECT)"
        except OSError:
            handle = os.open(path, os.O_RDONLY)
            how = "read after the page cache was told to drop it; this file system has no O_DIRECT"
        begun = time.perf_counter()
        read = 0
        while got := os.readv(handle, [piece]):
            read += got
        spent = time.perf_counter() - begun
        os.close(handle)
    finally:
        os.unlink(path)
    if read != total:
        raise Failure(f"{read} bytes were read of {total}")
    return {"bytes": total, "write": total / written, "read": total / spent, "how": how}


def measure(work):
    levels = work.once("memory", memory_levels, work)
    return {"levels": levels, "disk": work.once("disk", disk, work, DISK_BYTES[work.scale])}


def spread(values):
    low, high = min(values) / 1e9, max(values) / 1e9
    return f"{high:.3g}" if high / low < 1.05 else f"{low:.3g} to {high:.3g}"


def best(data):
    """(name, read, write) in GB/s, from the slowest to the fastest, by the best size of each."""
    found = [("disk", data["disk"]["read"] / 1e9, data["disk"]["write"] / 1e9)]
    for level in reversed(data["levels"]):
        found.append((level["name"], max(s["read"] for s in level["sizes"]) / 1e9,
                      max(s["write"] for s in level["sizes"]) / 1e9))
    return found


def show(data):
    rows = [[
        "disk", f"a file of {size_text(data['disk']['bytes'])}",
        f"{data['disk']['read'] / 1e9:.3g}", f"{data['disk']['write'] / 1e9:.3g}", *QUOTED["disk"]
    ]]
    for level in reversed(data["levels"]):
        sizes = level["sizes"]
        rows.append([
            level["name"],
            size_text(level["capacity"]),
            spread([s["read"] for s in sizes]),
            spread([s["write"] for s in sizes]), *QUOTED.get(level["name"], (None, None))
        ])
    found = best(data)
    plot = Plot("levels", "Read and write bandwidth of one thread", "level", "GB/s", [
        Series("read", [(n, r) for n, r, _ in found]),
        Series("write", [(n, w) for n, _, w in found]),
        Series("read", [(n, QUOTED[n][0]) for n, *_ in found if n in QUOTED], quoted=True)
    ], kind="bar", log_y=True, note="The paper's disk is its SSD.")
    return [
        Table("bandwidth",
              ["level", "capacity", "read, GB/s", "write, GB/s", "read, GB/s", "write, GB/s"], rows,
              "One thread; a spread is over the size of what is gone over.", quoted=(4, 5)), plot,
        Text(
            f"The disk: {data['disk']['how']}, written through to it. A virtual machine's disk "
            "may have a cache "
            f"of its host behind it.")
    ]


def verdict(data):
    found = best(data)
    reads = [r for _, r, _ in found]
    writes = [w for _, _, w in found]
    # Neighbouring caches may write equally fast; what the design stands on is the way from memory
    # to the caches.
    rises = (all(a < b * 1.1 for a, b in zip(reads, reads[1:])) and
             writes[-1] > writes[1] > writes[0])
    if len(found) < 3:
        return "no claim", ("The system reports no caches of this machine: there are the disk and "
                            "memory alone.")
    said = (
        f"reads rise from {reads[0]:.2g} GB/s (disk) over {reads[1]:.2g} (RAM) to "
        f"{reads[-1]:.3g} ({found[-1][0]})"
    )
    if rises:
        return "confirmed", f"Each level is faster than the one below: {said}."
    return "not confirmed", f"Not every level was faster than the one below: {said}."
