"""A visit to the page, part by part: the beginning, hearts, the dial and reasons, what is kept,
filtered, undone, shared and printed, languages, phones, and the rules of accessibility that matter.
tests/browser/run.py runs it."""

import csv
import io
import json
import os
import re
import time

import numpy as np
from selenium.webdriver.common.keys import Keys

import release_file
from test_page import ATTEMPTS, CONTRAST, WIDE
from material import (Listener, Served, be_still, import_ratings, pick_list, press_in_pick,
                      rate_by_search, saying, stars_of, type_text)


def tile_titles(page):
    return page.texts("#begin-grid .tile:not([hidden]) .title")


def rate_tile(page, n, stars):
    """A star of the n-th tile, which then makes room for another."""
    title = tile_titles(page)[n - 1]
    page.run("document.querySelector(arguments[0]).click()",
             f"#begin-grid .tile:nth-child({n}) .star:nth-of-type({stars}) input")
    page.until(lambda: title not in tile_titles(page) or not page.is_shown("#begin"),
               "another suggestion")
    return title


# ---- the beginning ------------------------------------------------------------------------------


def test_the_beginning_is_varied_and_known(page, material):
    page.open("file://" + material.page)
    items = page.run("return dpmf.tiles")
    counts = material.tensors["item_counts"]
    rank = {int(item): place for place, item in enumerate((-counts).argsort(kind="stable"))}
    assert (len(set(items)) == 6 and
            all(rank[item] < len(counts) / 12 for item in items)), [rank[item] for item in items]
    V = material.tensors["item_factors"].astype(float)
    known = V[(-counts).argsort(kind="stable")[:250]]
    U = (V - known.mean(0)) / ((V - known.mean(0)) ** 2).sum(1, keepdims=True) ** 0.5
    like = lambda some: max(float(U[a] @ U[b]) for a in some for b in some if a < b)
    popular = [int(item) for item in (-counts).argsort(kind="stable")[:6]]
    assert like(items) < 0.7 and like(items) < like(popular), "suggestions are alike"
    assert (page.is_shown("#begin") and
            page.texts("#begin-grid .title") == [material.titles[item] for item in items])


def test_the_beginning_of_other_releases(page, material):
    for items, factors in [(300, 8), (300, 64), (300, 1), (300, 0), (4, 3)]:
        url, _, _ = material.made_up("begin", items, factors)
        page.open(url)
        assert len(set(page.run("return dpmf.tiles")) - {-1}) == min(6, items), (items, factors)
        for _ in range(min(items, 12)):
            page.run("document.querySelector('#begin-grid .tile:not([hidden]) .quiet')?.click()")
        assert ((items > 6) == bool(tile_titles(page)) and
                (items > 6) != (page.text("#begin-lead") == "There is nothing left to suggest."))
        assert (said := page.console()) == [], said


def test_the_beginning_adapts_and_ends(page, material):
    page.open("file://" + material.page)
    before = tile_titles(page)
    page.find("#begin-grid .tile:nth-child(2) .quiet").click()
    after = tile_titles(page)
    assert (after[1] != before[1] and
            after[:1] + after[2:] == before[:1] + before[2:]), ("only the skipped one goes")
    assert page.focused("e.textContent") == "Skip" and stars_of(page) == {}
    rated = [rate_tile(page, n, stars) for n, stars in [(1, 5), (3, 1), (1, 4), (2, 5)]]
    assert page.is_shown("#begin") and len(set(rated)) == 4
    rated.append(tile_titles(page)[0])
    page.run(
        "document.querySelector('#begin-grid .tile:nth-child(1) .star:nth-of-type(5) "
        "input').click()"
    )
    page.until(lambda: not page.is_shown("#begin"), "the end of the beginning")
    assert page.texts("#rated .title") == rated[::-1] and page.text("#picks-heading") == "For you"
    page.find("#begin-more").click()
    assert page.is_shown("#begin") and not set(tile_titles(page)) & set(rated + before[1:2])
    page.find("#begin-done").click()
    assert not page.is_shown("#begin")


# ---- hearts -------------------------------------------------------------------------------------


def events_page(material):
    if not hasattr(material, "events"):
        material.dpmf("train", "ratings.dpr", "--goal", "ranking", "--like", "4", "--epsilon", "5",
                      "--catalogue", "titles.csv", "--ledger", "ledger", "-o", "events.safetensors")
        material.events = material.export(os.path.join(material.folder, "events.safetensors"),
                                          "titles.csv", "events", "Plays")
    return "file://" + material.events


def test_hearts_for_events(page, material):
    page.open(events_page(material))
    assert page.text("#taste-heading").strip() == "What you like" and not page.find_all(".star")
    first = tile_titles(page)[0]
    page.find("#begin-grid .tile:first-child .heart").click()
    page.until(lambda: page.texts("#rated .title") == [first], "what was liked")
    type_text(page, "harbour")
    page.press(Keys.ENTER)
    assert len(stars_of(page)) == 2 and set(stars_of(page).values()) == {1}
    title = page.texts("#rated .title")[0]
    assert "harbour" in title.lower() and page.focused("e.getAttribute('aria-pressed')") == "true"
    assert (title not in pick_list(page) and
            page.texts("#pick-list .score b") == [str(i + 1) for i in range(10)])
    near = "dpmf.similar(arguments[0], 5).forEach(({ item }) => dpmf.rate(item, 1))"
    page.run(f"{near}; dpmf.rate(dpmf.picks[0].item, 1, 'picks')", list(stars_of(page))[0])
    page.run(
        "const d = document.getElementById('dial'); d.value = 1; d.dispatchEvent(new "
        "Event('input')); dpmf.rate(dpmf.picks[0].item, 1, 'picks')"
    )
    whys = page.texts("#pick-list .why")
    reasons = page.run("return dpmf.picks.map(({ item }) => dpmf.explain(item).reason)")
    words = {
        "taste": "To your taste: you like ", "crowd": "Popular with nearly everyone",
        "neither": "Among the best of the rest"
    }
    assert (whys[0] == "Now among what you like" and
            all(why.startswith(words[reason])
                for why, reason in list(zip(whys, reasons))[1:])), whys
    own = len(stars_of(page))
    page.find("#rated li:first-child .heart").click()
    assert len(stars_of(page)) == own - 1, "a second press takes it back"
    page.until(
        lambda: page.run("return document.getAnimations().every((a) => a.playState !== 'running')"),
        "rows in their places")
    page.find("#pick-list li:nth-child(2) .title").click()
    names = page.texts(".why-table th[scope=row]")
    assert (names[:2] == ["liked by everyone", "your taste"] and names[-1] == "together" and
            not page.find_all(".expected"))
    assert page.text(".yours span") == "I like it", "there are no ratings here"
    page.press(Keys.ESCAPE)
    title = pick_list(page)[1]
    page.run(
        """dpmf.bringFiles([{ name: "ratings.csv",
            bytes: new TextEncoder().encode(arguments[0]) }])""",
        f'Date,Name,Year,Letterboxd URI,Rating\n2021-01-01,"{title[:-7]}",{title[-5:-1]},u,1\n')
    assert page.texts("#history-seen li")[0].startswith("Each counts as one that you like"), title
    page.press(Keys.ESCAPE)
    assert (said := page.console()) == [], said


def test_hearts_equal_the_command_line(page, material):
    page.open(events_page(material))
    page.run("dpmf.importText(arguments[0])", "item\n" + "\n".join(["3", "17", "200", "1000"]))
    assert list(stars_of(page)) == [2, 16, 199, 999], "a file without ratings is a list of likes"
    page.run("dpmf.importText(arguments[0])", "item,rating\n5,3.5\n7,1\n")
    assert list(stars_of(page)) == [2, 16, 199, 999], "ratings below what counts as a like are none"
    told = material.dpmf("recommend", os.path.join(material.folder, "events.safetensors"),
                         "--ratings", "3:4,17:5,200,1000:4.5,5:3.5,7:1", "-n", "10", "--json",
                         "--catalogue", "titles.csv")
    told = [json.loads(line) for line in told.splitlines()]
    found = page.run("return dpmf.recommend(10)")
    numbers = [str(int(row["item"]) + 1) for row in found]
    assert [row["item"] for row in told] == numbers, "another order than on the command line"
    assert max(abs(row["score"] - own["score"]) for row, own in zip(told, found)) < 1e-9
    parts = page.run("return dpmf.explain(dpmf.picks[0].item)")
    assert (abs(sum(entry["share"] for entry in parts["shares"]) - parts["taste"]) < 1e-9 and
            parts["habit"] == 0)
    assert (page.run("return dpmf.exportText()").splitlines()[:2] == [
        "item,rating,title,list", f"3,4,{page.run('return dpmf.titles[2]')},"
    ])


def test_hearts_are_no_ratings_in_words(page, material):
    page.open(events_page(material))
    for text, words in [("item\n3\n17\n", "2 titles loaded."),
                        ("item,rating\n5,5\nx,5\n", "1 title loaded; 1 line left out:"),
                        ("item\nx\n", "Nothing in that file could be used."),
                        ("item,rating\n7,often\n", "Nothing in that file could be used."),
                        ("user,item\n1,3\n2,4\n", "That file is about 2 people.")]:
        page.run("dpmf.importText(arguments[0])", text)
        assert page.text("#notice").startswith(words), (text, page.text("#notice"))
    page.find("#remember").click()
    assert page.text("#notice").startswith("What you like is kept in this browser"), "remembered"
    page.find("#remember").click()
    page.find("#forget").click()
    assert page.text("#sure").strip().startswith("Forget what you like"), page.text("#sure")
    page.find("#sure-no").click()
    page.find("#pick-list .title").click()
    page.press(Keys.ESCAPE)
    for language in ["en", "de", "fr", "es", "ja"]:
        page.run(
            "const m = document.getElementById('language'); m.value = arguments[0]; "
            "m.dispatchEvent(new Event('change'))", language)
        said = page.run("return document.querySelector('main').innerText")
        for word in ["rating", "rated", "stars", "Bewert", "Sterne", "note ", "notes",
                     "puntua", "estrellas", "評価"]:
            assert word not in said, (language, word)
    page.run("const m = document.getElementById('language'); m.value = 'en'; "
             "m.dispatchEvent(new Event('change')); dpmf.forget()")


def test_a_statement_of_events_is_one_of_events(page, material):
    metadata, tensors = release_file.read_release(
        os.path.join(material.folder, "events.safetensors"))
    assert json.loads(metadata["dpmf.statement"])["goal"] == "ranking"
    page.open(events_page(material))
    assert page.text("#guess-figure").endswith("of 100 times") and not page.is_shown("#not-private")


# ---- recommendations ----------------------------------------------------------------------------


def test_what_is_similar_by_chance(page, material):
    """Random vectors of 300 titles are alike by chance; those of thirty groups are not."""
    random = np.random.default_rng(1)
    groups = np.repeat(random.standard_normal((30, 40)), 10, axis=0)

    def open_page(name, vectors):
        _, metadata, tensors = material.made_up(name, 300, vectors.shape[1])
        tensors["item_factors"] = vectors.astype("<f4")
        release = release_file.release_bytes(metadata, tensors)
        statement = saying("made up", json.loads(metadata["dpmf.statement"]))
        page.open(material.variant(name, release=release, statement=statement,
                                   titles=[f"Title {i + 1}" for i in range(300)]))
        page.find("#pick-list .title").click()
        return material.write(name + ".safetensors", release)

    path = open_page("few", random.standard_normal((300, 3)))
    words = r"This list says little: by chance alone, (\d+) titles? would be as similar"
    said = re.match(words, page.text("#sheet-doubt"))
    assert said, page.text("#sheet-doubt")
    item = page.run("return dpmf.picks[0].item")
    told = material.dpmf("similar", path, "--item", str(item + 1), "-n", "8", "--json")
    assert round(json.loads(told.splitlines()[-1])["by_chance"]) == int(said[1]), told
    page.find("#sheet-alike").click()
    assert re.search(words, page.text("#picks-lead")), page.text("#picks-lead")
    page.find("#alike-end").click()
    assert "by chance" not in page.text("#picks-lead")
    open_page("many", groups + 0.1 * random.standard_normal((300, 40)))
    assert page.text("#sheet-doubt") == "" and page.texts("#sheet-similar .title")
    page.press(Keys.ESCAPE)
    press_in_pick(page, 1, "More like this")
    assert page.text("#picks-lead").startswith("Liked by the same people, the most alike first.")


def test_more_like_this(page, material):
    page.open("file://" + material.page)
    import_ratings(page, material)
    before, item = pick_list(page), page.run("return dpmf.picks[2].item")
    press_in_pick(page, 3, "More like this")
    assert page.text("#picks-heading") == f"More like {before[2]}" and page.focused() == "picks"
    similar = page.run("return dpmf.similar(arguments[0], 30).map(({ item }) => dpmf.titles[item])",
                       item)
    rated = set(page.texts("#rated .title"))
    assert pick_list(page) == [title for title in similar if title not in rated][:10]
    assert (not page.is_shown("#dial-box") and
            page.texts("#pick-list .why")[0] == f"Liked by those who like {before[2]}")
    page.find("#alike-end").click()
    assert pick_list(page) == before and page.text("#picks-heading") == "For you"
    be_still(page)
    page.find("#pick-list .title").click()
    page.find("#sheet-alike").click()
    assert (not page.run("return document.getElementById('sheet').open") and
            page.text("#picks-heading") == f"More like {before[0]}")


def test_kept_for_later(page, material):
    page.open("file://" + material.page)
    import_ratings(page, material)
    titles = pick_list(page)
    press_in_pick(page, 2, "Keep")
    press_in_pick(page, 5, "Keep")
    assert (page.texts("#later .title") == [titles[4], titles[1]] and
            page.text("#later-count") == "2")
    assert pick_list(page) == titles, "what is kept may still be recommended"
    assert page.text("#pick-list li:nth-child(2) .doing .quiet") == "Kept"
    rows = list(csv.reader(io.StringIO(page.run("return dpmf.exportText()"))))
    assert (rows[0] == ["item", "rating", "title", "list"] and
            [row[2] for row in rows if row[3] == "later"] == [titles[1], titles[4]])
    saved, own = page.run("return dpmf.exportText()"), stars_of(page)
    page.run("dpmf.forget()")
    assert page.texts("#later .title") == [] and page.is_shown("#later-empty")
    assert page.run("return dpmf.importText(arguments[0]).loaded", saved) == len(own) + 2
    assert page.texts("#later .title") == [titles[4], titles[1]] and stars_of(page) == own
    page.find("#later li:first-child .round").click()
    assert page.texts("#later .title") == [titles[1]]


def test_the_words_above_the_list_say_what_orders_it(page, material):
    """The dial at the crowd has no taste in it; points are no stars; without counts, neither is
    so."""
    page.open("file://" + material.page)
    assert page.text("#picks-lead").startswith("What many people know and like.")
    import_ratings(page, material)
    assert page.text("#picks-lead").startswith("What you would most likely choose comes first")
    page.find("#dial").send_keys(Keys.HOME)
    assert "whatever your taste" in page.text("#picks-lead"), page.text("#picks-lead")
    page.find("#pick-list .title").click()
    assert "they are not stars" in page.text(".why-table caption")
    url, _, _ = material.made_up("uncounted", 300, 8, counted=False)
    page.open(url)
    assert page.text("#picks-lead").startswith("What people in general rate highly.")
    page.run("dpmf.rate(10, 5)")
    assert page.text("#picks-lead").startswith("The highest expected ratings come first.")
    be_still(page)
    page.find("#pick-list .title").click()
    assert page.text(".why-table caption") == "How its score in the list adds up"


def test_what_closing_takes_away_is_said(page, material):
    page.open("file://" + material.page)
    assert page.is_shown("#keeping-heading") and not page.is_shown("#keep-gone")
    page.run("dpmf.keep(30)")
    assert page.is_shown("#keep-gone")
    page.find("#remember-tab").click()
    assert not page.is_shown("#keep-gone")
    page.find("#remember-tab").click()
    assert page.is_shown("#keep-gone")
    page.find("#export").click()
    assert not page.is_shown("#keep-gone")
    page.run("dpmf.rate(30, 4)")
    assert page.is_shown("#keep-gone") and page.text("#later .facts").endswith("you gave 4")


def test_three_stars_point_to_the_list(page, material):
    page.open("file://" + material.page)
    for n in (1, 2, 3):
        assert page.text("#begin-done") == "Done"
        rate_tile(page, n, 5)
    assert (page.text("#begin-done") == "See my list" and
            page.text("#begin-lead").startswith("Enough for a start"))
    page.find("#begin-done").click()
    assert not page.is_shown("#begin") and page.focused() == "picks"


def test_nothing_lies_on_the_map(page, material):
    """Buttons on it covered titles, and the person."""
    try:
        for width, height in [(1280, 860), (390, 844), (320, 640)]:
            page.resize(width, height)
            page.open("file://" + material.page)
            page.run("dpmf.rate(10, 5)")
            page.run("document.getElementById('chart').scrollIntoView()")
            over = page.run("""const box = (e) => e.getBoundingClientRect();
                const map = box(document.getElementById("chart"));
                return [...document.querySelectorAll("#map button")].filter((b) => b.offsetParent &&
                    box(b).top < map.bottom && box(b).bottom > map.top).map((b) => b.id);""")
            assert over == [], (width, over)
    finally:
        page.resize(1280, 860)


def test_a_page_without_a_name_has_one_in_every_language(page, material):
    """The name that dpmf gives is translated, and memory does not depend on the language."""
    name = material.export(material.release, "titles.csv", "nameless", None)
    page.open("file://" + name)
    english = page.text("#name")
    assert english == page.run("return dpmf.TEXTS.en.pageName") == page.driver.title
    page.find("#remember").click()
    page.run("dpmf.rate(10, 5); dpmf.speak('de')")
    assert page.text("#name") == "Empfehlungen, zu Hause berechnet" == page.driver.title
    page.run("dpmf.rate(11, 4)")
    assert page.run("return Object.keys(localStorage).length") == 1, "one memory for all languages"
    page.run("dpmf.forget()")
    page.open("file://" + material.page)
    before = page.text("#name")
    page.run("dpmf.speak('de')")
    assert page.text("#name") == before != english, "a publisher's name stays"
    page.run("dpmf.speak('en')")


def test_dial_has_words(page, material):
    page.open("file://" + material.page)
    import_ratings(page, material)
    dial = page.find("#dial")
    dial.send_keys(Keys.ARROW_RIGHT)
    assert dial.get_attribute("aria-valuetext") == "55 percent my taste"
    begun = page.run("""const times = [], dial = document.getElementById("dial");
        for (let i = 0; i <= 20; i++) { const begun = performance.now(); dial.value = i / 20;
            dial.dispatchEvent(new Event("input"));
            times.push(performance.now() - begun); }
        return times.sort((a, b) => a - b)[10];""")
    return f"the dial changes the list in {begun:.1f} ms"


KINDS = ["Comedy", "Drama", "Sci-Fi", "Western"]


def facts_page(material):
    """A page whose catalogue has kinds and years: item i is of the kinds i % 4 and, every fifth,
    Comedy; of the year 1950 + i % 60."""
    if not hasattr(material, "facts"):
        rows = [[
            str(i + 1), title, 1950 + i % 60,
            "|".join(dict.fromkeys([KINDS[i % 4]] + (["Comedy"] if i % 5 == 0 else [])))
        ] for i, title in enumerate(material.titles)]
        text = io.StringIO()
        csv.writer(text,
                   lineterminator="\n").writerows([["item", "title", "year", "genres"]] + rows)
        material.write("facts.csv", text.getvalue())
        material.facts = material.export(material.release, "facts.csv", "facts", "Facts")
    return "file://" + material.facts


def choose_kind(page, kind):
    page.run("[...document.querySelectorAll('#filter-kinds .chip')].find((c) => c.textContent === "
             f"'{kind}').click()")


def test_filter(page, material):
    page.open(facts_page(material))
    import_ratings(page, material)
    page.find("#filter summary").click()
    assert sorted(page.texts("#filter-kinds .chip")) == KINDS
    everything = pick_list(page)
    choose_kind(page, "Sci-Fi")  # without it, chance decides whether one is in the list
    facts = page.texts("#pick-list .facts")
    assert facts and all("Sci-\u2060Fi" in fact for fact in facts), "a line could end within a kind"
    page.find("#filter-clear").click()
    assert pick_list(page) == everything
    choose_kind(page, "Western")
    items = page.run("return dpmf.recommend(50).map(({ item }) => item)")
    assert (items and all(item % 4 == 3 for item in items) and
            page.text("#filter-note") == "750 titles fit")
    assert all("Western" in facts for facts in page.texts("#pick-list .facts"))
    page.run(
        "const s = document.getElementById('filter-from'); s.value = 1990; s.dispatchEvent(new "
        "Event('change'))"
    )
    items = page.run("return dpmf.recommend(50).map(({ item }) => item)")
    assert items and all(item % 4 == 3 and item % 60 >= 40 for item in items)
    whole = page.run("return dpmf.recommend(1000).length")
    assert (whole == sum(1 for i in range(3000)
                         if i % 4 == 3 and i % 60 >= 40 and i not in stars_of(page)))
    press_in_pick(page, 1, "More like this")
    assert all(
        "Western" in facts
        for facts in page.texts("#pick-list .facts")), ("the filter holds for similar titles too")
    page.find("#alike-end").click()
    page.find("#filter-clear").click()
    assert pick_list(page) == everything and not page.is_shown("#filter-clear")
    page.open(material.variant("plain", titles=material.titles))
    assert not page.is_shown("#filter"), "a filter without facts"


def test_facts_that_are_not_of_these_titles(page, material):
    page.open(facts_page(material))
    with open(material.facts, encoding="utf-8") as file:
        text = file.read()
    for facts in [
            "{}", "[]", "5", "x", '{"kinds":["a"],"of":[],"years":[]}',
            '{"kinds":[1],"of":[[0]],"years":[1]}'
    ]:
        changed = re.sub(r'(id="dpmf-facts">)[^<]*', lambda match: match[1] + facts, text)
        page.driver.get("file://" + material.write("facts-bad.html", changed))
        page.until(lambda: page.is_shown("#trouble"), "a word about facts")
        assert ("What it says about its titles does not belong to them"
                in page.text("#trouble")), facts
    page.console()


# ---- what publishers give it --------------------------------------------------------------------


def test_look(page, material):
    svg = (
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'><rect width='9' height='9' "
        "fill='red'/><script>window.top.hacked = 1</script></svg>"
    )
    material.write("logo.svg", svg)
    os.makedirs(os.path.join(material.folder, "covers"), exist_ok=True)
    page.open("file://" + material.page)
    first = page.run("return dpmf.picks[0].item")
    material.write(f"covers/{first + 1}.svg", svg)
    material.write("links.csv", "About us,https://example.org/about\n")
    for colour in ["#ffee00", "#000033", "#8a1538"]:
        url = "file://" + material.export(material.release, "titles.csv", "look", "Look",
                                          "--replace", "--colour", colour, "--logo", "logo.svg",
                                          "--covers", "covers", "--links", "links.csv")
        for scheme in ["light", "dark"]:
            page.prefer(prefers_color_scheme=scheme)
            page.open(url)
            import_ratings(page, material)
            worst = page.run(CONTRAST)["worst"]
            assert worst[0] >= 4.5, (colour, scheme, worst)
    page.prefer()
    page.open(url)
    assert (page.run(
        "const i = document.getElementById('logo'); return i.complete && i.naturalWidth > 0") and
            page.is_shown("#logo"))
    assert page.run("return document.querySelectorAll('#pick-list .cover').length") == 1
    link = page.find(".links a")
    assert (link.get_attribute("href") == "https://example.org/about" and
            "noopener" in link.get_attribute("rel"))
    assert not page.run("return Boolean(window.hacked)") and page.console() == []


def test_a_look_that_dpmf_did_not_make(page, material):
    look = ('{"accent":"red;x","logo":"https://example.org/x.png",'
            '"covers":{"1":"data:text/html;base64,AAAA"}}')
    for look in [look, "[]", "x", '{"covers":5}']:
        changed = material.text.replace(
            "<script type=\"application/json\" id=\"dpmf-items\">",
            f'<script type="application/json" id="dpmf-look">{look}</script><script '
            'type="application/json" id="dpmf-items">'
        )
        page.open("file://" + material.write("look-bad.html", changed))
        assert (not page.is_shown("#logo") and not page.find_all(".cover") and
                len(pick_list(page)) == 10), look
    assert (said := page.console()) == [], said


def test_offline_when_served(page, material):
    with Served(material) as server:
        page.open(server.url)
        assert page.run_later("navigator.serviceWorker.ready.then(() => arguments[0](true))")
        errors = page.command("Page.getInstallabilityErrors")["installabilityErrors"]
        errors = [error["errorId"] for error in errors if error["errorId"] not in ("in-incognito",)]
        policy = page.run("return document.querySelector('meta[http-equiv]').content")
        assert (policy.endswith("worker-src 'self'; manifest-src 'self'") and
                "connect-src 'none'" in policy)
        titles = pick_list(page)
        url = server.url
    page.open(url)  # the server is gone
    assert pick_list(page) == titles
    rate_by_search(page, "harvest", 5)
    with Listener() as listener:
        assert page.run_later(ATTEMPTS, listener.url) == 17
        assert listener.hits == [], listener.hits
    page.run_later("""const done = arguments[0];
        navigator.serviceWorker.getRegistrations()
            .then((all) => Promise.all(all.map((one) => one.unregister()))).then(() => done());"""
                   )
    page.console()
    assert errors == [], errors


def test_frames(page, material):
    with Listener() as outside:
        origin = outside.url.rstrip("/")
        for options, is_shown in [([], False), (["--embed", origin], True)]:
            with Served(material, *options) as server:
                page.driver.get(outside.url + "frame")
                page.run(
                    "document.body.innerHTML = `<iframe src='${arguments[0]}' "
                    "style='width:400px;height:600px'></iframe>`",
                    server.url)
                time.sleep(1.5)
                page.driver.switch_to.frame(0)
                assert bool(page.find_all("#pick-list li")) == is_shown, options
                page.driver.switch_to.default_content()
    page.console()


# ---- nothing lost -------------------------------------------------------------------------------


def test_a_message_goes_once_the_pointer_left_it(page, material):
    page.open("file://" + material.page)
    page.run("dpmf.rate(10, 5); dpmf.rate(10, null)")
    box = page.run("const { x, y } = document.getElementById('toast').getBoundingClientRect(); "
                   "return [x + 5, y + 5]")
    page.command("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
    assert page.run("return document.getElementById('toast').matches(':hover')")
    page.run_later("setTimeout(arguments[0], 6500)")
    assert page.is_shown("#toast"), "it goes while a pointer rests on it"
    page.command("Input.dispatchMouseEvent", type="mouseMoved", x=5, y=5)
    page.until(lambda: not page.is_shown("#toast"), "the end of the message")


def test_undo(page, material):
    page.open("file://" + material.page)
    assert not page.find("#undo").is_enabled()
    page.run("dpmf.rate(10, 5); dpmf.rate(20, 2); dpmf.rate(10, 3); dpmf.keep(30)")
    press_in_pick(page, 1, "Not for me")
    states = []
    while page.find("#undo").is_enabled():
        states.append(
            (stars_of(page), page.run("return [[...dpmf.later], [...dpmf.hidden].length]")))
        page.run("document.getElementById('undo').click()")
    assert (states == [({10: 3, 20: 2}, [[30], 1]), ({10: 3, 20: 2}, [[30], 0]),
                       ({10: 3, 20: 2}, [[], 0]), ({10: 5, 20: 2}, [[], 0]), ({10: 5}, [[], 0])])
    assert stars_of(page) == {} and not page.run("return dpmf.hidden.size")
    import_ratings(page, material, 12)
    own, order, scores = stars_of(page), pick_list(page), page.run("return dpmf.recommend(20)")
    page.find("#forget").click()
    page.find("#sure-yes").click()
    assert stars_of(page) == {} and page.is_shown("#toast")
    page.find("#toast-undo").click()
    assert (list(stars_of(page).items()) == list(own.items()) and
            pick_list(page) == order), ("forgetting can be undone")
    again = page.run("return dpmf.recommend(20)")
    assert all(a["item"] == b["item"] and abs(a["score"] - b["score"]) < 1e-9
               for a, b in zip(scores, again))
    page.run("document.body.focus()")
    page.find("body").send_keys(Keys.CONTROL, "z")
    assert stars_of(page) == {}, "Ctrl+Z undoes the file"


def test_an_undo_takes_back_what_stands_beside_it(page, material):
    """A word about one thing must not undo another that was done since."""
    page.open("file://" + material.page)
    import_ratings(page, material)
    press_in_pick(page, 2, "Keep")
    assert page.is_shown("#toast")
    press_in_pick(page, 4, "Not for me")
    assert not page.is_shown("#toast"), page.text("#toast")
    hidden, kept = page.run("return [[...dpmf.hidden], [...dpmf.later]]")
    press_in_pick(page, 6, "Keep")
    press_in_pick(page, 4, "Undo")
    assert page.run("return [dpmf.hidden.size, dpmf.later.size]") == [0, 2], "the wrong one"
    page.find("#undo").click()
    page.find("#undo").click()
    assert page.run("return [[...dpmf.hidden], [...dpmf.later]]") == [hidden, kept]


def test_a_skip_and_a_star_of_the_beginning_can_be_undone(page, material):
    """The title is back in its place, and may be rated."""
    page.open("file://" + material.page)
    before = tile_titles(page)
    page.find("#begin-grid .tile:nth-child(2) .quiet").click()
    assert tile_titles(page) != before
    page.press(Keys.CONTROL + "z")
    assert tile_titles(page) == before and not page.find("#undo").is_enabled()
    rate_tile(page, 3, 5)
    page.find("#undo").click()
    assert tile_titles(page) == before and stars_of(page) == {}
    assert rate_tile(page, 3, 4) == before[2] and list(stars_of(page).values()) == [4]


def test_a_reload_keeps_what_the_tab_may_keep(page, material):
    page.open("file://" + material.page)
    page.run("localStorage.clear(); sessionStorage.clear()")
    import_ratings(page, material)
    assert page.run("return sessionStorage.length + localStorage.length") == 0, (
        "kept without being asked")
    page.find("#remember-tab").click()
    press_in_pick(page, 2, "Keep")
    own, later = stars_of(page), page.texts("#later .title")
    page.open("file://" + material.page)
    assert (stars_of(page) == own and page.texts("#later .title") == later and
            page.find("#remember-tab").is_selected())
    assert page.run("return localStorage.length") == 0 and not page.find("#remember").is_selected()
    page.find("#remember-tab").click()
    assert page.run("return sessionStorage.length") == 0


def test_leaving_asks_when_something_would_be_lost(page, material):
    page.open("file://" + material.page)
    asks = (
        "const e = new Event('beforeunload', { cancelable: true }); dispatchEvent(e); return "
        "e.defaultPrevented"
    )
    assert not page.run(asks), "asks though there is nothing to lose"
    page.run("dpmf.rate(10, 5)")
    assert page.run(asks)
    page.find("#remember-tab").click()
    assert not page.run(asks), "asks though it is kept"
    page.find("#remember-tab").click()
    page.find("#export").click()
    assert not page.run(asks), "asks though it was saved"
    page.run("dpmf.rate(11, 5)")
    assert page.run(asks), "the file does not have the last one"
    page.run("dpmf.forget()")


def test_sharing_a_list(page, material):
    page.open("file://" + material.page)
    import_ratings(page, material)
    press_in_pick(page, 1, "Keep")
    press_in_pick(page, 3, "Keep")
    titles = page.texts("#later .title")[::-1]
    page.network_requests()
    page.find("#share").click()
    link = page.find("#share-link").get_attribute("value")
    assert re.fullmatch(r"file://[^#]*#list=\d+,\d+", link), link
    assert (page.texts("#share-titles li") == titles and
            "opened from a file" in page.text("#share-note"))
    page.press(Keys.ESCAPE)
    assert [url for url in page.network_requests() if not url.startswith("data:")] == []
    page.driver.get("about:blank")
    page.open(link)
    page.until(lambda: page.is_shown("#shared"), "the list")
    assert (page.texts("#shared-list li") == titles and
            page.texts("#later .title") == []), ("nothing is kept unasked")
    assert "#list" not in page.run("return document.URL")
    page.find("#shared-take").click()
    assert page.texts("#later .title") == titles[::-1] and page.is_shown("#toast")
    for behind in ["#list=", "#list=%", "#list=%ff", "#list=" + "9" * 5000, "#list=<b>,no such"]:
        page.driver.get("about:blank")
        page.open("file://" + material.page + behind)
        assert page.texts("#shared-list li") == [] and page.texts("#later .title") == [], behind
    assert (said := page.console()) == [], said


def test_printing(page, material):
    page.open("file://" + material.page)
    import_ratings(page, material)
    press_in_pick(page, 1, "Keep")
    page.command("Emulation.setEmulatedMedia", media="print")
    try:
        for selector, is_there in [("#rated", True), ("#pick-list", True), ("#later", True),
                                   ("#privacy", True), ("#search", False), ("#map", False),
                                   ("#dial", False), ("#undo", False), ("#pick-list .doing", False),
                                   ("#toast", False)]:
            assert page.is_shown(selector) == is_there, selector
        page.run("dpmf.undo()")
        assert not page.is_shown("#later-card"), "an empty list is printed"
        assert not page.is_shown("#keeping"), "a heading over buttons that are not there"
    finally:
        page.command("Emulation.setEmulatedMedia", media="")


# ---- languages ----------------------------------------------------------------------------------


def test_languages_have_the_same_texts(page, material):
    page.open("file://" + material.page)
    texts = page.run("return dpmf.TEXTS")
    assert set(texts) == {"en", "de", "fr", "es", "ja"}
    marks = lambda text: sorted(set(re.findall(r"\{\w+\}", text)))
    for tag, own in texts.items():
        assert set(own) == set(texts["en"]), (tag, set(own) ^ set(texts["en"]))
        for name, text in own.items():
            forms, english = (value if isinstance(value, list) else [value]
                              for value in (text, texts["en"][name]))
            assert (isinstance(text, list) == isinstance(texts["en"][name], list) and
                    all(form.strip() for form in forms)), (tag, name)
            assert all(marks(form) == marks(english[-1]) for form in forms), (tag, name, forms)
        same = sum(1 for name in own if own[name] == texts["en"][name])
        assert tag == "en" or same < 0.1 * len(own), f"{same} texts of {tag} are English"
    named = set(re.findall(r'data-t(?:-[a-z-]+)?="(\w+)"', material.text))
    assert named <= set(texts["en"]), named - set(texts["en"])


def test_speaking_another_language(page, material):
    page.open("file://" + material.page)
    import_ratings(page, material, 5)
    titles = pick_list(page)
    english = set(
        page.run(
            "return Object.values(dpmf.TEXTS.en).flat().filter((text) => !text.includes('{') && "
            "text.length > 12)"
        ))
    for tag, heading in [("de", "Für Sie"), ("fr", "Pour vous"), ("es", "Para ti"),
                         ("ja", "あなたへのおすすめ"), ("en", "For you")]:
        page.run(
            "const m = document.getElementById('language'); m.value = arguments[0]; "
            "m.dispatchEvent(new Event('change'))",
            tag)
        assert (page.text("#picks-heading") == heading and
                page.run("return document.documentElement.lang") == tag)
        assert (pick_list(page) == titles and
                len(stars_of(page)) == 5), ("the language changed more than the words")
        point = "," if tag in ["de", "fr", "es"] else "."
        assert re.match(rf"\d[{point}]\d\D", page.text("#pick-list .score")), "another number"
        english_limits = page.run("return document.querySelectorAll('#limits [lang=en]').length")
        assert english_limits == 0, "what is not covered is in English"
        page.find("#pick-list .title").click()
        left = [
            text for text in page.run(
                """const all = []; const walk = document.createTreeWalker(document.body,
                    NodeFilter.SHOW_TEXT);
            const other = "script, style, #statement, noscript, [lang=en]";
            while (walk.nextNode())
                if (!walk.currentNode.parentElement.closest(other))
                    all.push(walk.currentNode.data.trim());
            for (const e of document.querySelectorAll("[aria-label], [title], [placeholder]"))
                all.push(e.ariaLabel ?? "", e.title, e.placeholder ?? "");
            return all;""") if text in english
        ]
        assert tag == "en" or left == [], (tag, left)
        page.press(Keys.ESCAPE)
        assert page.run(WIDE) == [], tag
    assert (said := page.console()) == [], said


def test_the_language_of_the_browser(page, material):
    for tag, heading in [("fr-CA", "Pour commencer"), ("pt-BR", "A place to begin"),
                         ("ja", "まずはこちら")]:
        page.command("Emulation.setUserAgentOverride",
                     userAgent=page.run("return navigator.userAgent"), acceptLanguage=tag)
        page.open("file://" + material.page)
        assert page.text("#picks-heading") == heading, tag
    page.command("Emulation.setUserAgentOverride", userAgent=page.run("return navigator.userAgent"),
                 acceptLanguage="en-US")


def test_right_to_left(page, material):
    """No language of the table is written so yet; one that is made up from English shows that the
    page could be."""
    try:
        for width in [1280, 390]:
            page.resize(width, 860)
            page.open("file://" + material.page)
            page.run("dpmf.TEXTS.he = dpmf.TEXTS.en; dpmf.speak('he')")
            assert page.run("return getComputedStyle(document.body).direction") == "rtl"
            import_ratings(page, material, 5)
            assert page.run(WIDE) == [], width
            place = "return document.querySelector(arguments[0]).getBoundingClientRect().x"
            assert (page.run(place, "#pick-list .score")
                    > page.run(place, "#pick-list .what")), ("the number stands where lines begin")
            page.run("document.querySelector('#pick-list .title').click()")
            assert page.run(WIDE) == [] and page.run(place, "#sheet-close") < width / 2
            page.press(Keys.ESCAPE)
            page.run("document.getElementById('map').scrollIntoView()")
            page.find("#map-words summary").click()
            assert page.run(WIDE) == [], width
    finally:
        page.resize(1280, 860)


# ---- phones -------------------------------------------------------------------------------------

SMALL = """const small = [];
    for (const e of document.querySelectorAll("main button, main select, main summary, " +
        "main .star, .tick, #bar button, #toast button")) {
        if (!e.checkVisibility() || e.matches("#map-text *, .similar *")) continue;
        const box = e.getBoundingClientRect();
        if (box.width > 0 && (box.height < arguments[0] || box.width < 24))
            small.push([e.className + "#" + e.id + " " + e.textContent.slice(0, 20), box.width,
                box.height]);
    }
    return small;"""


def test_phone(page, material):
    try:
        page.resize(390, 844)
        page.open("file://" + material.page)
        small = [entry for entry in page.run(SMALL, 44) if not entry[0].startswith("title")]
        assert small == [], small
        assert not page.is_shown("#bar"), "a bar before there is anything to show"
        rate_tile(page, 1, 5)
        page.until(lambda: page.is_shown("#bar"), "the bar")
        first = pick_list(page)[:3]
        assert page.texts("#bar-list .title") == first
        rate_tile(page, 2, 1)
        page.until(lambda: page.texts("#bar-list .title") == pick_list(page)[:3], "the bar follows")
        cut = page.run(
            """return [...document.querySelectorAll(".title")].filter((e) => e.checkVisibility() &&
                (e.scrollWidth > e.clientWidth + 1 ||
            e.scrollHeight > e.clientHeight + 1)).map((e) => e.textContent)""")
        assert cut == [], f"titles are cut: {cut}"
        small = [entry for entry in page.run(SMALL, 44) if "title" not in entry[0]]
        assert small == [], small
        page.find("#bar-all").click()
        page.until(lambda: not page.is_shown("#bar") and page.focused() == "picks",
                   "the list itself")
    finally:
        page.resize(1280, 860)


# ---- everyone -----------------------------------------------------------------------------------

RULES = """const wrong = [], seen = (e) => e.checkVisibility() && e.getClientRects().length > 0;
    const say = (rule, e) => wrong.push(rule + ": " + e.outerHTML.slice(0, 120));
    const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
    for (const id of ids.filter((id, i) => ids.indexOf(id) !== i)) wrong.push("an id twice: " + id);
    for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "for"])
        for (const e of document.querySelectorAll(`[${name}]`))
            for (const id of e.getAttribute(name).split(" ")) if (!document.getElementById(id))
                say(name + " leads nowhere", e);
    for (const e of document.querySelectorAll("[tabindex]")) if (e.tabIndex > 0)
        say("an order of its own", e);
    for (const e of document.querySelectorAll("img")) if (!e.hasAttribute("alt"))
        say("a picture without words", e);
    for (const e of document.querySelectorAll("button, a[href], summary, select, " +
        "input:not([type=hidden])")) {
        if (!seen(e)) continue;
        const label = e.getAttribute("aria-label"),
            words = e.matches("button, a, summary") ? e.textContent.trim() : "";
        const named = label || words || e.labels?.length || e.title ||
            e.getAttribute("aria-labelledby");
        if (!named) say("no name", e);
        if (label && /[\\p{L}]{3}/u.test(words) &&
            !label.toLowerCase().includes(words.toLowerCase()))
                say("another name than its words", e);
        if (e.closest("[aria-hidden=true]")) say("hidden from some, usable by all", e);
        if (e.querySelector("button, a[href], input, select")) say("a control in a control", e);
    }
    for (const e of document.querySelectorAll("body *")) {
        const style = getComputedStyle(e), scrolls = /auto|scroll/.test(style.overflowY) &&
            e.scrollHeight > e.clientHeight + 2;
        if (scrolls && seen(e) && e.tabIndex < 0 &&
            !e.querySelector("button, a[href], input, [tabindex='0']") && e.id !== "found" &&
                !e.matches("dialog"))
            say("scrolls, but not by keyboard", e);
    }
    for (const e of document.querySelectorAll("li")) if (!e.parentElement.matches("ul, ol"))
        say("an entry without a list", e);
    for (const list of document.querySelectorAll("ul, ol, dl")) for (const e of list.children)
        if (!e.matches(list.matches("dl") ? "dt, dd" : "li")) say("no entry of its list", e);
    for (const e of document.body.children)
        if (seen(e) && !e.matches("header, main, footer, aside, dialog, nav, .skip, #status, " +
            "#trouble, script, noscript"))
            say("outside of all landmarks", e);
    for (const e of document.querySelectorAll("[role=listbox], [role=option], fieldset, " +
        "[role=group], [role=img], [role=application]"))
        if (seen(e) && e.getAttribute("role") !== "option" && !e.getAttribute("aria-label") &&
            !e.getAttribute("aria-labelledby") &&
            !(e.matches("fieldset") && e.querySelector("legend"))) say("a group without a name", e);
    const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter((h) => seen(h) &&
        !h.closest("dialog")).map((h) => Number(h.tagName[1]));
    levels.forEach((level, i) => { if (i > 0 && level - levels[i - 1] > 1)
        wrong.push("a level of headings is left out"); });
    if (!document.documentElement.lang) wrong.push("no language");
    if (!document.title) wrong.push("no title");
    return wrong;"""


def test_rules_of_accessibility(page, material):
    def check(state):
        be_still(page)
        assert (wrong := page.run(RULES)) == [], (state, wrong)
        assert (found := page.run(CONTRAST))["worst"][0] >= 4.5, (state, found)

    try:
        for scheme, width in [("light", 1280), ("dark", 390)]:
            page.prefer(prefers_color_scheme=scheme)
            page.resize(width, 860)
            page.open(facts_page(material))
            check("empty")
            import_ratings(page, material, 12)
            press_in_pick(page, 1, "Keep")
            check("rated")
            press_in_pick(page, 2, "Not for me")
            for selector in ["#filter summary", "#full summary"]:
                page.run("document.querySelector(arguments[0]).click()", selector)
            page.run("document.getElementById('map').scrollIntoView()")
            page.until(lambda: page.run("return Boolean(dpmf.chart.plane)"), "the map")
            page.run("document.querySelector('#map-words summary').click()")
            time.sleep(0.3)
            check("everything open")
            page.run("document.querySelector('#pick-list li:nth-child(3) .title').click()")
            check("a title")
            page.press(Keys.ESCAPE)
            page.run("document.getElementById('share').click()")
            check("sharing")
            page.press(Keys.ESCAPE)
            page.run("document.getElementById('forget').click()")
            type_text(page, "the")
            check("searching")
            page.press(Keys.ESCAPE)
            page.run("dpmf.forget()")
        page.open(events_page(material))
        page.run("dpmf.rate(5, 1)")
        check("hearts")
    finally:
        page.prefer()
        page.resize(1280, 860)


def test_rules_of_accessibility_are_noticed(page, material):
    page.open("file://" + material.page)
    for html, rule in [("<main><button></button></main>", "no name"),
                       ("<main><button aria-label='Open it'>Close</button></main>", "another name"),
                       ("<div>outside</div>", "outside of all landmarks"),
                       ("<main><ul><p>x</p></ul></main>", "no entry of its list"),
                       ("<main><p tabindex='3'>x</p></main>", "an order of its own"),
                       ("<main><img src='data:,'></main>", "a picture without words"),
                       ("<main><p id='page'>x</p></main>", "an id twice"),
                       ("<main><p aria-labelledby='none'>x</p></main>", "leads nowhere")]:
        page.run("document.body.insertAdjacentHTML('beforeend', arguments[0])", html)
        found = page.run(RULES)
        assert any(rule in line for line in found), (html, found)
        page.run("document.body.lastElementChild.remove()")
    assert page.run(RULES) == []
    page.console()


def test_dialogs_keep_the_focus_and_give_it_back(page, material):
    page.open("file://" + material.page)
    import_ratings(page, material)
    for opener, dialog in [("#share", "share-sheet"), ("#pick-list .title", "sheet")]:
        page.run("document.querySelector(arguments[0]).focus()", opener)
        page.press(Keys.ENTER)
        assert page.run("return document.getElementById(arguments[0]).open", dialog)
        for _ in range(30):
            page.press(Keys.TAB)
            assert page.focused(f"e === document.body || e.closest('dialog')?.id === '{dialog}'"), (
                f"the focus left {dialog}")
        page.press(Keys.ESCAPE)
        assert page.run("return document.activeElement === document.querySelector(arguments[0])",
                        opener), ("the focus did not come back")
