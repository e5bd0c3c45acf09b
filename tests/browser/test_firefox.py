"""The page in Firefox: one visit through all of its parts. tests/browser/run.py runs it where
Debian's Firefox is installed."""

import os

import firefox
from material import Served, Skip
from test_page import WIDE
from test_visit import RULES, events_page, facts_page


def visit(page, url):
    """Rates in the beginning and by the search, keeps, hides, undoes, filters, opens a title,
    shares."""
    page.open(url)
    assert len(page.texts("#begin-grid .title")) == 6 and len(page.texts("#pick-list .title")) == 10
    first = page.texts("#begin-grid .title")[0]
    page.click("#begin-grid .tile:first-child .star:nth-of-type(5) input")
    page.until(lambda: page.texts("#rated .title") == [first], "the first star")
    page.until(lambda: page.texts("#begin-grid .title")[0] != first, "another suggestion")
    page.keys("#search", "harvest\ue007")  # Enter
    page.until(lambda: len(page.texts("#rated .title")) == 2, "the title found")
    page.click("#rated li:first-child .star:nth-of-type(4) input")
    assert page.texts("#picks-heading") == ["For you"] and page.texts("#taste-count") == ["2"]
    for words in ["Keep", "Not for me"]:
        page.run(
            "[...document.querySelectorAll('#pick-list li:nth-child(2) .doing button')].find((b) "
            "=> b.textContent === arguments[0]).click()",
            words)
    assert len(page.texts("#later .title")) == 1 and len(page.texts("#pick-list .gone")) == 1
    page.run("document.querySelector('#pick-list .gone .strong').click()")
    assert page.texts("#pick-list .gone") == [] and page.run("return window.dpmf.hidden.size") == 0
    page.run("document.querySelector('#pick-list .title').click()")
    assert page.is_shown("#sheet") and len(page.texts("#sheet-similar .title")) == 8
    page.run("document.getElementById('sheet').close(); document.getElementById('share').click()")
    assert "#list=" in page.run("return document.getElementById('share-link').value")
    page.run("document.getElementById('share-sheet').close()")


def test_a_visit_with_firefox(_, material):
    if not os.path.exists(firefox.PATH):
        raise Skip("Firefox is not there")
    page = firefox.Firefox()
    try:
        visit(page, facts_page(material))
        page.run("document.getElementById('map').scrollIntoView()")
        page.until(
            lambda: page.run("""const c = document.getElementById("chart");
            return c.width > 300 && [...c.getContext("2d")
                .getImageData(0, 0, c.width, c.height).data].filter((x, i) => i % 4 === 3 &&
                    x > 0).length > 3000"""
                             ), "the map")
        assert page.run(RULES) == [] and page.run(WIDE) == []
        assert (page.run(
            "return performance.getEntriesByType('resource').filter((e) => "
            "!e.name.startsWith('data:')).length"
        ) == 0), ("something was loaded")
        page.run(
            "const m = document.getElementById('language'); m.value = 'ja'; m.dispatchEvent(new "
            "Event('change'))"
        )
        assert page.texts("#picks-heading") == ["あなたへのおすすめ"]
        page.run("window.dpmf.forget()")
        page.open(events_page(material))
        page.click("#begin-grid .tile:first-child .heart")
        assert len(page.texts("#rated .title")) == 1
        page.run("window.dpmf.forget()")
        offline(page, material)
    finally:
        page.quit()


def offline(page, material):
    with Served(material) as server:
        page.open(server.url)
        page.until(lambda: page.run("return Boolean(navigator.serviceWorker.controller)"),
                   "the worker")
        titles, url = page.texts("#pick-list .title"), server.url
    page.open(url)
    assert page.texts("#pick-list .title") == titles, "it does not open without its server"
