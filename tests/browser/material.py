"""What the tests of the page have in common: releases of made-up ratings, pages of them, and what
people do with a page."""

import csv
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading

import release_file

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOVIELENS = os.path.join(TREE, "..", "shared", "data", "ml-1m")


class Skip(Exception):
    pass


def compact(value):
    return json.dumps(value, separators=(",", ":"))


# ---- material -----------------------------------------------------------------------------------


class Material:
    """A release of made-up ratings, and pages of it made by dpmf itself."""

    def __init__(self, binary):
        self.binary = os.path.abspath(binary)
        self.folder = tempfile.mkdtemp(prefix="dpmf-browser-")
        self.dpmf("synth", "--users", "20000", "--items", "3000", "--ratings", "1500000", "--rank",
                  "4", "--catalogue-out", "titles.csv", "-o", "ratings.dpr")
        self.release = self.train("ratings.dpr", "titles.csv", "release.safetensors", "2")
        self.page = self.export(self.release, "titles.csv", "web", "Films & more")
        with open(self.page, encoding="utf-8") as file:
            self.text = file.read()
        with open(os.path.join(self.folder, "titles.csv"), encoding="utf-8") as file:
            self.titles = [row[1] for row in csv.reader(file)][1:]
        self.metadata, self.tensors = release_file.read_release(self.release)

    def dpmf(self, *arguments):
        done = subprocess.run([self.binary, *arguments, "-q"], cwd=self.folder, capture_output=True,
                              text=True)
        assert done.returncode == 0, f"dpmf {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def train(self, ratings, catalogue, output, epsilon, *more):
        if not os.path.exists(os.path.join(self.folder, "ledger")):
            self.dpmf("ledger", "init", "ledger")
        self.dpmf("train", ratings, *more,
                  "--replace", "--epsilon", epsilon, "--rating-range", "1:5",
                  "--catalogue", catalogue, "--ledger", "ledger", "-o", output)
        return os.path.join(self.folder, output)

    def export(self, release, catalogue, folder, name, *more):
        named = [] if name is None else ["--name", name]
        self.dpmf("export", release, "--web", folder, "--catalogue", catalogue, *named, *more)
        folder = os.path.join(self.folder, folder)
        (page,) = [name for name in os.listdir(folder) if name.endswith(".html")]
        return os.path.join(folder, page)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def variant(self, file, **parts):
        """The page with other data in it; @return its address"""
        return "file://" + self.write(file + ".html", release_file.page_with(self.text, **parts))

    def made_up(self, file, items, factors, low=1, high=5, titles=None, counted=True, facts=None):
        said = json.loads(self.metadata["dpmf.statement"])
        said.update(items=items, range={"min": low, "max": high})
        metadata, tensors = release_file.made_up_release(compact(said), items, factors, low=low,
                                                         high=high, counted=counted)
        titles = titles or [f"Title {i + 1}" for i in range(items)]
        url = self.variant(file, release=release_file.release_bytes(metadata, tensors),
                           titles=titles, statement=saying("made up", said), facts=facts)
        return url, metadata, tensors

    def stating(self, text, said, **parts):
        """Parts of a page whose release makes this statement: a value, or text for one that is no
        JSON."""
        metadata = dict(self.metadata,
                        **{"dpmf.statement": said if isinstance(said, str) else compact(said)})
        return dict(release=release_file.release_bytes(metadata, self.tensors),
                    statement=saying(text, said), **parts)

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def saying(text, said):
    """The page's block about a statement, as dpmf writes it."""
    found = said if isinstance(said, dict) else {}
    return {
        "kind": found.get("kind"),
        "assumptions": [one["sentence"] for one in found.get("assumptions", [])], "text": text,
        "statement": said
    }


class Listener:
    """A server that counts who comes: for requests that must never be made."""

    def __enter__(self):
        self.hits = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(handler):
                self.hits.append(handler.path)
                handler.send_response(200 if handler.path == "/frame" else 204)
                handler.send_header("Content-Type", "text/html")
                handler.end_headers()
                if handler.path == "/frame":  # a page for others to be shown in
                    handler.wfile.write(b"<!DOCTYPE html><title>frame</title><body></body>")

            do_POST = do_HEAD = do_OPTIONS = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Served:
    """dpmf serve, on a free port."""

    def __init__(self, material, *options):
        command = [
            material.binary, "serve", material.release, "--port", "0", "--catalogue", "titles.csv",
            "--json", "-q", *options
        ]
        self.process = subprocess.Popen(command, cwd=material.folder, stdout=subprocess.PIPE,
                                        text=True)

    def __enter__(self):
        self.url = json.loads(self.process.stdout.readline())["url"]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()


# ---- what people do -----------------------------------------------------------------------------


def type_text(page, text):
    field = page.find("#search")
    field.clear()
    field.send_keys(text)


def pick_list(page):
    return page.texts("#pick-list .title")


def be_still(page):
    """Waits for rows that slide: a click may meet another one on its way."""
    page.until(
        lambda: page.run(
            "return !document.getAnimations().some((a) => a.effect.target.tagName === 'LI')"),
        "rows that stand still")


def rate_by_search(page, words, stars):
    """With the mouse: types, clicks the first title found, clicks a star. @return the title"""
    type_text(page, words)
    page.until(lambda: page.find_all("#found li"), f"a title with {words}")
    option = page.find("#found li")
    title = page.run("return arguments[0].firstChild.textContent", option)
    option.click()
    page.until(lambda: page.texts("#rated .title")[:1] == [title], "the title among the ratings")
    be_still(page)
    page.find(f"#rated li:first-child .star:nth-of-type({stars}) input").click()
    be_still(page)
    return title


def press_in_pick(page, n, words):
    """Presses a button of the n-th recommendation, by its words."""
    be_still(page)
    page.run(
        """const row = `#pick-list li:nth-child(${arguments[0]})`;
        const button = [...document.querySelectorAll(row + " button")].find((b) =>
            b.textContent === arguments[1] && !b.hidden);
        button.scrollIntoView({ block: "center" }); button.click();""", n, words)
    be_still(page)


def import_ratings(page, material, n=5):
    """A quick start: n ratings, as a file would bring them."""
    rows = [f"{17 * i + 3},{1 + (4 * i) % 5}" for i in range(n)]
    page.run("dpmf.importText(arguments[0])", "item,rating\n" + "\n".join(rows))
    be_still(page)


def stars_of(page):
    return dict(page.run("return [...dpmf.ratings]"))
