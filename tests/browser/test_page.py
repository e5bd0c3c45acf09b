"""The page that recommends in a browser: loading, searching, rating, the statement, one's own file,
hostile releases, numbers and speed. tests/browser/run.py runs it."""

import csv
import io
import json
import os
import re
import subprocess
import time

import numpy as np
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import release_file
from material import (MOVIELENS, TREE, Listener, Served, Skip, be_still, import_ratings, pick_list,
                      press_in_pick, rate_by_search, saying, stars_of, type_text)


# ---- loading -------------------------------------------------------------------------------------


def test_opened_from_disk(page, material):
    page.open("file://" + material.page)
    assert page.text("h1") == "Films & more" and page.driver.title == "Films & more"
    assert len(pick_list(page)) == 10
    assert set(pick_list(page)) <= set(material.titles)
    assert page.run("return dpmf.titles") == material.titles
    assert (said := page.console()) == [], said


def test_an_extended_release(page, material):
    kinds = "".join(f"{item},{'even' if item % 2 == 0 else 'odd'}\n" for item in range(1, 3001))
    material.write("kinds.csv", "item,genre\n" + kinds + "new,odd\n")
    material.write("new.csv", "item\nnew\n")
    with open(os.path.join(material.folder, "titles.csv"), encoding="utf-8") as file:
        material.write("more.csv", file.read().rstrip("\n") + "\nnew,A Film That Is New\n")
    material.dpmf("release", "extend", material.release, "--catalogue", "new.csv",
                  "--item-features", "kinds.csv", "-o", "more.safetensors")
    page.open("file://" + material.export("more.safetensors", "more.csv", "more", "More films"))
    assert page.run("return dpmf.titles") == material.titles + ["A Film That Is New"]
    assert len(pick_list(page)) == 10
    assert (said := page.console()) == [], said


def test_served_by_dpmf(page, material):
    with Served(material) as server:
        page.open(server.url)
        before = pick_list(page)
        rate_by_search(page, "harvest", 5)
        assert pick_list(page) != before
        assert (said := page.console()) == [], said


def test_nothing_is_requested_after_loading(page, material):
    with Served(material) as server:
        page.network_requests()
        page.open(server.url)
        loaded = [url for url in page.network_requests() if not url.startswith("data:")]
        beside = [server.url + name for name in ["manifest.webmanifest", "worker.js"]]
        page.until(
            lambda: page.run_later("navigator.serviceWorker.ready.then(() => arguments[0](true))"),
            "the worker")
        loaded += [url for url in page.network_requests() if not url.startswith("data:")]
        assert (loaded[0] == server.url and set(loaded) <= {server.url, *beside} and
                len(loaded) <= 3), loaded
        for words, stars in [("harvest", 5), ("cafe", 4), ("whisper", 1), ("lighthouse", 5),
                             ("thief", 2)]:
            rate_by_search(page, words, stars)
        page.find("#pick-list .title").click()
        page.find("#sheet-similar .title").click()
        page.press(Keys.ESCAPE)
        press_in_pick(page, 1, "Not for me")
        press_in_pick(page, 3, "Keep")
        press_in_pick(page, 4, "More like this")
        page.find("#alike-end").click()
        be_still(page)
        page.find("#more").click()
        page.find("#remember").click()
        page.find("#remember").click()
        page.run("document.getElementById('map').scrollIntoView()")
        page.find("#map-words summary").click()
        page.find("#full summary").click()
        page.run("dpmf.importText(dpmf.exportText())")
        time.sleep(1)
        requests = page.network_requests()
        assert requests == [], requests


ATTEMPTS = """
    const [url, done] = arguments, tries = {
        fetch: () => fetch(url + "fetch", { mode: "no-cors" }),
        post: () => fetch(url + "post",
            { method: "POST", body: "x", mode: "no-cors", keepalive: true }),
        xhr: () => { const x = new XMLHttpRequest(); x.open("GET", url + "xhr"); x.send(); },
        beacon: () => navigator.sendBeacon(url + "beacon", "x"),
        socket: () => new WebSocket(url.replace("http", "ws") + "socket"),
        events: () => new EventSource(url + "events"),
        image: () => { new Image().src = url + "image"; },
        worker: () => new Worker(URL.createObjectURL(new Blob([`fetch("${url}worker")`]))),
        style: () => { document.body.style.backgroundImage = `url(${url}style)`; },
    };
    const add = (tag, properties) =>
        document.body.append(Object.assign(document.createElement(tag), properties));
    tries.script = () => add("script", { src: url + "script" });
    tries.inline = () => add("script", { textContent: `fetch("${url}inline")` });
    tries.link = () => add("link", { rel: "stylesheet", href: url + "link" });
    tries.prefetch = () => add("link", { rel: "prefetch", href: url + "prefetch" });
    tries.frame = () => add("iframe", { src: url + "frame" });
    tries.object = () => add("object", { data: url + "object" });
    tries.media = () => add("video", { src: url + "media" });
    tries.form = () => {
        add("iframe", { name: "nowhere" });
        add("form", { action: url + "form", target: "nowhere" });
        document.body.lastChild.submit();
    };
    for (const attempt of Object.values(tries)) try { attempt()?.catch?.(() => {}); } catch { }
    setTimeout(done, 1500, Object.keys(tries).length);
"""


def test_the_policy_refuses_what_it_can(page, material):
    with Listener() as listener:
        page.driver.get(listener.url)  # the listener does listen
        assert listener.hits, "the listener hears nothing"
        for url in ["file://" + material.page]:
            page.open(url)
            listener.hits.clear()
            assert page.run_later(ATTEMPTS, listener.url) == 17
            assert listener.hits == [], listener.hits
            assert len(pick_list(page)) == 10
    page.console()


def test_no_code_that_could_send(page, material):
    script = re.search(r"<script>(.*?)</script>", material.text, re.DOTALL)[1]
    for folder in ["script", "texts"]:
        for name in os.listdir(os.path.join(TREE, "web", folder)):
            with open(os.path.join(TREE, "web", folder, name), encoding="utf-8") as file:
                assert file.read() in script, f"{name} is not in the page"
    found = re.findall(
        r"\b(?:fetch|XMLHttpRequest|sendBeacon|WebSocket|EventSource|importScripts|import)\s*\("
        r"|innerHTML|\beval\b",
        script)
    assert found == [], found
    assert (script.count("serviceWorker") == 1 and
            'navigator.serviceWorker?.register("worker.js")' in script)
    leads = re.findall(
        r"window\.open|\blocation\b|RTC|WebTransport|preconnect|\bsubmit\b|\bWorker\b"
        r"|document\.write",
        script)
    assert leads == [], leads
    assert (re.findall(r"href[^,]*", script) == ["href: address"] and
            "address = URL.createObjectURL(" in script)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', material.text)[1]
    for rule in [
            "default-src 'none'", "connect-src 'none'", "form-action 'none'", "base-uri 'none'",
            "img-src data:"
    ]:
        assert rule in policy, rule
    assert "unsafe-inline" not in policy and "'unsafe-eval'" not in policy and "http" not in policy


# ---- search and stars ----------------------------------------------------------------------------


def test_search(page, material):
    page.open("file://" + material.page)
    type_text(page, "har")
    found = page.texts("#found li")
    assert 1 < len(found) <= 10
    assert all(re.search(r"\bhar", title.lower()) for title in found), found
    field = page.find("#search")
    assert (field.get_attribute("role") == "combobox" and
            field.get_attribute("aria-expanded") == "true")
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert field.get_attribute("aria-activedescendant") == "found-1"
    assert page.find("#found-1").get_attribute("aria-selected") == "true"
    page.press(Keys.ARROW_UP, Keys.ARROW_UP)
    assert field.get_attribute("aria-activedescendant") == f"found-{len(found) - 1}"
    page.press(Keys.ESCAPE)
    assert not page.is_shown("#found-box") and field.get_attribute("aria-expanded") == "false"
    assert field.get_attribute("value") == "har"


def test_search_knows_no_marks_and_no_capitals(page, material):
    page.open("file://" + material.page)
    for typed, word in [("CAFE", "Café"), ("zoe", "Zoë"), ("lodz", "Łódź"), ("soren", "Søren"),
                        ("weiss", "Weiß"), ("café", "Café"), ("noors", "Noor's"),
                        ("valparaiso sh", "Valparaíso")]:
        found = page.run(
            "return dpmf.searchTitles(arguments[0], 50).best.map((item) => dpmf.titles[item])",
            typed)
        assert found and all(word in title for title in found), (typed, found)
    type_text(page, "qqqq zzzz")
    years = [int(year) for year in re.findall(r"\((\d{4})\)$", "\n".join(material.titles), re.M)]
    assert (page.text("#found-note") ==
            f"No title has these words. The titles here are from {min(years)} to {max(years)}."
            ), page.text("#found-note")
    assert page.find("#search").get_attribute("aria-expanded") == "false"
    type_text(page, "  ")
    assert not page.is_shown("#found-box")


def test_titles_without_letters_are_found(page, material):
    page.open(
        material.variant("symbols", titles=["$", "!!!", "Oh!!!", "…", "★"] + material.titles[5:]))
    for typed, items in [("$", [0]), ("!!!", [1, 2]), (" ! ", [1, 2]), ("…", [3]), ("★", [4]),
                         ("%", [])]:
        found = page.run("return dpmf.searchTitles(arguments[0], 50).best", typed)
        assert [item for item in found if item < 5] == items, (typed, found)
    type_text(page, "!!!")
    page.press(Keys.ENTER)
    assert page.texts("#rated .title") == ["!!!"]


def test_five_ratings_change_the_recommendations(page, material):
    page.open("file://" + material.page)
    lists = [pick_list(page)]
    for words, stars in [("harvest", 5), ("cafe", 4), ("whisper", 1), ("lighthouse", 5),
                         ("thief", 2)]:
        title = rate_by_search(page, words, stars)
        lists.append(pick_list(page))
        assert lists[-1] != lists[-2], f"{title} changed nothing"
        assert title not in lists[-1]
    assert page.text("#taste-count") == "5" and page.text("#picks-heading") == "For you"
    assert sorted(stars_of(page).values()) == [1, 2, 4, 5, 5]
    whys = page.texts("#pick-list .why")
    assert any(why.startswith("To your taste: you gave 5 to ") for why in whys), whys


def test_change_and_remove_a_rating(page, material):
    page.open("file://" + material.page)
    rate_by_search(page, "harvest", 5)
    high = page.run("return dpmf.recommend(10)")
    page.find("#rated li:first-child .star:nth-of-type(1) input").click()
    assert list(stars_of(page).values()) == [1]
    assert page.run("return dpmf.recommend(10)") != high
    page.find("#rated li:first-child .round").click()
    assert stars_of(page) == {} and page.text("#picks-heading") == "A place to begin"
    assert page.is_shown("#taste-empty")


def test_a_recommendation_is_rated_in_its_place(page, material):
    page.open("file://" + material.page)
    before = pick_list(page)
    page.find("#pick-list li:nth-child(3) .star:nth-of-type(4) input").click()
    assert pick_list(page)[2] == before[2], "the row left under the pointer"
    assert page.texts("#rated .title") == [before[2]]
    assert page.text("#pick-list li:nth-child(3) .why") == "Now among your ratings"
    be_still(page)
    page.find("#pick-list li:nth-child(5) .star:nth-of-type(2) input").click()
    assert before[2] not in pick_list(page)
    assert len(pick_list(page)) == 10


def test_hide_more_and_unhide(page, material):
    page.open("file://" + material.page)
    before = pick_list(page)
    press_in_pick(page, 2, "Not for me")
    row = "#pick-list li:nth-child(2)"
    assert (page.text(f"{row} .why") == f"{before[1]} will not be recommended again." and
            page.text("#unhide") == "Show 1 hidden title again")
    assert (page.focused("e.textContent") == "Undo" and
            not page.is_shown(f"{row} .title")), ("the way back is where it happened")
    page.press(Keys.ENTER)
    assert pick_list(page) == before and not page.is_shown("#unhide")
    press_in_pick(page, 2, "Not for me")
    page.find("#more").click()
    page.run("dpmf.keep(100)")  # whatever changes next takes the word away
    assert len(pick_list(page)) == 20 and before[1] in pick_list(page)
    press_in_pick(page, 4, "Not for me")
    assert before[1] not in pick_list(page) and len(pick_list(page)) == 20
    page.find("#unhide").click()
    assert pick_list(page)[:10] == before and not page.is_shown("#unhide")


# ---- reasons -------------------------------------------------------------------------------------


def test_explain(page, material):
    page.open("file://" + material.page)
    import_ratings(page, material, 12)
    first = pick_list(page)[0]
    page.find("#pick-list .title").click()
    assert page.text("#sheet-title") == first
    rows = page.run(
        "return [...document.querySelectorAll('.why-table tr')].map((r) => "
        "[r.cells[0].textContent, r.cells[1].textContent])"
    )
    values = [float(value.replace("−", "-")) for _, value in rows]
    assert [name for name, _ in rows[:3]] == ["liked by everyone", "how you rate", "your taste"]
    assert (rows[-1][0] == "together" and
            round(100 * sum(values[:3])) == round(100 * values[-1])), rows
    parts = page.run("return dpmf.explain(dpmf.picks[0].item)")
    assert abs(parts["crowd"] + parts["habit"] + parts["taste"] - parts["score"]) < 1e-9
    assert abs(sum(entry["share"] for entry in parts["shares"]) - parts["taste"]) < 1e-9
    assert parts["score"] == page.run("return dpmf.recommend(1)[0].score")
    assert abs(parts["prediction"] - page.run("return dpmf.predict(dpmf.picks[0].item)")) < 1e-5
    if parts["reason"] == "taste":  # the eight largest shares, and the rest of them together
        assert rows[-2][0] == "your 4 other ratings" and len(rows) == 3 + 8 + 1 + 1
        assert round(100 * sum(values[3:-1])) == round(100 * values[2]), rows
    else:
        assert len(rows) == 4
    similar = page.texts("#sheet-similar .title")
    assert len(similar) == 8 and first not in similar
    page.find("#sheet-similar .title").click()
    assert page.text("#sheet-title") == similar[0]
    page.find("#sheet-hide").click()
    assert page.text("#sheet-hide") == "Recommend it again"
    page.press(Keys.ESCAPE)
    assert not page.run("return document.getElementById('sheet').open")


def test_reasons_name_what_is_liked(page, material):
    """Of ten ratings, half of them low: a reason names a low one only where no liked title speaks
    for it, and says "unlike" then."""
    page.open("file://" + material.page)
    page.run("dpmf.importText(arguments[0])",
             "item,rating\n" + "\n".join(f"{i * 7 + 1},{1 if i % 2 else 5}" for i in range(10)))
    be_still(page)
    found = page.run(
        """return dpmf.picks.map(({ item }, i) => { const { reason, shares } = dpmf.explain(item);
        return [reason, shares.some((s) => s.share > 0 && dpmf.ratings.get(s.item) > 3),
            document.querySelectorAll("#pick-list .why")[i].textContent]; })"""
    )
    for reason, has_liked, why in found:
        if reason == "taste":
            assert ("you gave 5 to" in why
                    if has_liked else why.startswith("To your taste: unlike")), (why, has_liked)
            assert "you gave 1 to" not in why.split(", despite")[0] or not has_liked, why
    page.run("dpmf.forget(); dpmf.importText('item,rating\\n1,1\\n8,1\\n15,1')")
    be_still(page)
    whys = page.texts("#pick-list .why")
    assert not any("you gave 1 to" in why and "unlike" not in why for why in whys), whys


def test_reasons_call_unlike_what_is_unlike(page, material):
    """To have chosen a title counts for what is like it, even with two stars: such a title must not
    be called unlike it."""
    page.open("file://" + material.page)
    V = material.tensors["item_factors"].astype(float)
    counts = material.tensors["item_counts"]
    known = (-counts).argsort(kind="stable")[:max(60, min(400, round(len(counts) / 12)))]
    U = V - V[known].mean(0)
    words = set()
    for item in [int(known[2]), int(known[40])]:
        for rating in (1, 2):
            page.run("dpmf.forget(); dpmf.rate(arguments[0], arguments[1])", item, rating)
            be_still(page)
            found = page.run(
                """return [...document.querySelectorAll("#pick-list .why")].map((why, i) =>
                    [dpmf.picks[i].item, why.textContent])""")
            for other, why in found:
                likeness = U[item] @ U[other]
                if "unlike" in why:
                    assert likeness < 0, (item, rating, other, why)
                if "which you chose" in why:
                    assert likeness > 0 and rating == 2, (item, rating, other, why)
                words |= {word for word in ["unlike", "which you chose"] if word in why}
    assert "which you chose" in words, words


def test_dial(page, material):
    page.open("file://" + material.page)
    assert not page.is_shown("#dial-box"), "there is a dial before there is taste"
    import_ratings(page, material, 12)
    assert page.is_shown("#dial-box")
    turn = (
        "const d = document.getElementById('dial'); d.value = arguments[0]; d.dispatchEvent(new "
        "Event('input'));"
    )
    lists = {}
    for taste in [0.5, 0, 1, 0.5]:
        page.run(turn, taste)
        found = pick_list(page)
        assert lists.setdefault(taste, found) == found, "the same dial gives another list"
    assert lists[0] != lists[1]
    page.run(turn, 0)
    whys = set(page.texts("#pick-list .why"))
    assert whys <= {"Popular with nearly everyone", "Among the best of the rest"}, whys
    taste = page.run("return dpmf.recommend(10).map(({ item }) => dpmf.explain(item).taste)")
    assert all(part == 0 for part in taste), taste


def test_releases_without_counts_have_no_dial(page, material):
    url, _, _ = material.made_up("uncounted", 300, 4, counted=False)
    page.open(url)
    page.run("for (const item of [1, 2, 3]) dpmf.rate(item, 5)")
    assert not page.is_shown("#dial-box")
    best = page.run(
        "return dpmf.recommend(5).map(({ item, score }) => [score, dpmf.predict(item)])")
    assert all(score == rating for score, rating in best), best


def test_stars_in_the_sheet(page, material):
    page.open("file://" + material.page)
    title = pick_list(page)[0]
    page.find("#pick-list .title").click()
    page.find("#sheet .star:nth-of-type(5) input").click()
    assert page.texts("#rated .title") == [title]
    assert "included" in page.text(".expected")


# ---- the keyboard and other readers --------------------------------------------------------------


def test_keyboard_only(page, material):
    page.open("file://" + material.page)
    page.run("document.body.focus()")
    for _ in range(8):
        page.press(Keys.TAB)
        if page.focused() == "search":
            break
    assert page.focused() == "search", "the search is not among the first stops"
    page.press("h", "a", "r", Keys.ARROW_DOWN, Keys.ENTER)
    assert page.focused("e.type") == "radio"
    assert page.focused("getComputedStyle(e).outlineStyle") == "solid", "the focus cannot be seen"
    page.press("4")
    assert list(stars_of(page).values()) == [4]
    page.press(Keys.ARROW_RIGHT)
    assert list(stars_of(page).values()) == [5]
    page.press(Keys.ESCAPE)
    assert page.focused() == "search"
    for _ in range(60):
        page.press(Keys.TAB)
        if page.focused("e.closest('#pick-list') !== null && e.className === 'title'"):
            break
    title = page.focused("e.textContent")
    assert title == pick_list(page)[0]
    page.press(Keys.ENTER)
    assert (page.text("#sheet-title") == title and
            page.run("return document.getElementById('sheet').open"))
    page.press(Keys.ESCAPE)
    assert page.focused("e.textContent") == title, "the focus did not come back"
    page.press(Keys.TAB)
    assert page.focused("e.type") == "radio"
    page.press("2")
    assert (len(stars_of(page)) == 2 and
            page.focused("e.type") == "radio"), ("the focus was lost with the row")
    page.press(Keys.ARROW_RIGHT)
    assert 3 in stars_of(page).values()


def test_every_control_has_a_name(page, material):
    page.open("file://" + material.page)
    import_ratings(page, material)
    page.command("Accessibility.enable")
    nodes = page.command("Accessibility.getFullAXTree")["nodes"]
    roles = {}
    for node in nodes:
        if node.get("ignored"):
            continue
        role = node["role"]["value"]
        roles.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    for role in ["button", "radio", "combobox", "checkbox", "link", "application"]:
        assert roles.get(role) and all(roles[role]), (role, roles.get(role))
    for role in ["main", "banner", "contentinfo", "status"]:
        assert len(roles.get(role, [])) == 1, role
    assert ([name for name in roles["region"]] == [
        "Your ratings 5", "For you", "For later", "Keep or forget", "Where you are",
        "Privacy, in plain words"
    ]), roles["region"]
    levels = page.run(
        "return [...document.querySelectorAll('main h2, main h3, h1')].map((h) => "
        "Number(h.tagName[1]))"
    )
    assert levels[0] == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:])), levels


def test_live_region_is_not_chatty(page, material):
    page.open("file://" + material.page)
    page.run("""window.said = [];
        new MutationObserver(() => said.push(document.getElementById("status").textContent))
            .observe(document.getElementById("status"),
                { childList: true, characterData: true, subtree: true });"""
             )
    for i in range(4):
        page.run("dpmf.rate(arguments[0], 4)", 100 + i)
    page.until(lambda: page.run("return said.length"), "a word for screen readers")
    time.sleep(1)
    said = page.run("return said")
    assert (len(said) == 1 and said[0].startswith("4 of 5 for ") and
            "First recommendation now" in said[0]), said


def test_reduced_motion(page, material):
    for wish, moves in [("no-preference", True), ("reduce", False)]:
        page.prefer(prefers_reduced_motion=wish)
        page.open("file://" + material.page)
        count = page.run_later("""const done = arguments[0];
            dpmf.rate(50, 5);
            requestAnimationFrame(() => setTimeout(() =>
                done(document.getAnimations().filter((a) =>
                    a.effect.target.tagName === "LI").length), 0));"""
                               )
        assert (count > 0) == moves, (wish, count)
    page.prefer()


# ---- looks ---------------------------------------------------------------------------------------

WIDE = """const wide = [...document.querySelectorAll("body *")].filter((e) => {
        const box = e.getBoundingClientRect(), out = getComputedStyle(e).position === "absolute" &&
            box.width <= 1;
        return !out && box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5);
    }).map((e) => e.tagName + "." + e.className + "#" + e.id);
    return document.documentElement.scrollWidth > innerWidth ? ["the page itself",
        ...wide] : wide;"""


def test_phone_widths(page, material):
    try:
        for width in [320, 390]:
            page.resize(width, 700)
            page.open("file://" + material.page)
            import_ratings(page, material, 8)
            assert page.run(WIDE) == [], width
            type_text(page, "the")
            assert page.run(WIDE) == [], width
            page.press(Keys.ESCAPE)
            page.find("#full summary").click()
            page.find("#map-words summary").click()
            assert page.run(WIDE) == [], width
            page.run("document.querySelector('#pick-list .title').click()")
            assert page.run(WIDE) == [], width
            targets = page.run(
                """return [...document.querySelectorAll("#sheet button, #sheet .star")].map((e) =>
                    e.getBoundingClientRect())
                .filter((box) => box.width > 0).map((box) => Math.min(box.width, box.height))""")
            assert min(targets) >= 24, "something is too small for a finger"
    finally:
        page.resize(1280, 860)


CONTRAST = """const parse = (text) =>
    { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
    const light = ([r, g, b]) => [r, g, b].map((c) =>
        (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = (e) => { for (; e; e = e.parentElement)
        { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; }
        return [255, 255, 255, 1]; };
    const isText = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) &&
        e.checkVisibility();
    const worst = [];
    for (const e of document.querySelectorAll("main *, header *, footer *, #sheet *")) {
        if (!isText(e) || e.closest(".unseen, canvas, :disabled, .done")) continue;
        const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        worst.push([ratio, e.tagName + "." + e.className + "#" + e.id]);
    }
    worst.sort((x, y) => x[0] - y[0]);
    return { worst: worst[0], n: worst.length,
        paper: light(parse(getComputedStyle(document.body).backgroundColor)) };"""


def test_light_dark_and_contrast(page, material):
    for scheme in ["light", "dark"]:
        page.prefer(prefers_color_scheme=scheme)
        page.open("file://" + material.page)
        import_ratings(page, material)
        page.find("#full summary").click()
        page.find("#pick-list .title").click()
        found = page.run(CONTRAST)
        assert found["n"] > 80 and found["worst"][0] >= 4.5, (scheme, found)
        assert ((found["paper"] > 0.8) == (scheme == "light") and
                (found["paper"] < 0.05) == (scheme == "dark"))
    page.prefer()


# ---- the map -------------------------------------------------------------------------------------


def test_map(page, material):
    page.open("file://" + material.page)
    import_ratings(page, material)
    page.run("document.getElementById('map').scrollIntoView()")
    shade = """const c = document.getElementById("chart"),
        data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 3; i < data.length; i += 4) n += data[i] > 0; return n;"""
    page.until(lambda: page.run(shade) > 3000, "a picture")
    time.sleep(0.8)
    before = page.run("return document.getElementById('chart').toDataURL()")
    page.run("dpmf.rate(200, 1)")
    page.until(lambda: page.run("return document.getElementById('chart').toDataURL()") != before,
               "a movement")
    canvas = page.find("#chart")
    for x in range(-500, 500, 25):
        ActionChains(page.driver).move_to_element_with_offset(canvas, x, 10).perform()
        # The last of a movement reaches the page with its next frame.
        page.run_later("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        if page.is_shown("#tip"):
            break
    title = page.text("#tip").rsplit(" · ", 1)[0]
    assert title in material.titles
    ActionChains(page.driver).click().perform()
    opened = page.text("#sheet-title")
    assert opened == title, (opened, title)
    page.press(Keys.ESCAPE)
    canvas.send_keys(Keys.ARROW_RIGHT)
    if not page.is_shown("#tip"):
        canvas.send_keys(Keys.ARROW_LEFT)
    assert page.text("#tip").rsplit(" · ", 1)[0] in page.texts("#rated .title") + pick_list(page)
    page.find("#map-words summary").click()
    page.until(lambda: page.text("#map-text").startswith("Titles that the same people like"),
               "the map in words")
    groups = page.run(
        "return [...document.querySelectorAll('.shelf')].map((s) => "
        "s.querySelectorAll('.similar:first-of-type .title').length)"
    )
    assert 2 <= len(groups) <= 8 and all(n >= 3 for n in groups), groups
    assert re.search("of your first recommendations|most of what we recommend",
                     page.text(".shelf")), ("one's own group comes first")


# ---- privacy -------------------------------------------------------------------------------------


def test_the_statement_and_its_numbers(page, material):
    page.open("file://" + material.page)
    text = material.dpmf("privacy", "show", material.release)
    assert page.text("#statement") == text
    said = json.loads(material.metadata["dpmf.statement"])
    figures, odds = page.text("#guess-exact"), page.text("#odds")
    assert (f"Epsilon {said['epsilon']} at delta 0.00001" in figures and
            "at most 7.39 times" in odds and "plus 1 in 100,000" in odds)
    right = re.search(r"guesses right at most\s+([\d.]+) times", text)[1]
    assert f"{right} %" in figures, "the page and the statement disagree about guesses"
    assert (page.text("#guess-figure") == "60 of 100 times" and
            len(page.find_all(".dots .on")) == 60 and len(page.find_all(".dots i")) == 100)
    limits = page.texts("#limits li")
    assert len(limits) == 1 + len(said["outside"]) + 1 and page.is_shown("#limits")
    assert "checked when the page was made" in limits[-1] and "dpmf privacy verify" in limits[-1]
    assert "Nothing you do here leaves this page" in page.text("#privacy")
    assert not page.is_shown("#not-private")


def test_what_is_not_private_is_called_so(page, material):
    said = json.loads(material.metadata["dpmf.statement"])
    said.update(kind="not private", insecure=True, epsilon=30, mu=9.0,
                assumptions=[{"name": "pigs", "sentence": "that pigs fly"}])
    page.open(material.variant("insecure", **material.stating("NOT PRIVATE", said)))
    assert page.is_shown("#not-private") and page.text("#not-private").startswith("NOT PRIVATE")
    assert "they would guess" in page.text("#guess-text")
    assert page.texts("#limits li")[0] == "It is assumed that pigs fly."
    assert ("no useful bound" in page.text("#odds") and "100 %" in page.text("#guess-exact") and
            "weak promise" in page.text("#odds"))
    assert page.text("#guess-figure") == "100 of 100 times"
    for words in [{"insecure": True}, {"research": True}, {"kind": "conditional", "research": True},
                  {"kind": "constructor"}, {"kind": ""}]:
        said = dict(json.loads(material.metadata["dpmf.statement"]), **words)
        page.open(material.variant("insecure", **material.stating("all is well", said)))
        assert (page.is_shown("#not-private") and
                page.text("#not-private").startswith("NOT PRIVATE")), words
        assert "they would guess" in page.text("#guess-text"), words


def test_what_is_conditional_is_called_so(page, material):
    said = json.loads(material.metadata["dpmf.statement"])
    said.update(kind="conditional", delta=0, mu=None, epsilon=1, releases=[])
    page.open(material.variant("conditional", **material.stating("CONDITIONAL", said)))
    assert (page.text("#not-private").startswith("CONDITIONAL, NOT PROVEN") and
            "they would guess" in page.text("#guess-text"))
    assert "73.2 %" in page.text("#guess-exact") and "delta" not in page.text("#guess-exact")
    assert "would be at most 2.72 times" in page.text("#odds")


def test_what_is_partial_is_called_so(page, material):
    release = material.train("ratings.dpr", "titles.csv", "partial.safetensors", "2", "--delta",
                             "0.001", "--accept-delta")
    page.open("file://" + material.export(release, "titles.csv", "partial", "Partial"))
    assert (page.text("#not-private").startswith("PARTIAL, NOT PROVEN") and
            "they would guess" in page.text("#guess-text"))
    assert page.texts("#limits li")[0].startswith(
        "It is assumed that so large a delta is acceptable")
    assert "kind: partial" in page.text("#statement")


def test_the_kind_is_what_dpmf_found(page, material):
    """Whatever an older release calls itself."""
    said = json.loads(material.metadata["dpmf.statement"])
    parts = material.stating("old", said)
    for kind, stamp in [("partial", "PARTIAL"), ("conditional", "CONDITIONAL"),
                        (None, "NOT PRIVATE")]:
        parts["statement"]["kind"] = kind
        page.open(material.variant("judged", **parts))
        assert said["kind"] == "proven" and page.text("#not-private").startswith(stamp)


# ---- one's own file ------------------------------------------------------------------------------


def test_export_and_import(page, material):
    downloads = os.path.join(material.folder, "downloads")
    os.makedirs(downloads, exist_ok=True)
    page.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=downloads)
    page.open("file://" + material.page)
    assert not page.find("#export").is_enabled()
    quoted = next(title for title in material.titles if '"' in title)
    for words, stars in [("harvest", 5), ("cafe", 4), (quoted, 3)]:
        rate_by_search(page, words, stars)
    own, order = stars_of(page), pick_list(page)
    page.find("#export").click()
    path = os.path.join(downloads, "my-ratings.csv")
    page.until(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "the file")
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(io.StringIO(file.read())))
    assert rows[0] == ["item", "rating", "title"]
    assert [row[2] for row in rows[1:]] == page.texts("#rated .title")[::-1]
    assert any('"' in row[2] for row in rows[1:])
    page.find("#forget").click()
    page.find("#sure-yes").click()
    assert stars_of(page) == {} and page.text("#notice") == "Everything is forgotten."
    page.find("#file").send_keys(path)
    page.until(lambda: "3 ratings loaded." in page.text("#notice"), "the ratings again")
    assert stars_of(page) == own and pick_list(page) == order
    with open(os.path.join(material.folder, "mine.csv"), "w", encoding="utf-8") as file:
        file.write("".join(f"{row[0]},{row[1]}\n" for row in rows))
    told = [
        json.loads(line)["item"]
        for line in material.dpmf("recommend", material.release, "--ratings", "mine.csv", "-n",
                                  "10", "--json", "--catalogue", "titles.csv").splitlines()
    ]
    ids = page.run("return dpmf.recommend(10).map((pick) => String(pick.item + 1))")
    assert told == ids, "the command line recommends something else"


def test_import_says_what_is_wrong(page, material):
    page.open("file://" + material.page)

    def load(text):
        page.run("document.getElementById('notice').replaceChildren()")
        page.find("#file").send_keys(material.write("import.csv", text))
        page.until(lambda: page.text("#notice"), "a word about the file")
        return page.run(
            "return [...document.querySelectorAll('#notice p, #notice li')].map((e) => "
            "e.textContent)"
        )
    title = material.titles[4]
    said = load(f'item,rating,title\n1,5,x\n"{title}",2\nno such film,3\n2,six\n3,9\n,4,\n')
    assert said[0] == "2 ratings loaded; 4 lines left out:", said
    assert said[1:] == [
        "Line 4: “no such film” is not in this catalogue.",
        "Line 5: the rating “six” is not a number from 1 to 5.",
        "Line 6: the rating “9” is not a number from 1 to 5.", "Line 7: “” has no item."
    ], said
    assert stars_of(page) == {0: 5, 4: 2}
    assert load("7;4\n8;3,5\n")[0] == "2 ratings loaded."
    assert stars_of(page)[7] == 3.5
    assert load("rating\ttitle\titem\n5\t\t21\n")[0] == "1 rating loaded."
    assert stars_of(page)[20] == 5
    assert load("\n\n")[0].startswith("There is nothing in that file")
    assert load("a,b\nc,d\n")[0].startswith("No rating in that file could be used")
    assert load(b"item,rating\n\xff\xfe\x00,3\n")[0].startswith("That file is not text in UTF-8")
    twins = material.variant("twins", titles=["Same"] * 2 + [f"T{i}" for i in range(2998)])
    page.open(twins)
    assert load("Same,3\n")[1] == "Line 1: “Same” is the title of 2 items: give its id."


LOAD = (
    "dpmf.forget(); const { loaded, bad } = dpmf.importText(arguments[0]); return "
    "[[...dpmf.ratings], bad]"
)


def test_files_of_other_programs(page, material):
    page.open(
        material.variant("files",
                         titles=["$", "1984", "A;b", "Stars", "-"] + [f"T{i}"
                                                                      for i in range(2995)]))
    for text, own in [("movieId,rating\n284,5\n", [[283, 5]]),
                      ("Item ID;Score\n284;4,5\n", [[283, 4.5]]),
                      ("stars,item_id\n2,284\n", [[283, 2]]), ("id\trating\n284\t1e0\n", [[283,
                                                                                           1]]),
                      ("284::5\n285::3\n", [[283, 5], [284, 3]]), ('"A;b",5\n', [[2, 5]]),
                      ('item,rating,title\n7,4,"x;y"\n', [[6, 4]]), ("7,4,x; y\n", [[6, 4]]),
                      ("Stars,5\n", [[3, 5]]), ("$,5\n", [[0, 5]]),
                      ("rating,title\n5,1984\n", [[1, 5]]),
                      ("userId,movieId,rating,timestamp\n9,284,5,1\n9,285,4,2\n", [[283, 5],
                                                                                   [284, 4]]),
                      ("item,rating\n7,50e-1\n", [[6, 5]])]:
        assert page.run(LOAD, text) == [own, []], text
    for text, word in [("***,5\n", "“***” is not in this catalogue"),
                       ("01984,5\n", "“01984” is not in"), ("item,rating\n3001,5\n", "is not in"),
                       ("7,5e\n", "“5e” is not a number"),
                       ("7,1e1\n", "“1e1” is not a number from"),
                       ("userId,movieId,rating\n1,284,5\n2,284,4\n", "ratings of 2 people"),
                       ("1::284::5::978300760\n", "four columns"),
                       ("user,rating\n1,5\n", "does not say which items")]:
        own, bad = page.run(LOAD, text)
        assert own == [] and len(bad) == 1 and word in bad[0], (text, own, bad)
    assert page.run(LOAD, "item,rating\n1984,5\n") == [[[1983, 5]],
                                                       []], ("an id is an id before it is a title")


def test_saved_titles_are_no_formulas(page, material):
    odd = ["=1+1", "+cmd|' /C calc'!A0", "-30-", "@home", "  =2", "＝1", "-", "a=b"]
    page.open(material.variant("formulas", titles=odd + material.titles[len(odd):]))
    for item in range(len(odd)):
        page.run("dpmf.rate(arguments[0], 4)", item)
    text = page.run("return dpmf.exportText()")
    saved = [row[2] for row in csv.reader(io.StringIO(text))][1:]
    assert saved == ["'" + title for title in odd[:-1]] + odd[-1:], saved
    assert page.run(LOAD, text) == [[[item, 4] for item in range(len(odd))], []]
    assert page.run(LOAD, "title,rating\n'-,5\n") == [[[6, 5]], []]


def test_thousands_of_ratings(page, material):
    page.open("file://" + material.page)
    page.run("dpmf.importText(arguments[0])",
             "item,rating\n" + "\n".join(f"{i + 1},{1 + i % 5}" for i in range(2500)))
    assert len(stars_of(page)) == 2500 and len(page.texts("#rated .title")) == 8
    page.find("#older").click()
    assert len(page.texts("#rated .title")) == 58
    listed = page.run("return [...dpmf.ratings.keys()].at(-1)")
    assert page.texts("#rated .title")[0] == material.titles[listed]
    page.run("dpmf.rate(arguments[0], 5)", 2700)
    assert page.texts("#rated .title")[0] == material.titles[2700] and len(pick_list(page)) == 10
    old = page.run("return [...dpmf.ratings.keys()][0]")
    type_text(page, material.titles[old])
    page.press(Keys.ENTER)
    assert page.texts("#rated .title")[0] == material.titles[old]
    return f"a star on top of 2,500 others takes {page.run('return dpmf.answerTime'):.1f} ms"


def test_remember_only_when_asked(page, material):
    page.open("file://" + material.page)
    page.run("localStorage.clear()")
    import_ratings(page, material)
    assert page.run("return localStorage.length") == 0 and not page.find("#remember").is_selected()
    page.open("file://" + material.page)
    assert stars_of(page) == {}
    import_ratings(page, material)
    page.find("#pick-list .quiet").click()
    page.find("#remember").click()
    own, order = stars_of(page), pick_list(page)
    page.open("file://" + material.page)
    assert (stars_of(page) == own and page.find("#remember").is_selected() and
            pick_list(page) == order)
    page.find("#remember").click()
    assert page.run("return localStorage.length") == 0
    page.find("#remember").click()
    page.find("#forget").click()
    page.find("#sure-no").click()
    assert stars_of(page) == own
    page.find("#forget").click()
    page.find("#sure-yes").click()
    assert stars_of(page) == {} and page.run("return localStorage.length") == 0


def memory_key(page):
    """Where the page that is open remembers."""
    page.run("localStorage.clear()")
    page.find("#remember").click()
    key = page.run("return localStorage.length === 1 ? localStorage.key(0) : null")
    page.run("localStorage.clear()")
    return key


def test_hostile_memory(page, material):
    page.open("file://" + material.page)
    key = memory_key(page)
    assert re.fullmatch("dpmf: Films & more [0-9a-f]{16}", key), key
    for memory in [
            "{", "null", "[]", "5", '"x"', '{"ratings":{"length":3}}', '{"ratings":[[]]}',
            '{"ratings":[["3","5"],["3",1e999],[["3"],5]]}',
            '{"ratings":[["3",99],["3"],["3",4,4],5,null,["no such",4],[{},1]],"hidden":"x"}',
            '{"ratings":[],"hidden":[{"toString":1}]}',
            '{"ratings":[],"hidden":[null,3,["4"],{"toString":1,"valueOf":1}]}',
            '{"ratings":[],"hidden":{"length":5}}',
            '{"__proto__":{"ratings":[["3",5]]},"hidden":[]}'
    ]:
        page.run("localStorage.setItem(arguments[0], arguments[1])", key, memory)
        page.open("file://" + material.page)
        assert (stars_of(page) == {} and len(pick_list(page)) == 10 and
                not page.is_shown("#unhide")), memory
        assert (said := page.console()) == [], (memory, said)
    page.run("localStorage.setItem(arguments[0], arguments[1])", key,
             '{"ratings":[5,["3",4]],"hidden":[{},"7"]}')
    page.open("file://" + material.page)
    assert (stars_of(page) == {2: 4} and
            page.text("#unhide") == "Show 1 hidden title again"), ("what fits is taken")
    page.run("localStorage.clear()")


def test_memory_belongs_to_a_catalogue(page, material):
    page.open("file://" + material.page)
    page.run("localStorage.clear()")
    import_ratings(page, material)
    page.find("#remember").click()
    own = stars_of(page)
    metadata, tensors = release_file.made_up_release(material.metadata["dpmf.statement"], 3000, 8)
    page.open(material.variant("newer", release=release_file.release_bytes(metadata, tensors)))
    assert stars_of(page) == own, "a newer release of the same catalogue"
    tensors["item_id_bytes"] = tensors["item_id_bytes"].copy()
    tensors["item_id_bytes"][:2] = list(b"x1")
    page.open(material.variant("another", release=release_file.release_bytes(metadata, tensors)))
    assert (stars_of(page) == {} and
            not page.find("#remember").is_selected()), ("another catalogue of the same name")
    page.open(material.variant("renamed", name="Films"))
    assert stars_of(page) == {}, "another name"
    page.open("file://" + material.page)
    assert stars_of(page) == own, "the others took it away"
    page.run("localStorage.clear()")


# ---- hostile and unusual releases ----------------------------------------------------------------


def hostile_pages(material):
    """Names, parts of the page, and a word that the message must hold."""
    with open(material.release, "rb") as file:
        good = file.read()
    nan = dict(material.tensors, item_factors=material.tensors["item_factors"].copy())
    nan["item_factors"][7, 0] = np.nan
    flipped = bytearray(good)
    flipped[-1000] ^= 4
    header = int.from_bytes(good[:8], "little")
    deep = b"[" * 50000
    yield "cut", {"release": good[:len(good) // 2]}, "release cannot be used"
    yield "cut to the header", {"release": good[:8 + header]}, "release cannot be used"
    yield "almost nothing", {"release": good[:5]}, "release cannot be used"
    yield "empty", {"release": b""}, "release cannot be used"
    yield "longer", {"release": good + b"more"}, "release cannot be used"
    yield "NaN", {"release": release_file.release_bytes(material.metadata,
                                                        nan)}, "release cannot be used"
    yield "a flipped bit", {"release": bytes(flipped)}, "release cannot be used"
    yield "garbage", {"release": os.urandom(100000)}, "release cannot be used"
    yield "no base64", {"release": "@@@@ this is not base64 @@@@"}, "is damaged"
    yield "cut base64", {"release": "QUJDR"}, "is damaged"
    yield "huge header", {"release": b"\xff" * 8 + good[8:]}, "release cannot be used"
    yield "deep JSON", {"release": len(deep).to_bytes(8, "little") + deep}, "release cannot be used"
    yield "too few titles", {"titles": material.titles[:-1]}, "titles does not belong"
    yield "no list of titles", {"titles": "{}"}, "titles does not belong"
    yield "broken titles", {"titles": '["a", '}, "titles does not belong"
    other = "privacy statement is not that of its release"
    yield "broken statement", {"statement": "nothing"}, other
    for text in ["", "{}", "[]", "null", "5", "BBBB", '{"epsilon":']:
        yield f"the statement {text}", material.stating("all is well", text), "privacy statement"
    for name, value in [("epsilon", "1"), ("epsilon", None), ("epsilon", -1), ("delta", 1),
                        ("mu", "x"), ("kind", 1), ("release_id", 7), ("insecure", 0),
                        ("research", None), ("outside", [1]), ("outside", "x"), ("range", None),
                        ("mechanism", {}), ("items", "3000")]:
        said = dict(json.loads(material.metadata["dpmf.statement"]), **{name: value})
        yield f"{name} {value}", material.stating("all is well", said), f"lacks a sound “{name}”"
    for name, value in [("items", 2999), ("range", {"min": 1, "max": 6})]:
        said = dict(json.loads(material.metadata["dpmf.statement"]), **{name: value})
        stating = material.stating("all is well", said)
        yield f"{name} of another", stating, "is about another release"
    better = json.loads(material.metadata["dpmf.statement"])
    better["epsilon"] = 0.01
    yield "a better statement", {"statement": saying("all is well", better)}, other


def test_hostile_releases(page, material):
    for name, parts, word in hostile_pages(material):
        page.driver.get(material.variant("hostile", **parts))
        page.until(lambda: page.is_shown("#trouble"),
                   f"a word about a release that is hostile: {name}")
        message = page.text("#trouble")
        assert message.startswith("This page cannot be used. ") and word in message, (name, message)
        assert not page.is_shown("#page") and not page.run("return Boolean(window.dpmf)"), name
        mains = page.run(
            "return [...document.querySelectorAll('main, .skip')].filter((e) => "
            "e.offsetParent).map((e) => e.textContent)"
        )
        assert mains == [message], (name, mains)
    page.console()


def test_the_empty_page_says_so(page, material):
    bare = re.sub(
        r'<script type="application/(?:octet-stream|json)" '
        r'id="dpmf-(?:release|items|statement)">[^<]*</script>',
        "", material.text)
    page.driver.get("file://" + material.write("bare.html", bare))
    page.until(lambda: page.is_shown("#trouble"))
    assert "There is no release in it" in page.text("#trouble")
    page.console()


def test_a_page_cut_short_says_so(page, material):
    """The script stands before the data, so that it can speak where a part of them did not
    arrive."""
    begin = material.text.index('id="dpmf-release">')
    for kept, word in [(0, "There is no release in it"), (1001, "damaged"),
                       (1000, "the file ends within it")]:
        end = (begin + len('id="dpmf-release">') +
               kept if kept else material.text.rindex("<script", 0, begin))
        page.driver.get("file://" + material.write("cut.html", material.text[:end]))
        page.until(lambda: page.is_shown("#trouble"),
                   f"a word about a page that was cut after {kept} characters of the release")
        assert word in page.text("#trouble"), (kept, page.text("#trouble"))
        assert not page.run("return Boolean(window.dpmf)")
    page.console()


def test_troubles_are_told_in_every_language(page, material):
    """What is wrong with a page that cannot be used, in the words of each table, and none of it in
    English elsewhere."""
    page.open("file://" + material.page)
    tables = page.run("return dpmf.TEXTS")
    names = [name for name in tables["en"] if name.startswith("trouble")]
    assert (len(names) > 15 and all(
        sorted(n for n in table if n.startswith("trouble")) == sorted(names)
        for table in tables.values()))
    cases = [("troubleDamagedRelease", {"release": "QUJDR"}), ("troubleTitles", {"titles": "{}"}),
             ("troubleStatementNot", {"statement": "nothing"})]
    for tag, table in tables.items():
        script = f"Object.defineProperty(navigator, 'languages', {{ get: () => ['{tag}'] }})"
        mark = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument",
                                           {"source": script})["identifier"]
        try:
            for name, parts in cases:
                page.driver.get(material.variant("trouble", **parts))
                page.until(lambda: page.is_shown("#trouble"), name)
                assert (page.text("#trouble") ==
                        f"{table['unusable']} {table[name]} {table['troubleAgain']}"), (
                            tag, page.text("#trouble"))
        finally:
            page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument",
                                        {"identifier": mark})
    for tag in set(tables) - {"en"}:
        same = [name for name in names if tables[tag][name] == tables["en"][name]]
        assert not same, (tag, same)
    page.console()


MODULE_ALONE = """
    const [module, release, done] = arguments, bytes = (text) =>
        Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    WebAssembly.instantiate(bytes(module), {}).then(({ instance: { exports: m } }) => {
        const good = bytes(release), say = [];
        let tried = 0, seed = 12345;
        const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
        const text = () => {
            const all = new Uint8Array(m.memory.buffer), at = m.error_text();
            return new TextDecoder().decode(all.subarray(at, all.indexOf(0, at)));
        };
        const open = (data) => {
            const at = m.allocate(data.length);
            new Uint8Array(m.memory.buffer, at, data.length).set(data);
            tried++;
            return m.open(at, data.length);
        };
        const refused = (name, ...values) => {
            const result = m[name](...values);
            if (!(result < 0 || Number.isNaN(result)))
                say.push(name + " answers " + result + " without a release");
        };
        const unopened = () => {
            for (const [name, ...values] of [["rate", 0, 3], ["recommend", 5], ["similar", 0, 5],
                ["explain", 0], ["predict", 0],
                                             ["describe"], ["forget"], ["whereabouts"],
                                                 ["exclude", 0, 1], ["filter", 1]])
                                                     refused(name, ...values);
            for (const name of ["statement", "map", "score_all", "item_factors", "item_counts",
                "item_biases", "included"]) if (m[name]() !== 0)
                    say.push(name + " without a release");
            if (m.item_id(0) !== 0) say.push("an id without a release");
        };
        try {
            unopened();
            for (let i = 0; i < 300; i++) {
                const cut = i < 150 ? good.slice(0,
                    Math.floor(good.length * i / 150)) : good.slice();
                if (i >= 150) for (let j = 0; j <= i % 7; j++)
                    cut[random(i % 2 ? good.length : 4000)] ^= 1 << random(8);
                const code = open(cut);
                if (code >= 0) say.push("opened a damaged release, the " + i + "th");
                else if (!text()) say.push("no word about the " + i + "th");
            }
            unopened();
            const before = m.memory.buffer.byteLength;
            for (let i = 0; i < 20; i++) if (open(good) !== 0)
                say.push("refuses a good release: " + text());
            if (m.memory.buffer.byteLength > 1.5 * before + 4e6)
                say.push("memory grows with every release");
            const odd = [-1, 0.5, NaN, Infinity, -Infinity, 1e300, 2 ** 32, 2 ** 53];
            for (const item of odd) for (const value of [...odd, 3]) {
                if (m.rate(item, value) >= 0 && item !== 0.5) say.push("rates item " + item);
                for (const name of ["explain", "predict", "item_id"]) m[name](item);
                m.similar(item, 5); m.exclude(item, 1);
            }
            for (const value of [0, 6, Infinity, -1]) if (m.rate(5, value) >= 0)
                say.push("takes a rating of " + value);
            for (const n of [0, 1, 4294967295, -1])
                if (m.recommend(n) < 0 || m.recommend(n) > 1000) say.push("recommends " + n);
            if (m.allocate(4294967295) !== 0) say.push("gives more memory than there is");
            for (let item = 0; item < 3000; item++)
                if (m.rate(item, 1 + item % 5) < 0 || m.exclude(item, 1) < 0)
                    say.push("cannot rate them all: " + text());
            if (m.recommend(10) !== 0) say.push("recommends what was excluded");
        } catch (trap) { say.push("trap: " + trap.message); }
        const compiled = new WebAssembly.Module(bytes(module));
        done({ tried, say, imports: WebAssembly.Module.imports(compiled).length });
    }, (problem) => done({ say: [String(problem)] }));
"""


def test_the_module_alone(page, material):
    module = re.search(r'id="dpmf-module">([^<]*)<', material.text)[1]
    release = release_file.base64_of(material.text)
    assert len(module) * 3 / 4 < 345_000, "the module has grown"
    page.driver.get("about:blank")
    found = page.run_later(MODULE_ALONE, module, release)
    assert found["say"] == [] and found["tried"] == 320 and found["imports"] == 0, found


def test_titles_can_be_anything(page, material):
    odd = [
        '<img src=x onerror="window.hacked=1">', "</script><script>window.hacked=1</script>",
        "<!--", "\u202eevil", "שלום עולם", "", "x" * 400, "🎬 film", None, 'a "quoted", title',
        "  blank  ", "\\u003c", "${1}", "a\nb"
    ]
    titles = odd + [f"Title {i}" for i in range(3000 - len(odd))]
    page.open(material.variant("odd", titles=titles, name="<b>&\"name\"</b>"))
    shown = page.run("return dpmf.titles")
    for i, title in enumerate(odd):
        assert shown[i] == (title if title and title.strip() else str(i + 1)), (i, shown[i])
    for i in range(len(odd)):
        page.run("dpmf.rate(arguments[0], 5)", i)
    assert page.text("h1") == "<b>&\"name\"</b>" and not page.run("return Boolean(window.hacked)")
    page.find("#older").click()
    assert page.texts("#rated .title") == [shown[i] for i in range(len(odd))][::-1]
    assert (page.run("return [dpmf.importText(dpmf.exportText()).loaded, dpmf.ratings.size]") == [
        len(odd), len(odd)
    ])
    assert page.run(WIDE) == [] and page.console() == []


def test_other_scales(page, material):
    for low, high, kind, n in [(0.5, 5, "stars halves", 10), (1, 10, "stars many", 10),
                               (1, 3, "stars", 3), (0, 100, "stars slider", 1),
                               (-10, 10, "stars slider", 1), (0, 1, "stars slider", 1),
                               (1, 5.25, "stars slider", 1)]:
        url, _, _ = material.made_up("scale", 500, 4, low, high)
        page.open(url)
        before = pick_list(page)
        assert (page.run("return document.querySelector('#pick-list .stars').className") == kind), (
            low, high)
        inputs = page.find_all("#pick-list li:first-child .stars input")
        assert len(inputs) == n, (low, high, len(inputs))
        if kind == "stars slider":
            page.run("arguments[0].focus()", inputs[0])
            page.press(Keys.END)
        else:
            inputs[-1].click()
        assert (list(stars_of(page).values()) == [high] and
                page.texts("#rated .title") == before[:1]), (low, high)
        if kind == "stars halves":
            page.find("#rated .star:nth-of-type(5) input").click()
            assert (list(stars_of(page).values()) == [2.5] and
                    len(page.find_all("#rated .star.on")) == 5)
        scores = [float(text) for text in page.texts("#pick-list .score b")]
        assert all(low <= score <= high for score in scores), scores
        assert (said := page.console()) == [], said


def test_a_release_of_biases_alone(page, material):
    url, _, _ = material.made_up("flat", 300, 0)
    page.open(url)
    assert not page.is_shown("#map") and "the same for everyone" in page.text("#picks-lead")
    before = pick_list(page)
    page.run("dpmf.rate(arguments[0], 5)",
             page.run("return dpmf.titles.indexOf(arguments[0])", before[0]))
    assert pick_list(page)[:9] == before[1:]
    page.find("#pick-list .title").click()
    assert not page.is_shown("#sheet-similar-heading")


# ---- the same numbers as elsewhere ---------------------------------------------------------------

FOLD_IN = """return arguments[0].map((own) => {
        dpmf.forget();
        for (const [item, value] of own) dpmf.setRating(item, value);
        return dpmf.recommend(20).map(({ item, score }) => [item, score, dpmf.predict(item)]);
    });"""


class Dense:
    """What docs/formats/release.md and docs/goals.md say, in float64."""

    def __init__(self, metadata, tensors, facts=None):
        number = {
            key: float(metadata["dpmf." + key])
            for key in ["offset", "min", "max", "factor_penalty", "bias_penalty"]
        }
        self.V, self.b = tensors["item_factors"].astype(float), tensors["item_biases"].astype(float)
        self.offset, self.min, self.unit = number["offset"], number["min"], (number["max"] -
                                                                             number["min"]) / 4
        self.penalty = np.diag([number["bias_penalty"]] +
                               [number["factor_penalty"]] * self.V.shape[1])
        counts = tensors["item_counts"].astype(float)
        self.mean = counts / counts.sum() @ self.V
        self.centred = self.V - self.mean
        self.C = (self.centred * (counts / counts.sum())[:, None]).T @ self.centred
        self.crowd = np.log(counts / counts.mean()) + 0.3 / self.unit * self.b
        self.crowd = self.crowd.astype(np.float32).astype(float)
        self.rest = self.rest_of(counts / counts.sum(), *facts) if facts else None

    def rest_of(self, share, years, kinds):
        """d of docs/goals.md, and its covariance: all years are known, and some kinds."""
        years = np.maximum(years, max(years) - 115)
        knots = np.arange(max(years), min(years) - 5, -5)
        tents = np.maximum(0, 1 - np.abs(years[:, None] - knots) / 10)
        names = {name for own in kinds for name in own}
        often = [name for name in names
                 if sum(name in own for own in kinds) >= max(3, 0.003 * len(kinds))]
        of = np.array([[float(name in own) for name in often] for own in kinds])
        has = of.any(axis=1)
        f = []
        for columns, known, variance in [(tents, years > 0, 2), (of, has, 1)]:
            mean = (share * known) @ columns / (share @ known)
            columns = np.where(known[:, None], columns - mean, 0)
            f.append(columns * np.sqrt(variance / (share @ columns**2).sum()))
        f = np.hstack(f)
        little = 1e-6 * np.trace(self.C) / len(self.C)
        d = f - self.centred @ np.linalg.solve(self.C + little * np.eye(len(self.C)),
                                               (self.centred * share[:, None]).T @ f)
        return d, (d * share[:, None]).T @ d

    def solve(self, own):
        """The best twenty of the others, all scores, and all predicted ratings."""
        items, ratings = [item for item, _ in own], np.array([rating for _, rating in own],
                                                             dtype=float)
        X = np.hstack([np.ones((len(items), 1)), self.V[items]])
        w = np.linalg.solve(X.T @ X + self.penalty, X.T @ (ratings - self.offset - self.b[items]))
        weights = np.clip((ratings - self.min) / self.unit - 0.5, -0.5, 1)
        k, g = self.V.shape[1], 0.3 / self.unit
        p = np.linalg.solve(np.abs(weights).sum() * self.C + np.eye(k) * np.trace(self.C) / 2,
                            weights @ self.centred[items])
        scores = self.crowd + g * (w[0] + w[1:] @ self.mean) + self.centred @ (p + g * w[1:])
        if self.rest:
            d, D = self.rest
            scores += d @ np.linalg.solve(np.abs(weights).sum() * D + np.eye(len(D)),
                                          weights @ d[items])
        others = np.ones(len(self.b), bool)
        others[items] = False
        order = np.lexsort((np.arange(len(self.b)), -scores))
        return [int(i) for i in order[others[order]][:20]
                ], scores, self.offset + self.b + w[0] + self.V @ w[1:]


def compare_with_numpy(page, metadata, tensors, users, facts=None):
    worst, dense = 0, Dense(metadata, tensors, facts)
    for at in range(0, len(users), 100):
        some = users[at:at + 100]
        for own, answer in zip(some, page.run(FOLD_IN, some)):
            order, scores, ratings = dense.solve(own)
            assert [item for item, _, _ in answer] == order, "another order than the dense solve"
            worst = max(worst, max(abs(score - scores[item]) for item, score, _ in answer),
                        max(abs(rating - ratings[item]) for item, _, rating in answer))
    assert worst < 1e-4, worst
    return f"{len(users):,} users, the same order of the top 20, scores within {worst:.1e}"


def test_fold_in_equals_numpy_on_movielens(page, material):
    ratings, movies = (os.path.join(MOVIELENS, name) for name in ["ratings.dat.zst", "movies.dat"])
    if not os.path.exists(ratings):
        raise Skip("MovieLens 1M is not there")
    text = subprocess.run(["zstd", "-dc", ratings], capture_output=True, check=True).stdout.decode()
    release = material.train(ratings, movies, "ml.safetensors", "5", "--format", "movielens")
    page.open("file://" + material.export(release, movies, "ml", "MovieLens"))
    metadata, tensors = release_file.read_release(release)
    ids, offsets = tensors["item_id_bytes"].tobytes(), tensors["item_id_offsets"]
    number = {ids[offsets[i]:offsets[i + 1]].decode(): i for i in range(len(offsets) - 1)}
    users = {}
    for line in text.splitlines():
        user, item, rating, _ = line.split("::")
        users.setdefault(user, []).append((number[item], int(rating)))
    chosen = np.random.default_rng(1).choice(sorted(users), 1000, replace=False)
    with open(movies, encoding="latin-1") as file:
        known = {row[0]: row for row in (line.rstrip("\n").split("::") for line in file)}
    rows = [known[ids[offsets[i]:offsets[i + 1]].decode()] for i in range(len(offsets) - 1)]
    facts = (np.array([int(title.rstrip()[-5:-1]) for _, title, _ in rows]),
             [kinds.split("|") for _, _, kinds in rows])
    return compare_with_numpy(page, metadata, tensors, [users[user] for user in chosen], facts)


def test_fold_in_equals_numpy_on_18000_by_64(page, material):
    url, metadata, tensors = material.made_up("large", 18000, 64)
    page.open(url)
    random = np.random.default_rng(2)
    users = [[
        (int(item), int(rating))
        for item, rating in zip(random.choice(18000, n, replace=False), random.integers(1, 6, n))
    ] for n in random.integers(1, 200, 200)]
    return compare_with_numpy(page, metadata, tensors, users)


# ---- how fast ------------------------------------------------------------------------------------


def test_too_many_factors(page, material):
    url, _, _ = material.made_up("wide", 40, 513)
    page.driver.get(url)
    page.until(lambda: page.is_shown("#trouble"), "a word about its size")
    assert "has 513 factors and is too large for a page" in page.text("#trouble"), page.text(
        "#trouble")
    page.console()


def test_the_most_factors(page, material):
    url, _, _ = material.made_up("wide", 3000, 512)
    page.open(url)
    page.run("dpmf.importText(arguments[0])",
             "item,rating\n" + "\n".join(f"{i + 1},{1 + i % 5}" for i in range(600)))
    for _ in range(9):
        page.run("document.getElementById('more').click()")
    page.run(
        "document.querySelector('#pick-list li:nth-child(2) .star:nth-of-type(2) input').click()")
    page.until(
        lambda: all(why.strip() for why in page.run(
            "return [...document.querySelectorAll('#pick-list .why')].map((e) => e.textContent)")),
        "a reason for each")
    whys = page.run(
        "return [...document.querySelectorAll('#pick-list li')].map((e) => "
        "[dpmf.titles.indexOf(e.querySelector('.title').textContent), "
        "e.querySelector('.why').textContent])")
    assert len(whys) == 100 and whys[1][1] == "Now among your ratings"
    strongest = (
        "const { reason, shares } = dpmf.explain(arguments[0]); return reason === 'taste' ? "
        "dpmf.titles[(shares.find((s) => s.share > 0 && dpmf.ratings.get(s.item) > 3) ?? "
        "shares.find((s) => s.share > 0)).item] : reason === 'crowd' ? 'Popular' : 'best of the "
        "rest'"
    )
    for item, why in [whys[0], whys[50], whys[99]]:
        assert page.run(strongest, item) in why, "a reason of other ratings"
    return (
        "512 factors, 600 ratings, 100 reasons: a star takes "
        f"{page.run('return dpmf.answerTime'):.0f} ms"
    )


def first_picture(page, url):
    """Milliseconds from when the browser has read the page until it is filled; and, from its
    opening, until its heading is painted and until all of it is (docs/page.md). An empty page
    comes before: one that is still at work would be waited for before the next is opened."""
    page.driver.get("about:blank")
    page.open(url)
    page.until(lambda: page.run("return dpmf.firstTime > 0"), "the first picture")
    return page.run("""const [paint] = performance.getEntriesByName("first-contentful-paint");
        return [dpmf.loadTime, paint?.startTime ?? NaN, dpmf.firstTime];""")


def test_time_of_a_star(page, material):
    facts = {"kinds": [f"Kind {i}" for i in range(20)],
             "of": [[i % 20, (i * 7 + 3) % 20] for i in range(18000)],
             "years": [1920 + i * 37 % 100 for i in range(18000)]}
    titles = [f"{material.titles[i % 3000]}, part {i}" for i in range(18000)]
    url, _, _ = material.made_up("large", 18000, 64, titles=titles, facts=facts)
    load, heading, first = np.median([first_picture(page, url) for _ in range(9)], axis=0)
    dial = page.run("""dpmf.rate(1, 5); const times = [], dial = document.getElementById("dial");
        for (let i = 0; i <= 40; i++) { const begun = performance.now(); dial.value = i % 21 / 20;
            dial.dispatchEvent(new Event("input"));
            times.push(performance.now() - begun); }
        return times.sort((a, b) => a - b)[20];""")
    times, frames = [], []
    for i in range(40):
        star = f"#pick-list li:nth-child({1 + i % 8}) .star:nth-of-type({1 + 3 * i % 5}) input"
        page.run("document.querySelector(arguments[0]).click()", star)
        page.until(lambda: page.run("return dpmf.frameTime > 0"))
        times.append(page.run("return dpmf.answerTime"))
        frames.append(page.run("return dpmf.frameTime"))
    assert len(stars_of(page)) >= 30
    page.run("dpmf.searchTitles('x')")
    search = page.run("""const begun = performance.now();
        for (let i = 0; i < 20; i++) dpmf.searchTitles("th ga");
        return (performance.now() - begun) / 20;""")
    return (
        f"18,000 x 64: a star changes the page in {np.median(times):.1f} ms (at most "
        f"{max(times):.1f}), laid out after "
        f"{np.median(frames):.1f} ms; the dial {dial:.1f} ms; a search {search:.1f} ms; loading "
        f"{load:.0f} ms; after it was opened, the heading {heading:.0f} ms, the first picture "
        f"{first:.0f} ms")
