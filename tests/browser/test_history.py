"""Histories from other services, and the search that forgives. tests/browser/run.py runs it."""

import base64
import io
import json
import random
import zipfile

from material import be_still, pick_list, stars_of, type_text


def bring(page, *files):
    """Loads files, as the button does once they are chosen."""
    page.run(
        """dpmf.bringFiles(arguments[0].map(([name, text]) =>
            ({ name, bytes: new TextEncoder().encode(text) })))""",
        [list(file) for file in files])


def letterboxd(rows):
    return ("Date,Name,Year,Letterboxd URI,Rating\n" + "".join(f"2021-01-{i + 1:02},{row}\n"
                                                               for i, row in enumerate(rows)))


def shelf(material):
    titles = [
        "Lamp, The (1999)", "Moon Wars: A Tale (1977)", "Twice Told (2011)", "Twice Told (2011)",
        "Glow (2001)", "Rocket II (1986)", "Sandcastle (2005)", "Twelve Lighthouses (1995)",
        "7 Ferries (1994)"
    ]
    return material.variant(
        "shelf", titles=titles + [f"{title} (1950)" for title in material.titles[len(titles):]])


def groups(page):
    return page.run(
        """return Object.fromEntries([...document.querySelectorAll(".history-group")].map((box) =>
        [box.dataset.match, box.querySelector("summary").textContent]))""")


HISTORY = [
    'The Lamp,1999,u,4.5', 'Moon Wars,1977,u,5', 'Twice Told,2011,u,3', 'Glow,2001,u,',
    'Sandcastel,2005,u,2', 'Rocket 2,1986,u,1'
]


SERVICES = [
    "Letterboxd", "IMDb", "Goodreads", "StoryGraph", "Trakt", "Netflix", "Spotify", "Last.fm"
]

BOX = """const box = document.querySelector(arguments[0]).getBoundingClientRect();
    return [box.top, box.bottom];"""


def test_a_history_is_offered_where_one_begins(page, material):
    """On a phone too, on the first screen, by the names of the services; and what is wrong with a
    file is in sight."""
    try:
        for width, height in [(1280, 860), (390, 844)]:
            page.resize(width, height)
            page.open(shelf(material))
            page.run("scrollTo(0, 0)")
            for part in ["#bring", "#bring-note"]:
                top, bottom = page.run(BOX, part)
                assert 0 <= top < bottom <= height, (part, top, bottom)
            note = page.text("#bring-note")
            assert [service for service in SERVICES if service not in note] == [], note
            page.run("""document.getElementById("file").click = () => { window.asked = true; };
                document.getElementById("bring").click();""")
            assert page.run("return window.asked"), "the button does not ask for a file"
            page.find("#file").send_keys(material.write("wrong.csv", b"\xff\xfe\x00rubbish"))
            page.until(lambda: page.is_shown("#notice"), "what is wrong with it")
            page.until(lambda: 0 <= min(page.run(BOX, "#notice")) and
                       max(page.run(BOX, "#notice")) <= height, "the notice, in sight")
            page.run("dpmf.rate(1, 5)")
            assert (page.is_shown("#bring") and
                    not page.is_shown("#bring-note")), "the words are for the beginning"
    finally:
        page.resize(1280, 860)


def test_a_history_is_shown_before_it_is_taken(page, material):
    page.open(shelf(material))
    bring(page, ["ratings.csv", letterboxd(HISTORY)])
    assert (page.is_shown("#history") and
            page.text("#history-heading") == "Your history from Letterboxd")
    assert groups(page) == {
        "unsure": "1 not certain: please choose", "none": "1 not found here",
        "likely": "1 found, though the year or a part of the title differs", "sure": "3 found"
    }, groups(page)
    assert page.text("#history-take") == "Take 3 ratings" and page.texts("#history-seen li") == [
        "1 was watched or read, and not rated: it will not be recommended."
    ]
    assert stars_of(page) == {}, "nothing is taken yet"
    page.find("#history-take").click()
    be_still(page)
    assert stars_of(page) == {0: 4.5, 1: 5, 5: 1} and page.run("return [...dpmf.hidden]") == [4]
    page.find("#toast-undo").click()
    assert stars_of(page) == {} and page.run("return [...dpmf.hidden]") == []


NETFLIX = "Title,Date\n" + "".join(f'"{title}","1/{i + 1}/20"\n' for i, title in enumerate(
    ["Glow", "Sandcastle", "7 Ferries", "A Series: Season 1: One"]))


def test_what_was_only_watched_is_asked_for(page, material):
    """A history without ratings says what it does, and then asks for the stars of its titles."""
    page.open(shelf(material))
    bring(page, ["NetflixViewingHistory.csv", NETFLIX])
    assert groups(page) == {
        "none": "1 not found here",
        "likely": "3 found by their titles: the file has no years for them"
    }, groups(page)
    assert page.text("#history-take") == "Take 3 titles as seen", page.text("#history-take")
    page.find("#history-take").click()
    assert page.text("#toast-text") == "3 titles of your history count as seen."
    assert stars_of(page) == {} and sorted(page.run("return [...dpmf.hidden]")) == [4, 6, 8]
    assert sorted(page.run("return dpmf.tiles.slice(0, 3)")) == [4, 6, 8], "they are asked for"
    assert page.text("#begin-lead").startswith("What you have seen comes first.")
    first = page.run("return dpmf.tiles[0]")
    page.run("dpmf.rate(arguments[0], 4)", first)
    page.until(lambda: page.run("return dpmf.tiles[0]") not in (4, 6, 8), "another suggestion")
    assert page.text("#unhide") == "Show 2 hidden titles again", page.text("#unhide")
    page.run("dpmf.undo(); dpmf.undo()")
    assert page.run("return dpmf.hidden.size") == 0 and not page.is_shown("#unhide")
    assert not page.text("#begin-lead").startswith("What you have seen comes first.")


def test_a_history_says_what_it_replaces(page, material):
    page.open(shelf(material))
    page.run("dpmf.rate(0, 2); dpmf.rate(1, 5); dpmf.rate(4, 3)")
    bring(page, ["ratings.csv", letterboxd(HISTORY)])
    assert page.texts("#history-seen li") == [
        "1 of the ratings takes the place of one that you gave here."
    ], page.texts("#history-seen li")  # the same rating replaces nothing; Glow is rated here
    page.find("#history-take").click()
    assert stars_of(page) == {0: 4.5, 1: 5, 4: 3, 5: 1} and not page.run("return dpmf.hidden.size")


def test_take_stays_in_sight_of_a_long_history(page, material):
    page.open(shelf(material))
    rows = [f"Twice Told,2011,u,{1 + i % 5}" for i in range(1)] + [
        f"No Such Thing {i},20{i % 20:02},u,3" for i in range(60)] + HISTORY
    bring(page, ["ratings.csv", letterboxd(rows)])
    page.run("for (const box of document.querySelectorAll('.history-group')) box.open = true")
    page.until(lambda: len(page.find_all(".history li")) > 30, "the rows")
    for at in [0, 400, 100000]:
        page.run("document.getElementById('history').scrollTop = arguments[0]", at)
        low, high = page.run(BOX, "#history")
        for part in ["#history-take", "#history .close"]:
            top, bottom = page.run(BOX, part)
            assert low <= top < bottom <= high, (part, at, top, bottom)


def test_a_history_can_be_corrected(page, material):
    page.open(shelf(material))
    bring(page, ["ratings.csv", letterboxd(HISTORY)])
    menus = '.history-group[data-match="{}"] select'
    choices = page.run(
        "return [...document.querySelector(arguments[0]).options].map((o) => o.textContent)",
        menus.format("unsure"))
    assert choices[0] == f"leave it out ({choices[1]}?)", choices
    page.run(
        """const menu = document.querySelector(arguments[0]); menu.value = "3";
            menu.dispatchEvent(new Event("change"))""",
        menus.format("unsure"))
    page.run("document.querySelector(arguments[0]).open = true",
             '.history-group[data-match="none"]')
    page.until(lambda: page.find_all(menus.format("none")), "the rows of the group")
    offered = page.run(
        "return [...document.querySelector(arguments[0]).options].map((o) => o.textContent)",
        menus.format("none"))
    assert "Sandcastle (2005)" in offered, offered
    page.run(
        """const menu = document.querySelector(arguments[0]); menu.value = "6";
            menu.dispatchEvent(new Event("change"))""",
        menus.format("none"))
    assert page.text("#history-take") == "Take 5 ratings"
    field = page.find('.history-group[data-match="none"] input')
    field.send_keys("glo")
    offered = page.run(
        "return [...document.querySelector(arguments[0]).options].map((o) => o.textContent)",
        menus.format("none"))
    assert "Glow (2001)" in offered and "leave it out" in offered, offered
    page.find("#history-take").click()
    assert stars_of(page) == {0: 4.5, 1: 5, 3: 3, 5: 1, 6: 2}, stars_of(page)


def test_several_files_of_several_services(page, material):
    page.open(shelf(material))
    trakt = [{
        "rated_at": "2021-01-01T00:00:00Z", "rating": 8, "type": "movie",
        "movie": {"title": "Glow", "year": 2001, "ids": {}}
    }]
    bring(page, ["ratings.csv", letterboxd(HISTORY[:1])],
          ["ratings-movies.json", json.dumps(trakt)])
    assert page.text("#history-heading") == "Your history from Letterboxd, Trakt"
    page.find("#history-take").click()
    assert stars_of(page) == {0: 4.5, 4: 4}, stars_of(page)


def test_half_stars_stay_half(page, material):
    page.open(shelf(material))
    bring(page, ["ratings.csv", letterboxd(['The Lamp,1999,u,4.5', 'Moon Wars,1977,u,3.5'])])
    page.find("#history-take").click()
    be_still(page)
    drawn = page.run(
        """return [...document.querySelectorAll("#rated > li")].map((row) =>
            [row.querySelector(".title").textContent,
        [...row.querySelectorAll(".star")].map((star) =>
            star.classList.contains("on") ? 2 : star.classList.contains("half") ? 1 : 0),
        row.querySelector(".value").textContent, row.querySelector("legend").textContent])""")
    assert ([row[1:3] for row in drawn] == [[[2, 2, 2, 1, 0], "3.5"], [[2, 2, 2, 2, 1],
                                                                       "4.5"]]), drawn
    assert "4.5" in drawn[1][3], drawn
    half = page.run(
        """return getComputedStyle(document.querySelector("#rated .star.half"),
            "::after").clipPath"""
    )
    assert half == "inset(0px 50% 0px 0px)", half


def zipped(files, method=zipfile.ZIP_DEFLATED):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as out:
        for name, text in files:
            out.writestr(name, text)
    return archive.getvalue()


def bring_bytes(page, name, data):
    page.run(
        """dpmf.bringFiles([{ name: arguments[0],
            bytes: Uint8Array.from(atob(arguments[1]), (c) => c.charCodeAt(0)) }])""",
        name,
        base64.b64encode(data).decode())


def test_archives_are_read(page, material):
    page.open(shelf(material))
    files = [("ratings.csv", letterboxd(HISTORY)),
             ("watchlist.csv", letterboxd(["Rocket II,1986,u,"])),
             ("profile.csv", "Username\nann\n")]
    for method in [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED]:
        bring_bytes(page, "letterboxd.zip", zipped(files, method))
        assert page.text("#history-heading") == "Your history from Letterboxd"
        assert ("2 other files of the archive were not read"
                in page.text("#history-left")), page.text("#history-left")
        assert page.text("#history-take") == "Take 3 ratings"
        page.run("document.getElementById('history').close()")
    whole = zipped(files)
    for data, word in [(whole[:len(whole) // 2], "damaged or cut"),
                       (zipped([("a.txt", "x")]), "no history of a known service")]:
        bring_bytes(page, "letterboxd.zip", data)
        assert word in page.text("#notice") and not page.is_shown("#history"), page.text("#notice")
    assert stars_of(page) == {}


def test_several_people_are_never_merged(page, material):
    page.open(shelf(material))
    activity = (
        "Profile Name,Start Time,Title,Supplemental Video Type,Device Type\nAnn,,The "
        "Lamp,,TV\n{},,Glow,,Phone\n"
    )
    for name, text in [("a.csv", activity.format("Ben")),
                       ("a.csv", "title,year,rating,account\nThe Lamp,1999,4,a\nGlow,2001,4,b\n")]:
        bring(page, [name, text])
        assert ("several people" in page.text("#notice") and
                not page.is_shown("#history")), (text, page.text("#notice"))
    bring_bytes(page, "netflix.zip", zipped([("ViewingActivity.csv", activity.format("Ben"))]))
    assert "several people" in page.text("#notice") and not page.is_shown("#history")
    for column in ["user", "username", "account", "Profile Name", "member", "reviewer"]:
        bring(page, ["a.csv", f"item,rating,{column}\n3,4,a\n5,2,b\n"])
        assert "ratings of 2 people" in page.text("#notice"), (column, page.text("#notice"))
    assert stars_of(page) == {}
    bring(page, ["a.csv", activity.format("Ann")])
    assert (page.is_shown("#history") and
            page.text("#history-heading") == "Your history from Netflix")


def test_files_that_are_no_history(page, material):
    page.open(shelf(material))
    bring(page, ["own.csv", "item,rating,title\n3,4,Moon Wars\n"])
    assert (not page.is_shown("#history") and
            len(stars_of(page)) == 1), ("what the page wrote is taken at once")
    bring(page, ["watchlist.csv", letterboxd(HISTORY)])
    assert not page.is_shown("#history") and "titles to watch" in page.text("#notice")
    bring(page, ["x.json", '[{"msPlayed":1,"artistName":"A"},{]'])
    assert not page.is_shown("#history") and "JSON" in page.text("#notice")


def test_the_search_forgives(page, material):
    page.open(shelf(material))
    for typed, item in [("moonwars", 1), ("wars moon", 1), ("the lamp", 0), ("sandcaslte", 6),
                        ("rocket ii", 5), ("12 lighthouses", 7), ("seven ferries", 8),
                        ("twelve lighthouses", 7)]:
        best = page.run("return dpmf.searchTitles(arguments[0]).best", typed)
        assert best[0] == item, (typed, best)
    assert page.run("return dpmf.titles[0]") == "The Lamp (1999)", "as people write it"
    type_text(page, "moom wars")
    assert page.texts("#found li")[0] == "Moon Wars: A Tale (1977)"
    type_text(page, "teh lamp")
    assert page.texts("#found li")[0] == "The Lamp (1999)" and not page.is_shown("#found-note")


def test_a_word_too_many_is_left_out_of_a_search(page, material):
    page.open(shelf(material))
    for typed, item, without in [("moon wars 4", 1, "4"), ("lamp qqqq", 0, "qqqq"),
                                 ("12 lighthouses", 7, ""), ("12 lighthouses ÇQQ", 7, "ÇQQ"),
                                 ("qqqq zzzz", None, "")]:
        found = page.run("return dpmf.searchTitles(arguments[0])", typed)
        assert (found["best"][:1] == ([] if item is None else [item]) and
                found["without"] == without), (typed, found)
    for tag, words in [("de", "„QQ4“ wurde weggelassen"), ("fr", "« QQ4 » a été ignoré"),
                       ("es", "se ha omitido «QQ4»"), ("ja", "「QQ4」を除いて"),
                       ("en", "No title has all of these words: “QQ4” was left out.")]:
        page.run(
            "const m = document.getElementById('language'); m.value = arguments[0]; "
            "m.dispatchEvent(new Event('change'));", tag)
        type_text(page, "moon wars QQ4")
        assert page.texts("#found li")[0] == "Moon Wars: A Tale (1977)"
        assert words in page.text("#found-note"), (tag, page.text("#found-note"))
    assert page.find("#search").get_attribute("aria-expanded") == "true"
    type_text(page, "moon wars")
    assert not page.is_shown("#found-note")
    bring(page, ["ratings.csv", letterboxd(["Moon Wars 9,1990,u,4"])])
    offers = page.run(
        """const group = document.querySelector(".history-group[data-match=none]");
        group.open = true; group.dispatchEvent(new Event("toggle"));
        return [...group.querySelectorAll("option")].map((option) => option.textContent)""")
    assert len(offers) == 1, ("only titles with all words are offered", offers)


def test_the_search_is_within_a_frame_at_635_000_titles(page, material):
    """Times are printed and not judged."""
    chance = random.Random(5)
    syllables = [
        a + b for a in "bcdfghjklmnprstvwz"
        for b in ["a", "e", "i", "o", "u", "an", "er", "on", "ish"]
    ]
    words = [
        "".join(chance.choice(syllables) for _ in range(chance.choice([1, 2, 2, 3, 3, 4])))
        for _ in range(200_000)
    ]
    rank = lambda: words[min(int(200_000 * chance.random() ** 4), 199_999)]
    titles = [
        " ".join(rank().capitalize() for _ in range(chance.choice([1, 2, 2, 3, 3, 4, 5, 6]))) +
        f" ({chance.randint(1930, 2025)})" for _ in range(635_000)
    ]
    url, *_ = material.made_up("many", 635_000, 2, titles=titles)
    page.open(url)
    times = page.run(
        """dpmf.searchTitles("x"); const all = [];
        for (const text of arguments[0])
            for (let n = 1; n <= text.length; n++) {
                const from = performance.now();
                dpmf.searchTitles(text.slice(0, n));
                all.push(performance.now() - from);
            }
        return [dpmf.indexTime, all.sort((a, b) => a - b)]""",
        [titles[7], titles[99].replace(" ", ""), titles[5000][:-9] + "x", "zzzqqq wwwvvv"])
    made, keys = times
    return (
        f"index {made:.0f} ms; a key {keys[len(keys) // 2]:.1f} ms in the middle, {keys[-1]:.1f} "
        f"ms at most, of {len(keys)}"
    )
