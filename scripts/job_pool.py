"""A pool of jobs: commands that need one another, run as many at once as there is room for.

A job starts when everything it needs has ended well and a place is free. Of those that could start,
the one with the longest way to the end goes first (its own seconds and those of what waits for it),
so that no core stands idle beside a last long job. scripts/run_tests.py makes the jobs.
"""

import dataclasses
import os
import queue
import signal
import subprocess
import threading
import time


@dataclasses.dataclass(eq=False)
class Job:
    name: str
    command: list
    log: str  # the file that gets what the command prints
    seconds: float = 1  # a guess of how long it takes; it decides the order alone
    limit: float = 1800  # seconds after which it is ended, for what hangs: slow machines have time
    needs: list = dataclasses.field(default_factory=list)  # jobs that must have ended well
    environment: dict = dataclasses.field(default_factory=dict)  # besides that of the pool
    # What came of it.
    status: int = None  # exit status, negative for a signal; None when it was not run
    elapsed: float = 0
    processor: float = 0  # seconds of processor time, with those of its children


def run(jobs, places, ended):
    """Runs all jobs, at most `places` at once. `ended(job)` is called for each, in this thread; for
    a job that cannot run, because one that it needs failed, with a status of None."""
    urgency = {}
    for job in reversed(ordered(jobs)):
        waiting = [urgency[other] for other in jobs if job in other.needs]
        urgency[job] = job.seconds + max(waiting, default=0)
    left, running, done = sorted(jobs, key=lambda job: -urgency[job]), {}, queue.Queue()
    well = set()
    try:
        while left or running:
            for job in list(left):
                if len(running) < places and all(need in well for need in job.needs):
                    left.remove(job)
                    running[job] = start(job, done)
            job = done.get()
            del running[job]
            if job.status == 0:
                well.add(job)
            ended(job)
            if job.status != 0:
                for other in without(job, left):
                    left.remove(other)
                    ended(other)
    finally:
        for process in running.values():
            signal_group(process.pid, signal.SIGKILL)


def ordered(jobs):
    """Every job after those that it needs."""
    result = []

    def add(job):
        if job not in result:
            for need in job.needs:
                add(need)
            result.append(job)

    for job in jobs:
        add(job)
    return [job for job in result if job in jobs]


def without(job, left):
    """What of `left` cannot run without this job."""
    lost = []
    for other in ordered(left):
        if job in other.needs or any(need in lost for need in other.needs):
            lost.append(other)
    return lost


def start(job, done):
    """Starts a job in a process group of its own; a thread waits for it and then puts it in
    `done`."""
    with open(job.log, "wb") as log:
        begun = time.monotonic()
        process = subprocess.Popen(job.command, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   env={**os.environ, **job.environment})

    def wait():
        limits = [threading.Timer(job.limit, signal_group, (process.pid, signal.SIGTERM)),
                  threading.Timer(job.limit + 10, signal_group, (process.pid, signal.SIGKILL))]
        for limit in limits:
            limit.daemon = True
            limit.start()
        _, status, used = os.wait4(process.pid, 0)
        for limit in limits:
            limit.cancel()
        job.elapsed = time.monotonic() - begun
        job.processor = used.ru_utime + used.ru_stime
        job.status = process.returncode = os.waitstatus_to_exitcode(status)
        if job.elapsed >= job.limit:
            job.status = job.status or 124
            with open(job.log, "ab") as log:
                log.write(f"(ended after its limit of {job.limit:.0f} s)\n".encode())
        done.put(job)

    threading.Thread(target=wait, daemon=True).start()
    return process


def signal_group(group, number):
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass
