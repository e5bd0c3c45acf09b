"""dpmf serve over real sockets, with nothing but Python's own library: http_checks.py DPMF FIXTURES

Each check is a function below; what it asserts must hold. The last line is "N passed, N failed".
"""
import base64
import concurrent.futures
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

DPMF, FIXTURES = sys.argv[1:3]
RELEASE = os.path.join(FIXTURES, "release.safetensors")
PATIENCE = 120  # seconds for anything that must happen; far more than it takes


class Server:
    """A running dpmf serve, on a port of its own."""

    def __init__(self, *options, release=RELEASE):
        self.process = subprocess.Popen(
            [DPMF, "serve", release, "--port", "0", "--json", "-q", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.line = json.loads(self.process.stdout.readline())
        self.port = self.line["port"]
        self.address = "::1" if "[" in self.line["url"] else "127.0.0.1"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def stop(self, number=signal.SIGTERM):
        """Its status, as Python tells it: minus the signal."""
        self.process.send_signal(number)
        self.process.wait(PATIENCE)
        said = self.process.communicate()[1]
        assert said == b"", said
        return self.process.returncode

    def connect(self):
        connection = socket.create_connection((self.address, self.port), PATIENCE)
        connection.settimeout(PATIENCE)
        return connection

    def send(self, request):
        """All that comes back on a connection of its own until it is closed."""
        with self.connect() as connection:
            connection.sendall(request)
            return read_all(connection)

    def get(self, path, method="GET", headers=(), host="localhost"):
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
        return Answer(self.send("\r\n".join(lines).encode() + b"\r\n\r\n"))

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def read_all(connection):
    pieces = []
    try:
        while piece := connection.recv(1 << 20):
            pieces.append(piece)
    except ConnectionResetError:
        pass  # whoever is refused while still speaking may be cut off
    return b"".join(pieces)


class Answer:
    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if len(lines[0].split()) > 1 else 0
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            self.headers[name.lower()] = value


def read_answer(connection):
    """One answer of a connection that stays open."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    answer = Answer(data)
    while len(answer.body) < int(answer.headers["content-length"]):
        answer.body += connection.recv(65536)
    return answer


def raises(kind, call):
    try:
        call()
    except kind:
        return True
    return False


def equal(got, wanted):
    assert got == wanted, f"got {got!r}, not {wanted!r}"


# ---- what it answers -----------------------------------------------------------------------------


def check_release():
    with Server() as server, open(RELEASE, "rb") as file:
        wanted = file.read()
        answer = server.get("/v1/release")
        equal((answer.status, answer.body), (200, wanted))
        equal(answer.headers["content-type"], "application/octet-stream")
        equal(answer.headers["content-disposition"], 'attachment; filename="release.safetensors"')
        header = json.loads(wanted[8:8 + int.from_bytes(wanted[:8], "little")])
        equal(answer.headers["etag"], f'"{header["__metadata__"]["dpmf.digest"]}"')


def check_statement():
    with Server() as server:
        answer = server.get("/v1/statement")
        shown = subprocess.run([DPMF, "privacy", "show", "--json", RELEASE], check=True,
                               stdout=subprocess.PIPE).stdout
        equal((answer.status, answer.headers["content-type"]), (200, "application/json"))
        equal(json.loads(answer.body), json.loads(shown))


def check_items():
    with open("titles.csv", "wb") as file:
        file.write(b'item,title\ndune,"</script> ""\xc3\xa9"\nbrazil,Br\xe9sil\nnowhere,None\n')
    with Server("--catalogue", "titles.csv") as server:
        answer = server.get("/v1/items")
        equal((answer.status, answer.headers["content-type"]), (200, "application/json"))
        equal(json.loads(answer.body.decode("utf-8")),
              [{"item": "dune", "title": '</script> "é'}, {"item": "solaris", "title": None},
               {"item": "alien", "title": None}, {"item": "brazil", "title": "Brésil"}])
        equal((server.line["items"], server.line["titles"]), (4, 2))


def check_page():
    with Server("--name", "Films <for> us") as server:
        answer = server.get("/")
        page = answer.body.decode("utf-8")
        equal(answer.status, 200)
        equal(answer.headers["content-type"], "text/html; charset=utf-8")
        equal(len(answer.body), server.line["page_bytes"])
        assert "<title>Films &lt;for&gt; us</title>" in page
        inside = page.split('id="dpmf-release">')[1].split("</script>")[0]
        equal(base64.b64decode(inside, validate=True), server.get("/v1/release").body)
        # The header says what the page itself says, and forbids frames.
        meta = page.split('http-equiv="Content-Security-Policy" content="')[1].split('"')[0]
        equal(answer.headers["content-security-policy"], meta + "; frame-ancestors 'none'")
        for directive in ("default-src 'none'", "connect-src 'none'", "form-action 'none'"):
            assert directive in meta, meta


def check_headers():
    with Server() as server:
        for answer in (server.get("/"), server.get("/v1/items"), server.get("/none"),
                       server.get("/", method="POST"), server.get("/", host="evil.example")):
            equal(answer.headers["x-content-type-options"], "nosniff")
            equal(answer.headers["referrer-policy"], "no-referrer")
            equal(answer.headers["cross-origin-opener-policy"], "same-origin")
            equal(answer.headers["cross-origin-resource-policy"], "same-origin")
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            assert "geolocation=()" in answer.headers["permissions-policy"]
            assert "server" not in answer.headers and "set-cookie" not in answer.headers


def check_head():
    with Server() as server:
        for path in ("/", "/v1/release", "/v1/items", "/v1/statement"):
            whole, head = server.get(path), server.get(path, method="HEAD")
            equal((head.status, head.body), (200, b""))
            for name in ("content-length", "content-type", "etag"):
                equal(head.headers[name], whole.headers[name])
        equal(server.get("/none", method="HEAD").body, b"")


def check_unchanged():
    with Server() as server:
        for path in ("/", "/v1/release", "/v1/items", "/v1/statement"):
            tag = server.get(path).headers["etag"]
            for known in (tag, f'"other", {tag}', f"W/{tag}", "*", f'W/"x" , {tag}'):
                answer = server.get(path, headers=[f"If-None-Match: {known}"])
                equal((known, answer.status, answer.body), (known, 304, b""))
                equal(answer.headers["etag"], tag)
            for other in ('"other"', "", tag.strip('"'), tag[:-1], f'"{tag}', "x" * 300):
                equal((other, server.get(path, headers=[f"If-None-Match: {other}"]).status),
                      (other, 200))


def check_kept_alive():
    """Many requests on one connection, also sent all at once; after a 304 and a 404 too."""
    with Server() as server, server.connect() as connection:
        requests = ([("GET", "/v1/items", 200), ("HEAD", "/", 200), ("GET", "/none", 404),
                     ("GET", "/v1/statement", 200)] * 5)
        for method, path, status in requests:
            connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            if method == "GET":
                equal(read_answer(connection).status, status)
            else:
                assert connection.recv(65536).endswith(b"\r\n\r\n")
        one = b"GET /v1/statement HTTP/1.1\r\nHost: localhost\r\n\r\n"
        last = one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        connection.sendall(49 * one + last)
        equal(read_all(connection).count(b"HTTP/1.1 200 OK"), 50)


def check_queries():
    with Server() as server:
        equal(server.get("/v1/items?rating=5&item=dune").status, 200)
        equal(server.get("/?" + "a" * 2000).status, 200)
        equal(server.stop(), -signal.SIGTERM)  # which also sees that nothing was said


# ---- what it refuses -----------------------------------------------------------------------------


def check_paths():
    with Server() as server:
        for path in ("/v1", "/v1/", "/v1/items/", "//", "/index.html", "/v1/release%00.html",
                     "/%2e%2e/etc/passwd", "/../../etc/passwd", "/v1/../v1/items", "/V1/items",
                     "/favicon.ico", "/%", "/v1%2fitems"):
            equal((path, server.get(path).status), (path, 404))


def check_methods():
    with Server() as server:
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "Q"):
            answer = server.get("/v1/release", method=method)
            equal((method, answer.status, answer.headers["allow"]), (method, 405, "GET, HEAD"))


def check_hosts():
    with Server("--host", "Films.example.org", "--host", "[fd00::7]") as server:
        port = server.port
        for host in ("localhost", f"localhost:{port}", "127.0.0.1", f"127.0.0.1:{port}",
                     f"[::1]:{port}", "[::1]", "LOCALHOST", "films.example.org",
                     "FILMS.EXAMPLE.ORG:443", "[fd00::7]", "localhost:1"):
            equal((host, server.get("/v1/items", host=host).status), (host, 200))
        for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "xlocalhost",
                     "127.0.0.2", "127.0.0.1.evil.example", "[::2]", "localhost:80x",
                     "localhost:123456", "localhost@evil.example", "localhost,evil.example", "",
                     "films.example.org.", "0.0.0.0"):
            answer = server.get("/v1/items", host=host)
            assert answer.status in (400, 421), (host, answer.status)
            assert b"dune" not in answer.body


def check_host_lines():
    with Server() as server:
        equal(Answer(server.send(b"GET /v1/items HTTP/1.1\r\n\r\n")).status, 400)
        equal(
            Answer(
                server.send(b"GET /v1/items HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n")
            ).status, 400)
        equal(
            Answer(server.send(
                b"GET /v1/items HTTP/1.1\r\nHost: localhost\r\nhost: evil\r\n\r\n")).status, 400)
        equal(Answer(server.send(b"GET /v1/items HTTP/1.0\r\n\r\n")).status, 200)
        equal(Answer(server.send(b"GET /v1/items HTTP/1.0\r\nHost: evil\r\n\r\n")).status, 421)
        equal(server.get("http://evil.example/v1/items").status, 404)
        equal(server.get("http://localhost/v1/items", host="evil.example").status, 421)


def check_addresses():
    """Another address of loopback is one's own name; IPv6 where there is some."""
    with Server("--address", "127.0.0.3") as server:
        equal(server.line["url"], f"http://127.0.0.3:{server.port}/")
        with socket.create_connection(("127.0.0.3", server.port), PATIENCE) as connection:
            connection.sendall(
                b"GET /v1/items HTTP/1.1\r\nHost: 127.0.0.3\r\nConnection: close\r\n\r\n")
            equal(Answer(read_all(connection)).status, 200)
        assert raises(OSError, lambda: socket.create_connection(("127.0.0.1", server.port), 5))
    if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"):
        with Server("--address", "::1") as server:
            equal(server.get("/v1/items", host=f"[::1]:{server.port}").status, 200)


def check_bodies():
    """Refused by the head alone, and never read: the server does not grow."""
    with Server() as server:
        before = server.memory()
        for head, status in (("POST / HTTP/1.1\r\nContent-Length: 5",
                              405), ("PUT /v1/release HTTP/1.1\r\nContent-Length: 99999999999",
                                     405), ("GET / HTTP/1.1\r\nContent-Length: 5", 413),
                             ("GET / HTTP/1.1\r\nContent-Length: 99999999999",
                              413), ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked", 413),
                             ("GET / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9999999",
                              413), ("HEAD / HTTP/1.1\r\nContent-Length: 1",
                                     413), ("GET / HTTP/1.1\r\nContent-Length: 0",
                                            200), ("GET / HTTP/1.1\r\nContent-Length: -1", 400),
                             ("GET / HTTP/1.1\r\nContent-Length: five",
                              400), ("GET / HTTP/1.1\r\nContent-Length: 18446744073709551617",
                                     (400, 413))):
            answer = Answer(
                server.send(f"{head}\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()))
            wanted = status if isinstance(status, tuple) else (status,)
            assert answer.status in wanted, (head, answer.status)
        for _ in range(3):
            with server.connect() as connection:
                connection.sendall(
                    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30000000\r\n\r\n")
                try:
                    for _ in range(30):
                        connection.sendall(bytes(1000000))
                except OSError:
                    pass  # cut off, as it should be
        assert server.memory() < before + 20000000, (before, server.memory())


def check_smuggling():
    """What follows a refused head is not taken for a request."""
    with Server() as server:
        hidden = b"GET /v1/statement HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for head in (
                b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 51\r\n\r\n",
                b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 51\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n33\r\n",
                b"GET / HTTP/1.1\r\nHost: evil\r\n\r\n"):
            data = server.send(head + hidden)
            assert data.count(b"HTTP/1.1 ") <= 1, data
            assert b"epsilon" not in data


def check_zero_bytes():
    """A zero byte ends a text in C; what is behind it must not go unseen."""
    with Server() as server:
        for head in (b"GET /\0 HTTP/1.1\r\nHost: localhost",
                     b"GET /\0none HTTP/1.1\r\nHost: localhost",
                     b"GET /v1/items\0?x=1 HTTP/1.1\r\nHost: localhost",
                     b"GET /?x=\0 HTTP/1.1\r\nHost: localhost",
                     b"GET / HTTP/1.1\r\nHost: localhost\0.evil.example",
                     b"GET / HTTP/1.1\r\nHost: localhost\r\nX: y\0z", b"HEAD /\0 HTTP/1.0\r\nX: y"):
            answer = Answer(server.send(head + b"\r\nConnection: close\r\n\r\n"))
            equal((head, answer.status), (head, 400))
        # Others are as before, with a query and without, also one after the other on a connection.
        for path in ("/", "/?", "/?a=b&c=d%00", "/v1/items?x"):
            equal((path, server.get(path).status), (path, 200))
        with server.connect() as connection:
            for path in (b"/v1/items?a=b", b"/v1/statement", b"/none"):
                connection.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
                equal(read_answer(connection).status, 404 if path == b"/none" else 200)
        equal(Answer(server.send(b"GET /v1/items HTTP/1.0\r\n\r\n")).status, 200)


def check_malformed():
    """Answered 4xx (505 where another version of HTTP is spoken), or hung up on; and never with
    content."""
    requests = [
        b"\r\n\r\n", b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n", b"hello\r\n\r\n",
        b"\0" * 100, b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\n: localhost\r\n\r\n", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET / HTTPS/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1\r\nHost: localhost\r\n\r\n",
        b"GET /none\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / x HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: \xff\r\n\r\n",
        b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 10000 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"z" * 100000 + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n"
    ]
    generator = random.Random(5)
    whole = b"GET /v1/none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for _ in range(200):
        broken = bytearray(whole)
        for _ in range(generator.randint(1, 6)):
            broken[generator.randrange(len(broken) - 4)] = generator.randrange(256)
        requests.append(bytes(broken))
    with Server("--timeout", "1") as server:
        for request in requests:
            with server.connect() as connection:
                try:
                    connection.sendall(request)
                    connection.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                data = read_all(connection)
            status = Answer(data).status if data else None
            assert (status is None or 400 <= status < 500 or
                    status == 505), (request[:80], data[:200])
        equal(server.get("/v1/items").status, 200)
        equal(server.stop(), -signal.SIGTERM)


# ---- slow, silent and many -----------------------------------------------------------------------


def timed(call):
    begun = time.monotonic()
    call()
    return time.monotonic() - begun


def given_time(check, *timeouts):
    """Tries a check that takes times with longer ones, for a machine with other things to do: what
    waits for the server's timeout, and should not, fails with every one."""
    for timeout in timeouts[:-1]:
        try:
            return check(timeout)
        except AssertionError:
            pass
    return check(timeouts[-1])


def check_slow_heads():
    """200 that say a byte now and then, 200 that say nothing: others are answered at once, and
    these are ended."""
    given_time(slow_heads, 3, 12, 40)


def slow_heads(timeout):
    with Server("--timeout", str(timeout)) as server:
        slow = [server.connect() for _ in range(200)]
        silent = [server.connect() for _ in range(200)]
        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: local")
        begun = time.monotonic()
        seconds = []
        while time.monotonic() < begun + 1.2:
            seconds.append(timed(lambda: equal(server.get("/v1/statement").status, 200)))
        assert (sorted(seconds)[len(seconds) // 2] < timeout / 6 and
                max(seconds) < 0.8 * timeout), seconds
        # A byte now and then does not make a request late for ever.
        ended = set()
        while len(ended) < len(slow):
            assert time.monotonic() < begun + PATIENCE, len(ended)
            for connection in slow:
                if (connection not in ended and
                        raises(OSError, lambda c=connection: c.sendall(b"x"))):
                    ended.add(connection)
            time.sleep(0.1)
        for connection in silent:
            equal(connection.recv(10), b"")
        equal(server.get("/v1/statement").status, 200)
        for connection in slow + silent:
            connection.close()


def check_deaf():
    """Those who ask for more than any buffer holds and do not read it are ended too."""
    given_time(deaf, 4, 15, 60)


def deaf(seconds):
    with Server("--timeout", "1", "--catalogue", "long.csv") as server:
        unread = [server.connect() for _ in range(5)]
        for connection in unread:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        equal(server.get("/v1/statement").status, 200)
        time.sleep(seconds)
        for connection in unread:
            assert len(read_all(connection)) < server.line["page_bytes"]
            connection.close()
        equal(server.get("/v1/statement").status, 200)


def check_crowd():
    """With all places taken by those who wait, someone new is let in before their time is up."""
    with Server("--timeout", "3600", "--connections", "64") as server:
        crowd = [server.connect() for _ in range(200)]
        for connection in crowd:
            connection.sendall(b"GET / HT")
        seconds = timed(lambda: equal(server.get("/v1/statement").status, 200))
        assert seconds < PATIENCE / 2, seconds
        for connection in crowd:
            connection.close()
        equal(server.get("/v1/statement").status, 200)


def check_half_open():
    """Clients that vanish in the middle, politely or not."""
    with Server() as server:
        for i in range(300):
            connection = server.connect()
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n" +
                               (b"\r\n" if i % 3 else b""))
            if i % 2:  # with a reset
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.close()
        with server.connect() as connection:  # half closed, and still answered
            connection.sendall(
                b"GET /v1/items HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            connection.shutdown(socket.SHUT_WR)
            equal(Answer(read_all(connection)).status, 200)
        equal(server.stop(), -signal.SIGTERM)


def check_together():
    """Sixteen clients at once get whole and right answers, on every path."""
    with Server("-j", "3") as server:
        wanted = {
            path: server.get(path).body
            for path in ("/", "/v1/release", "/v1/items", "/v1/statement")
        }
        wrong = []

        def client(seed):
            generator = random.Random(seed)
            try:
                for _ in range(40):
                    path = generator.choice(sorted(wanted))
                    if server.get(path).body != wanted[path]:
                        wrong.append(path)
            except Exception as error:  # told below, in the thread that counts
                wrong.append(error)

        threads = [threading.Thread(target=client, args=(i,)) for i in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(wrong, [])


def check_one_thread():
    with Server("-j", "1") as server:
        equal(server.get("/v1/items").status, 200)
        equal(server.stop(signal.SIGINT), -signal.SIGINT)


# ---- the end -------------------------------------------------------------------------------------


def check_end():
    """An answer under way is finished; whoever waits is let go at once; nobody new is let in."""
    with Server("--name", "x" * 30000, "--catalogue", "long.csv") as server:
        size = server.line["page_bytes"]
        waiting, taking = server.connect(), server.connect()
        waiting.sendall(b"GET / HT")
        taking.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        data = taking.recv(1000)
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        equal(waiting.recv(10), b"")
        time.sleep(0.3)
        assert server.process.poll() is None, "it did not wait"
        # Whoever knocks now may be queued by the system, but is not answered.
        data += read_all(taking)
        equal(len(Answer(data).body), size)
        equal(server.process.wait(PATIENCE), -signal.SIGTERM)
        assert raises(OSError, lambda: server.connect())
        waiting.close()
        taking.close()


def check_unread_end():
    """Someone who never takes their answer cannot keep it from ending."""
    with Server("--catalogue", "long.csv") as server, server.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        equal(server.process.wait(PATIENCE), -signal.SIGTERM)


def check_file_gone():
    """All is in memory: the file may change or vanish."""
    with open(RELEASE, "rb") as file:
        content = file.read()
    with open("mine.safetensors", "wb") as file:
        file.write(content)
    with Server(release="mine.safetensors") as server:
        with open("mine.safetensors", "r+b") as file:
            file.write(b"x" * 100)
            file.truncate(100)
        equal(server.get("/v1/release").body, content)
        os.unlink("mine.safetensors")
        equal(server.get("/v1/release").body, content)


# ---- all of it -----------------------------------------------------------------------------------


def run(check):
    begun = time.monotonic()
    try:
        check()
        trouble = None
    except Exception:
        trouble = traceback.format_exc()
    return check, time.monotonic() - begun, trouble


def main():
    # A page of twenty megabytes, which no socket buffer swallows whole.
    with open("long.csv", "w", encoding="utf-8") as file:
        file.write("item,title\n")
        for item in ("dune", "solaris", "alien", "brazil"):
            file.write(f"{item},{'<' * 900000}\n") # six letters each, as the page writes them
    only = sys.argv[3:]
    checks = [check for name, check in sorted(globals().items())
              if name.startswith("check_") and (not only or name in only)]
    failed = 0
    # Most of the time is spent waiting: several go at once, each with a server of its own.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for check, seconds, trouble in pool.map(run, checks):
            if trouble:
                failed += 1
                print(f"FAILED {check.__name__} after {seconds:.1f} s\n{trouble}")
            elif only:
                print(f"{check.__name__}: {seconds:.1f} s")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
