/*
 * A history from another service: files, or ZIP archives of them, that Letterboxd, IMDb, Goodreads, StoryGraph, Trakt, Netflix, Spotify or
 * Last.fm wrote. The
 * module reads and matches them (docs/titles.md); here is the screen that shows what was matched, how surely, and what was not, and
 * that lets one correct it before anything is taken. openHistory() and serviceOf() are all that the rest calls.
 */

const SERVICES = { letterboxd: "Letterboxd", imdb: "IMDb", goodreads: "Goodreads", storygraph: "StoryGraph", trakt: "Trakt",
    netflix: "Netflix", spotify: "Spotify", lastfm: "Last.fm" };
const MATCHES = ["none", "unsure", "likely", "sure"];
const HISTORY_PAGE = 40; /* rows of a group that are shown at first, and with every "more" */

let brought = []; /* entries: title, creator, year, match, item (-1: none), value (null: not rated), candidates */

/* The name of the service that wrote a file; "" for none that is known. */
function serviceOf(bytes) {
    return withBytes(bytes, (address, n) => {
        const name = wasm.diary_service(address, n);
        return name ? textAt(name) : "";
    });
}

function entryAt(i) {
    const n = ask("diary_entry", i), [match, item, rating, plays, year, ...candidates] = answers(n);
    const isLiked = Number.isNaN(rating) || rating >= scale.like;
    const value = scale.hearts ? isLiked ? 1 : null : Number.isNaN(rating) ? null : clamp(rating, scale.min, scale.max);
    return { title: textAt(wasm.diary_title(i)), creator: textAt(wasm.diary_creator(i)), year, plays, item, value,
        match: MATCHES[match], candidates };
}

/* Reads files and matches them. @return words about the rows that were left out */
function readHistory(files) {
    indexTitles();
    ask("diary_new");
    for (const { bytes, name } of files)
        withBytes(new TextEncoder().encode(name + "\0"), (label) => withBytes(bytes, (address, n) => ask("diary_add", address, n, label)));
    ask("diary_match");
    ask("diary_info");
    const [entries, , bad, line, wishes, trifles, , filesLeft] = answers(8);
    brought = Array.from({ length: entries }, (_, i) => entryAt(i));
    return [bad && t("historyBad", { n: bad, line }), wishes && t("historyWishes", { n: wishes }),
        trifles && t("historyTrifles", { n: trifles }), filesLeft && t("historyFilesLeft", { n: filesLeft })].filter(Boolean);
}

const sayEntry = (entry) => entry.title + (entry.year && !entry.title.includes(String(entry.year)) ? ` (${entry.year})` : "") +
    (entry.creator ? ` · ${entry.creator}` : "");

/* The items that a row offers: what was found or could be, then what is like the title, with all of its words. */
function offersOf(entry, typed = "") {
    const { best, without } = typed || entry.match === "none" ? searchTitles(typed || entry.title, 5) : { best: [], without: "" };
    return [...new Set([...(entry.item >= 0 ? [entry.item] : []), ...(typed ? [] : entry.candidates), ...(without === "" ? best : [])])];
}

function fillOffers(menu, entry, typed) {
    const offers = offersOf(entry, typed);
    /* A closed menu shows its choice alone: what it could be instead would be seen by nobody. */
    const first = entry.match === "unsure" && !typed && offers.length > 0 ? ` (${titles[offers[0]]}?)` : "";
    menu.replaceChildren(make("option", { value: -1, text: t("historyLeave") + first }),
        ...offers.map((item) => make("option", { value: item, text: titles[item] })));
    menu.value = String(entry.item);
}

/* A row: the title, a menu of what it may be, and, where it was not found surely, a field to look for it. */
function historyRow(entry) {
    const words = sayEntry(entry), menu = make("select", { "aria-label": t("historyIs", { title: words }) });
    fillOffers(menu, entry, "");
    menu.addEventListener("change", () => { entry.item = Number(menu.value); showTake(); });
    const field = entry.match === "sure" ? null : make("input", { type: "text", placeholder: t("historyFind"), autocomplete: "off",
        "aria-label": t("historyFindLabel", { title: words }), oninput: () => {
            fillOffers(menu, entry, field.value.trim());
            say(t("found", { n: menu.length - 1 }));
        } });
    const value = entry.value === null || scale.hearts ? null : make("span", { class: "given-note", text: `★ ${scale.show(entry.value)}` });
    return make("li", {}, make("span", { class: "title", text: words, dir: "auto" }), value, menu, field);
}

/* A group of entries, some of them at a time. */
function historyGroup(match, isOpen) {
    const entries = brought.filter((entry) => entry.match === match), list = make("ul", { role: "list", class: "history" });
    if (entries.length === 0) return null;
    let n = 0;
    const more = make("button", { type: "button", class: "quiet", text: t("more"), onclick: () => grow() });
    const grow = () => {
        list.append(...entries.slice(n, n + HISTORY_PAGE).map(historyRow));
        n = Math.min(entries.length, n + HISTORY_PAGE);
        more.hidden = n === entries.length;
    };
    const isByTitle = match === "likely" && entries.every((entry) => !entry.year); /* no year differs where there is none */
    const box = make("details", { class: "history-group", "data-match": match, open: isOpen },
        make("summary", { text: t("history_" + match + (isByTitle ? "Title" : ""), { n: entries.length }) }), list, more);
    const fill = () => { if (n === 0 && box.open) grow(); };
    box.addEventListener("toggle", fill);
    fill();
    return box;
}

/* What was chosen: ratings by item, of which the last of two stays, and what was only watched or read and has no rating here. */
function whatToTake() {
    const chosen = brought.filter((entry) => entry.item >= 0);
    const rated = new Map(chosen.filter(({ value }) => value !== null).map(({ item, value }) => [item, value]));
    const seen = new Set(chosen.map(({ item }) => item).filter((item) => !rated.has(item) && !ratings.has(item)));
    return { rated, seen: [...seen] };
}

/* What taking it would do. */
function showTake() {
    const { rated, seen } = whatToTake(), n = rated.size;
    const changed = [...rated].filter(([item, value]) => ratings.has(item) && ratings.get(item) !== value).length;
    $("history-take").disabled = n + seen.length === 0;
    $("history-take").textContent = n === 0 && seen.length > 0 ? t("historyTakeSeen", { n: seen.length }) : t("historyTake", { n });
    $("history-seen").replaceChildren(...[
        seen.length > 0 && t("historySeen", { n: seen.length }),
        changed > 0 && t("historyChanged", { n: changed }),
        scale.hearts && n > 0 && seen.length === 0 && t("historyAllLiked"),
    ].filter(Boolean).map((text) => make("li", { text })));
}

function openHistory(files) {
    const left = readHistory(files), service = (file) => serviceOf(file.bytes);
    const services = [...new Set(files.map((file) => service(file) === "zip" ? textAt(wasm.diary_from()) : service(file)))];
    const from = services.map((name) => SERVICES[name] ?? t("historyFile")).join(", ");
    $("history-heading").textContent = t("historyHeading", { from });
    $("history-lead").textContent = t("historyLead", { n: brought.length });
    $("history-left").replaceChildren(...left.map((text) => make("li", { text })));
    const groups = [["unsure", true], ["none", false], ["likely", false], ["sure", false]];
    $("history-groups").replaceChildren(...groups.map(([match, isOpen]) => historyGroup(match, isOpen)).filter((group) => group));
    showTake();
    $("history").showModal();
    $("history-heading").focus();
}

/* Ratings as they are; what was only watched or read is not recommended any more, and its stars are asked for. */
function takeHistory() {
    const { rated, seen } = whatToTake(), n = rated.size;
    doing(() => {
        for (const [item, value] of rated) setRating(item, value);
        for (const item of seen) hide(item);
    });
    $("history").close();
    kept = candidate = null;
    isBeginOpen = false;
    if (seen.length > 0 && !scale.hearts) askForStars(seen);
    show();
    if (isBeginOpen) $("begin").scrollIntoView({ block: "nearest" });
    const words = [...(n > 0 || seen.length === 0 ? [t("historyTaken", { n })] : []),
        ...(seen.length > 0 ? [t("historyTakenSeen", { n: seen.length })] : [])].join(" ");
    notice(words);
    toast(words);
}

function startHistory() {
    $("history-take").addEventListener("click", takeHistory);
}
