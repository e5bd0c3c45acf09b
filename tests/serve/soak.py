"""dpmf serve for long, under load, with its release replaced again and again: every answer stays
the one it was, and memory, descriptors and threads stay as many.

    soak.py DPMF FIXTURES [SECONDS [REQUESTS_A_SECOND]]

Clients on loopback ask for everything, on connections kept and new ones, break off in the middle
and send what is no request. Prints the figures; the last line is "N passed, N failed".
"""

import hashlib
import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

DPMF, FIXTURES = os.path.abspath(sys.argv[1]), sys.argv[2]
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 3600
RATE = float(sys.argv[4]) if len(sys.argv) > 4 else 200
PATHS = ["/", "/v1/release", "/v1/items", "/v1/statement", "/manifest.webmanifest", "/worker.js"]
SLACK = 1 << 20  # bytes: less than one in a thousand requests would leak in an hour
WARM = 2000  # requests, after which nothing may grow


class Soak:
    """One server and what its clients found."""

    def __init__(self, folder):
        self.release = os.path.join(folder, "release.safetensors")
        shutil.copy(os.path.join(FIXTURES, "release.safetensors"), self.release)
        self.process = subprocess.Popen(
            [DPMF, "serve", self.release, "--port", "0", "--json", "-q"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.port = json.loads(self.process.stdout.readline())["port"]
        self.random = random.Random(1)
        self.kept = self.connect()
        self.wanted = {path: self.ask(self.connect(), path) for path in PATHS}
        self.requests = self.broken = self.replaced = 0

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def ask(self, connection, path):
        """@return status and digest of what came"""
        connection.request("GET", path, headers={"Host": "localhost"})
        answer = connection.getresponse()
        return answer.status, hashlib.sha256(answer.read()).hexdigest()

    def break_off(self):
        """A connection that ends badly."""
        with socket.create_connection(("127.0.0.1", self.port), 120) as broken:
            broken.sendall(self.random.choice([
                b"GET /v1/rel", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x02",
                b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", b"GET /"
            ]))
        self.broken += 1

    def replace(self):
        """Another file in the place of the release, whole or damaged."""
        new = self.release + ".new"
        with open(new, "wb") as file:
            file.write(self.random.randbytes(self.random.randint(0, 100000)))
        os.rename(new, self.release)
        self.replaced += 1

    def step(self):
        path = self.random.choice(PATHS)
        if self.random.random() < 0.5:
            found = self.ask(self.kept, path)
        else:
            connection = self.connect()
            found = self.ask(connection, path)
            connection.close()
        if found != self.wanted[path] or found[0] != 200:
            raise SystemExit(f"another answer for {path} after {self.requests} requests: {found}")
        self.requests += 1
        if self.random.random() < 0.05:
            self.break_off()
        if self.random.random() < 0.01:
            self.replace()

    def state(self):
        """@return resident bytes, descriptors and threads"""
        folder = f"/proc/{self.process.pid}"
        with open(f"{folder}/statm", encoding="ascii") as file:
            resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return resident, len(os.listdir(f"{folder}/fd")), len(os.listdir(f"{folder}/task"))

    def settle(self):
        """The state, once what clients broke off is over."""
        for _ in range(200):
            state = self.state()
            time.sleep(0.1)
            if self.state()[1:] == state[1:] and state[1] <= self.least_descriptors + 1:
                return self.state()
        return self.state()

    def run(self):
        faults = []
        self.least_descriptors = self.state()[1]
        began, first = time.monotonic(), None
        while time.monotonic() - began < SECONDS or first is None:
            self.step()
            if first is None and self.requests >= WARM:
                first = self.settle()
            ahead = self.requests / RATE - (time.monotonic() - began)
            if ahead > 0:
                time.sleep(ahead)
        last = self.settle()
        if last[0] > first[0] + SLACK:
            faults.append(f"memory grew from {first[0]} to {last[0]} bytes")
        if last[1] > first[1] + 1 or last[2] > first[2]:
            faults.append(f"descriptors and threads were {first[1:]} and are {last[1:]}")
        self.process.terminate()
        said = self.process.communicate(timeout=120)[1]
        if said or self.process.returncode not in (0, -15, 143):
            faults.append(f"it ended with {self.process.returncode}: {said!r}")
        print(f"{time.monotonic() - began:.0f} s, {self.requests} requests, {self.broken} broken "
              f"off, {self.replaced} releases replaced; resident {first[0] >> 10} KiB after {WARM} "
              f"requests, {last[0] >> 10} KiB in the end")
        return faults


with tempfile.TemporaryDirectory() as place:
    soak = Soak(place)
    try:
        wrong = soak.run()
    finally:
        if soak.process.poll() is None:
            soak.process.kill()
for fault in wrong:
    print(f"FAILED: {fault}")
print(f"{int(not wrong)} passed, {int(bool(wrong))} failed")
sys.exit(bool(wrong))
