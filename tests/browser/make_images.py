#!/usr/bin/python3
"""The pictures of docs/images: the page with made-up titles, as people see it.

    tests/browser/make_images.py BINARY FOLDER

Looks best with the fonts of Debian's fonts-inter and fonts-urw-base35. The release is made anew,
with noise that nobody can repeat, so each time the pictures differ a little. With pngquant
installed they are made smaller.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

from chromium import Browser

RATED = [("lighthouse", 5), ("harbour", 4), ("whisper", 1), ("railway", 5), ("circus", 2)]


def make_page(binary, folder):
    def dpmf(*arguments):
        subprocess.run([os.path.abspath(binary), *arguments, "-q"], cwd=folder, check=True)

    dpmf("synth", "--users", "30000", "--items", "4000", "--ratings", "2500000", "--rank", "3", "--noise", "1", "--seed", "7",
         "--catalogue-out", "titles.csv", "-o", "ratings.dpr")
    dpmf("ledger", "init", "ledger")
    dpmf("train", "ratings.dpr", "--epsilon", "1", "--rating-range", "1:5", "--catalogue", "titles.csv", "--ledger", "ledger",
         "-o", "release.safetensors")
    dpmf("export", "release.safetensors", "--web", "web", "--catalogue", "titles.csv", "--name", "What to watch")
    (name,) = [name for name in os.listdir(os.path.join(folder, "web")) if name.endswith(".html")]
    return "file://" + os.path.join(folder, "web", name)


def open_rated(page, url):
    page.open(url)
    for words, stars in RATED:
        page.run("dpmf.rate(dpmf.searchTitles(arguments[0]).best[0], arguments[1])", words, stars)
    page.run("document.activeElement.blur()")


def look_at(page, section):
    page.run("document.getElementById(arguments[0]).scrollIntoView()", section)
    time.sleep(1.5)  # for what moves


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    target, folder = os.path.abspath(sys.argv[2]), tempfile.mkdtemp(prefix="dpmf-images-")
    page = Browser(1280, 860)
    try:
        url = make_page(sys.argv[1], folder)
        open_rated(page, url)
        time.sleep(1)
        page.picture(os.path.join(target, "page.png"))
        look_at(page, "privacy")
        page.picture(os.path.join(target, "page-privacy.png"), "#privacy")
        page.prefer(prefers_color_scheme="dark")
        look_at(page, "map")
        page.picture(os.path.join(target, "page-map-dark.png"), "#map")
        page.prefer()
        page.resize(390, 844, 2)
        open_rated(page, url)
        page.run("document.querySelector('#pick-list .title').click()")
        time.sleep(1)
        page.picture(os.path.join(target, "page-phone.png"))
    finally:
        page.quit()
        shutil.rmtree(folder, ignore_errors=True)
    if shutil.which("pngquant"):
        for name in ["page", "page-privacy", "page-map-dark", "page-phone"]:
            path = os.path.join(target, name + ".png")
            subprocess.run(["pngquant", "--force", "--skip-if-larger", "--output", path, path], check=False)


if __name__ == "__main__":
    main()
