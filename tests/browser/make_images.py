#!/usr/bin/python3
"""The pictures of docs/images: the page with made-up titles, as people see it.

    tests/browser/make_images.py BINARY FOLDER

The release is made anew, with noise that nobody can repeat, so each time the pictures differ a
little. With pngquant installed they are made smaller.
"""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import release_file
from chromium import Browser

RATED = [("lighthouse", 5), ("harbour", 4), ("whisper", 1), ("railway", 5), ("circus", 2)]
KINDS = ["Adventure", "Comedy", "Crime", "Drama", "Mystery", "Romance"]
ABOUT = """controller: Example Film Club, 1 Long Street, Exampletown
contact: privacy@club.example
data: Star ratings by members who have not opted out
period: 2019 to 2025
"""


def make_catalogue(folder):
    """The made-up titles with made-up kinds: what lies in one direction is of one kind."""
    _, tensors = release_file.read_release(os.path.join(folder, "release.safetensors"))
    V = tensors["item_factors"].astype(float)
    V -= V.mean(0)
    best = (V @ np.random.default_rng(3).standard_normal((V.shape[1], len(KINDS)))).argsort(1)
    with open(os.path.join(folder, "titles.csv"), encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    with open(os.path.join(folder, "kinds.csv"), "w", encoding="utf-8") as file:
        csv.writer(file).writerows([["item", "title", "genres"]] +
                                   [[item, title, "|".join(KINDS[k] for k in best[i, :-3:-1])]
                                    for i, (item, title) in enumerate(rows)])


def make_page(binary, folder):
    def dpmf(*arguments):
        subprocess.run([os.path.abspath(binary), *arguments, "-q"], cwd=folder, check=True)

    with open(os.path.join(folder, "about.txt"), "w", encoding="utf-8") as file:
        file.write(ABOUT)
    dpmf("synth", "--users", "30000", "--items", "4000", "--ratings", "2500000", "--rank", "3",
         "--noise", "1", "--seed", "7", "--catalogue-out", "titles.csv", "-o", "ratings.dpr")
    dpmf("ledger", "init", "ledger")
    dpmf("train", "ratings.dpr", "--epsilon", "2", "--rating-range", "1:5", "--catalogue",
         "titles.csv", "--about", "about.txt", "--ledger", "ledger", "-o", "release.safetensors")
    make_catalogue(folder)
    dpmf("export", "release.safetensors", "--web", "web", "--catalogue", "kinds.csv", "--name",
         "What to watch")
    return "file://" + os.path.join(folder, "web", "index.html")


def open_rated(page, url):
    page.open(url)
    for words, stars in RATED:
        page.run("dpmf.rate(dpmf.searchTitles(arguments[0]).best[0], arguments[1])", words, stars)
    page.run("document.activeElement.blur()")


def look_at(page, section):
    page.run("document.getElementById(arguments[0]).scrollIntoView()", section)
    time.sleep(1.5)  # for what moves


NAMES = [
    "page-begin", "page", "page-privacy", "page-map-dark", "page-phone", "page-phone-begin",
    "page-right-to-left"
]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    target, folder = os.path.abspath(sys.argv[2]), tempfile.mkdtemp(prefix="dpmf-images-")
    page = Browser(1280, 860)

    def take(name, selector=None):
        page.picture(os.path.join(target, name + ".png"), selector)

    try:
        url = make_page(sys.argv[1], folder)
        page.open(url)
        time.sleep(1)
        take("page-begin")
        open_rated(page, url)
        time.sleep(1.5)
        take("page")
        look_at(page, "privacy")
        take("page-privacy", "#privacy")
        page.prefer(prefers_color_scheme="dark")
        look_at(page, "map")
        take("page-map-dark", "#map")
        page.prefer()
        page.run("dpmf.TEXTS.he = dpmf.TEXTS.en; dpmf.speak('he'); scrollTo(0, 0)")
        time.sleep(1)
        take("page-right-to-left")
        page.resize(390, 844, 2)
        page.open(url)
        page.run(
            "document.querySelector('#begin-grid .star:nth-of-type(5) input').click(); "
            "scrollTo(0, 0)"
        )
        time.sleep(1.5)
        take("page-phone-begin")
        open_rated(page, url)
        page.run("document.querySelector('#pick-list .title').click()")
        time.sleep(1)
        take("page-phone")
    finally:
        page.quit()
        shutil.rmtree(folder, ignore_errors=True)
    if shutil.which("pngquant"):
        for name in NAMES:
            path = os.path.join(target, name + ".png")
            subprocess.run(["pngquant", "--force", "--skip-if-larger", "--output", path, path],
                           check=False)


if __name__ == "__main__":
    main()
