/*
 * The page at work: search, stars, recommendations with their reasons, the map and the privacy statement.
 *
 * Everything it needs is in the page itself: the release, the titles and the statement in <script> blocks of data,
 * and the module (client_module.c) that computes with them. Ratings live in this script's memory; there is no code here
 * that sends them, and the page's policy pins this script by its hash. Sections, in reading order:
 *
 *   helpers · the module · the scale and the titles · state · stars · the search · lists · recommendations ·
 *   the sheet of one title · the map · privacy · files and memory · the start
 *
 * Texts from the release reach the page as text nodes only, so that a title can be anything.
 */
"use strict";
(() => {

// ---- helpers --------------------------------------------------------------------------------------------------------

const $ = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const dark = matchMedia("(prefers-color-scheme: dark)");

/* An element with properties (class, text, on..., attributes) and children. */
function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(properties)) {
        if (value === null || value === undefined || value === false) continue;
        if (key === "text") element.textContent = value;
        else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
}

const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const count = (n) => n.toLocaleString("en");
const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

/* Tells a screen reader, after a moment, so that only the last of several quick changes is read out. */
let sayTimer = 0;
function say(text, delay = 700) {
    clearTimeout(sayTimer);
    sayTimer = setTimeout(() => { $("status").textContent = text; }, delay);
}

/* The page cannot go on, and says why instead of being half there. */
function giveUp(problem) {
    console.error(problem);
    $("page").hidden = $("seal").hidden = true;
    if ($("sheet").open) $("sheet").close();
    $("trouble").replaceChildren(make("strong", { text: "This page cannot be used. " }), problem.message ?? String(problem));
    $("trouble").hidden = false;
}

// ---- the module -----------------------------------------------------------------------------------------------------
// Calls into WebAssembly. A negative answer becomes an Error with the module's own words.

let wasm = null;
const utf8 = new TextDecoder();

const bytesAt = (address, n) => new Uint8Array(wasm.memory.buffer, address, n);
const answers = (n) => new Float64Array(wasm.memory.buffer, wasm.answer(), n);

function textAt(address) {
    const all = new Uint8Array(wasm.memory.buffer);
    return utf8.decode(all.subarray(address, all.indexOf(0, address)));
}

function ask(name, ...values) {
    let result;
    try {
        result = wasm[name](...values);
    } catch (trap) { /* the module never means to end so: nothing in it can be trusted any more */
        giveUp(new Error(`The computation broke off (${trap.message}). Load the page again.`));
        throw trap;
    }
    if (result < 0 || Number.isNaN(result)) throw new Error(textAt(wasm.error_text()));
    return result;
}

/* Pairs of an item and a number, as recommend and similar give them. */
function askList(name, ...values) {
    const n = ask(name, ...values), flat = answers(2 * n), list = [];
    for (let i = 0; i < n; i++) list.push({ item: flat[2 * i], score: flat[2 * i + 1] });
    return list;
}

/* Decodes base64 in pieces, so that a large release is in memory once. */
function decode(text, into) {
    const PIECE = 1 << 18; /* a multiple of four */
    for (let from = 0, at = 0; from < text.length; from += PIECE) {
        const piece = atob(text.slice(from, from + PIECE));
        for (let i = 0; i < piece.length; i++) into[at++] = piece.charCodeAt(i);
    }
}

function dataOf(id, what) {
    const block = $(id);
    if (!block)
        throw new Error(`There is no ${what} in it. Pages are made by “dpmf serve” and “dpmf export” with “--web”.`);
    const text = block.textContent.trim();
    block.remove(); /* its text is as large as the release */
    return text;
}

function sizeOf(base64, what) {
    if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64))
        throw new Error(`The ${what} in it is damaged. Get the page again from where it came from.`);
    return base64.length / 4 * 3 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}

async function loadModule() {
    const base64 = dataOf("dpmf-module", "program"), bytes = new Uint8Array(sizeOf(base64, "program"));
    decode(base64, bytes);
    try {
        wasm = (await WebAssembly.instantiate(bytes, {})).instance.exports;
    } catch (problem) {
        throw new Error("This browser cannot run it: it needs WebAssembly with SIMD, which browsers have since 2023. " +
            `(${problem.message})`);
    }
}

function openRelease() {
    const base64 = dataOf("dpmf-release", "release"), n = sizeOf(base64, "release");
    const address = wasm.allocate(n);
    if (!address) throw new Error("This device does not give the page enough memory for the release.");
    decode(base64, bytesAt(address, n));
    try {
        ask("open", address, n);
    } catch (problem) {
        throw new Error(`Its release cannot be used: ${problem.message}.`);
    }
}

// ---- the scale and the titles ---------------------------------------------------------------------------------------

let release = null; /* items, factors, offset, min, max, and whether lists have a dial */
let scale = null;
let titles = [];    /* a text for each item */
let folded = [];    /* the same as the search sees them, filled when there is time */

/* Ratings are whole, or in halves where an end of the range is; stars where there are few of them, counted from one. */
function makeScale(min, max) {
    const whole = Number.isInteger(min) && Number.isInteger(max);
    const halves = Number.isInteger(2 * min) && Number.isInteger(2 * max);
    const step = whole ? 1 : halves ? 0.5 : (max - min) / 20;
    const n = Math.round((max - min) / step) + 1;
    const decimals = max - min > 20 ? 0 : 1;
    return {
        min, max, step,
        stars: min === step && n <= 10 ? Array.from({ length: n }, (_, i) => min + i * step) : null,
        show: (value) => String(+value.toFixed(2)),
        expect: (value) => clamp(value, min, max).toFixed(decimals),
        share: (value) => (clamp(value, min, max) - min) / (max - min),
    };
}

function idOf(item) {
    const address = ask("item_id", item);
    return utf8.decode(bytesAt(address, answers(1)[0]));
}

function findId(id) {
    const bytes = new TextEncoder().encode(id), address = wasm.allocate(bytes.length);
    if (!address) return -1;
    bytesAt(address, bytes.length).set(bytes);
    const item = wasm.find_item(address, bytes.length);
    wasm.deallocate(address);
    return item;
}

function readTitles() {
    let list;
    try {
        list = JSON.parse(dataOf("dpmf-items", "list of titles"));
    } catch (problem) {
        if (!(problem instanceof SyntaxError)) throw problem;
    }
    if (!Array.isArray(list) || list.length !== release.items)
        throw new Error("Its list of titles does not belong to its release. Get the page again from where it came from.");
    titles = list.map((title, item) => typeof title === "string" && title.trim() ? title : idOf(item));
}

const PLAIN = { ł: "l", ø: "o", đ: "d", ð: "d", þ: "th", ß: "ss", æ: "ae", œ: "oe", ı: "i", ħ: "h" };

/* Small letters without marks, words parted by single blanks and preceded by one; apostrophes join. */
function fold(text) {
    let plain = text.toLowerCase().replace(/['’‘ʼ]/g, "");
    if (/[^\x00-\x7f]/.test(plain))
        plain = plain.normalize("NFKD").replace(/\p{M}+/gu, "").replace(/[łøđðþßæœıħ]/g, (c) => PLAIN[c]);
    return " " + plain.replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

/* Folds titles a few thousand at a time between other things; the search does the rest if it comes sooner. */
function foldSome(until = Math.min(titles.length, folded.length + 4000)) {
    while (folded.length < until) folded.push(fold(titles[folded.length]));
    if (folded.length < titles.length) setTimeout(foldSome, 10);
}

/* How well a folded title answers the words: 0 begins so, 1 the phrase, 2 words begin so, 3 somewhere; -1 not. */
function matchOf(title, phrase, words) {
    for (const word of words) if (!title.includes(word)) return -1; /* nearly all end here */
    const at = title.indexOf(phrase);
    if (at >= 0) return at === 0 ? 0 : 1;
    return words.every((word) => title.includes(" " + word)) ? 2 : 3;
}

/* How well each title answers what was typed, which is taken as it is where it has neither letters nor digits. */
function matcherOf(typed) {
    const phrase = fold(typed), words = phrase.slice(1).split(" "), plain = typed.trim().toLowerCase();
    if (phrase !== " ") return (item) => matchOf(folded[item], phrase, words);
    return (item) => {
        const at = titles[item].toLowerCase().indexOf(plain);
        return Math.min(at, 1);
    };
}

/* The best n titles for what was typed, the shorter first where they match equally well; and how many match in all. */
function searchTitles(typed, n = 10) {
    const best = [];
    let matches = 0;
    if (typed.trim() === "") return { best: [], matches };
    if (folded.length < titles.length) foldSome(titles.length);
    const matcher = matcherOf(typed);
    for (let item = 0; item < folded.length; item++) {
        const match = matcher(item);
        if (match < 0) continue;
        matches++;
        const rank = match * 1e6 + folded[item].length;
        if (best.length === n && rank >= best[n - 1].rank) continue;
        let at = best.length;
        while (at > 0 && best[at - 1].rank > rank) at--;
        best.splice(at, 0, { item, rank });
        if (best.length > n) best.pop();
    }
    return { best: best.map((found) => found.item), matches };
}

// ---- state ----------------------------------------------------------------------------------------------------------

const PAGE = 10;
const ratings = new Map(); /* item -> rating, in the order they were first given */
const hidden = new Set();
let candidate = null;      /* a title picked in the search: on top of one's ratings, rated or not */
let older = 50;            /* how many of one's ratings are listed; files may bring thousands */
let kept = null;           /* a recommendation just rated stays in its place until the next rating: {item, at} */
let shown = PAGE;
let picks = [];            /* what is recommended now: {item, score} */
let starTime = 0;          /* when the last star was given, ... */
let answerTime = NaN;      /* ... milliseconds until the page had changed, ... */
let frameTime = NaN;       /* ... and until it was laid out too */

/* Gives, changes or (null) takes away a rating, and shows what follows from it. */
function rate(item, value, place = null) {
    starTime = performance.now();
    try {
        setRating(item, value);
    } catch (problem) { /* the person is as before, and so must the stars be */
        for (const box of document.querySelectorAll(".stars")) box.rating = undefined;
        show();
        return notice(`That rating could not be taken: ${problem.message}.`);
    }
    kept = place === "picks" && value !== null ? { item, at: picks.findIndex((pick) => pick.item === item) } : null;
    if (candidate === item && value === null) candidate = null;
    show();
    answerTime = performance.now() - starTime;
    const first = picks.find((pick) => !ratings.has(pick.item));
    say((value === null ? "Rating removed. " : `${scale.show(value)} of ${scale.max} for ${titles[item]}. `) +
        (first ? `First recommendation now: ${titles[first.item]}.` : ""));
}

function setRating(item, value) {
    ask("rate", item, value === null ? NaN : value);
    if (value === null) ratings.delete(item);
    else ratings.set(item, value);
    ask("exclude", item, value !== null || hidden.has(item) ? 1 : 0);
}

function hide(item, on = true) {
    if (on) hidden.add(item);
    else hidden.delete(item);
    ask("exclude", item, on || ratings.has(item) ? 1 : 0);
}

/* Everything that depends on ratings; the map follows in the next frame. */
function show() {
    picks = askList("recommend", shown);
    if (kept && kept.at >= 0) {
        picks.splice(Math.min(kept.at, picks.length), 0, { item: kept.item, score: ask("predict", kept.item) });
        picks.length = Math.min(picks.length, shown);
    }
    sliding(() => {
        showRated();
        showPicks();
    });
    if ($("sheet").open) fillSheet();
    chart.change();
    remember();
}

const REASONS = ["neither", "crowd", "taste"];

/* The parts of an item's score, the predicted rating, what the item is there for, and the ratings' shares in the part of
 * taste, the largest first. */
function explain(item) {
    const PARTS = 6, n = ask("explain", item), flat = answers(PARTS + 2 * n), shares = [];
    const [score, crowd, habit, taste, prediction, reason] = flat;
    for (let j = PARTS; j < flat.length; j += 2) shares.push({ item: flat[j], share: flat[j + 1] });
    shares.sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
    return { score, crowd, habit, taste, prediction, reason: REASONS[reason], shares };
}

// ---- stars ----------------------------------------------------------------------------------------------------------
// A group of radio buttons, so that keyboards and screen readers know what to do; or a slider where the scale is long.

let groups = 0;

function makeStars(item, place) {
    const box = scale.stars ? starBox(place) : sliderBox(place);
    bindStars(box, item);
    return box;
}

/* Makes the stars those of another title: rows of a list are used again. */
function bindStars(box, item) {
    box.item = item;
    box.label.textContent = `Your rating of ${titles[item]}`;
    box.rating = undefined;
    setStars(box);
}

function starBox(place) {
    const name = `stars-${++groups}`, size = scale.step < 1 ? " halves" : scale.stars.length > 5 ? " many" : "";
    const box = make("fieldset", { class: "stars" + size });
    box.label = make("legend", { class: "unseen" });
    box.stars = scale.stars.map((value) => make("label", { class: "star", title: `${scale.show(value)} of ${scale.max}` },
        make("input", { type: "radio", name, value, "aria-label": `${scale.show(value)} of ${scale.max}` }),
        make("span", { class: "glyph" })));
    box.value = make("span", { class: "value", "aria-hidden": "true" });
    box.append(box.label, ...box.stars, box.value);
    /* A click on the star that is already given says nothing new, and no event comes. */
    box.addEventListener("change", (event) => rate(box.item, Number(event.target.value), place));
    box.addEventListener("keydown", (event) => {
        const star = box.stars.find(({ firstChild: radio }) => radio.value === event.key);
        if (!star || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        star.firstChild.focus();
        star.firstChild.click();
    });
    return box;
}

function sliderBox(place) {
    const { min, max, step } = scale, id = `slider-${++groups}`, box = make("div", { class: "stars slider" });
    box.label = make("label", { class: "unseen", for: id });
    box.range = make("input", { type: "range", id, min, max, step });
    box.value = make("span", { class: "value", "aria-hidden": "true" });
    box.append(box.label, box.range, box.value);
    const give = () => rate(box.item, Number(box.range.value), place);
    box.range.addEventListener("input", give);
    /* Whoever means the value at which it stands before it was ever moved says so by touching it. */
    box.range.addEventListener("pointerup", () => { if (box.rating === null) give(); });
    box.range.addEventListener("keyup", (event) => {
        if (box.rating === null && !["Tab", "Shift", "Escape"].includes(event.key)) give();
    });
    return box;
}

/* Shows the rating that there is by now. */
function setStars(box) {
    const value = ratings.get(box.item) ?? null, given = value !== null;
    if (box.rating === value) return;
    box.rating = value;
    box.value.textContent = given ? scale.show(value) : "";
    box.classList.toggle("given", given);
    if (!scale.stars) {
        box.range.value = given ? value : (scale.min + scale.max) / 2;
        box.range.setAttribute("aria-valuetext", given ? scale.show(value) : "not rated");
        return;
    }
    box.stars.forEach((star, i) => {
        star.classList.toggle("on", given && value > scale.stars[i] - scale.step / 2 - 1e-9);
        star.firstChild.checked = given && Math.abs(value - scale.stars[i]) < 1e-6;
    });
}

// ---- the search -----------------------------------------------------------------------------------------------------
// The combobox pattern of the ARIA practices: the focus stays in the field, and the list follows it.

const search = { input: $("search"), list: $("found"), items: [], at: -1 };

function closeSearch() {
    $("found-box").hidden = true;
    search.input.setAttribute("aria-expanded", "false");
    search.input.removeAttribute("aria-activedescendant");
    search.at = -1;
}

function runSearch() {
    const typed = search.input.value, { best, matches } = searchTitles(typed);
    if (typed.trim() === "") return closeSearch();
    search.items = best;
    search.list.replaceChildren(...best.map((item, i) => {
        const value = ratings.get(item);
        return make("li", { role: "option", id: `found-${i}`, "aria-selected": "false", onclick: () => choose(item) },
            make("span", { text: titles[item], dir: "auto" }),
            value === undefined ? null : make("span", { class: "given-note", text: `★ ${scale.show(value)}` }));
    }));
    const note = matches === 0 ? "No title has these words." :
        matches > best.length ? `${count(matches - best.length)} more: type on to find them.` : "";
    $("found-note").textContent = note;
    $("found-note").hidden = note === "";
    $("found-box").hidden = false;
    search.input.setAttribute("aria-expanded", String(matches > 0));
    point(-1);
    say(matches === 0 ? note : plural(matches, "title") + " found.");
}

function point(at) {
    search.at = at;
    for (const [i, option] of [...search.list.children].entries()) {
        option.setAttribute("aria-selected", String(i === at));
        if (i === at) option.scrollIntoView({ block: "nearest" });
    }
    if (at < 0) search.input.removeAttribute("aria-activedescendant");
    else search.input.setAttribute("aria-activedescendant", `found-${at}`);
}

/* Puts a title on top of one's ratings, ready for its stars. */
function choose(item) {
    search.input.value = "";
    closeSearch();
    candidate = item;
    sliding(showRated);
    const row = ratedRows.get(item);
    (row.querySelector("input:checked") ?? row.querySelector("input")).focus();
    row.scrollIntoView({ block: "nearest" });
}

function searchKey(event) {
    if (event.isComposing) return; /* these keys belong to whoever writes Japanese, say */
    const isOpen = !$("found-box").hidden, n = search.items.length;
    if (event.key === "Escape") {
        if (isOpen) closeSearch();
        else search.input.value = "";
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        if (!isOpen) return runSearch();
        const step = event.key === "ArrowDown" ? 1 : -1;
        if (n > 0) point(search.at < 0 && step < 0 ? n - 1 : (search.at + step + n) % n);
    } else if (event.key === "Enter" && isOpen && n > 0) {
        choose(search.items[Math.max(search.at, 0)]);
    } else return;
    event.preventDefault();
}

function startSearch() {
    search.input.addEventListener("input", runSearch);
    search.input.addEventListener("keydown", searchKey);
    search.input.addEventListener("focus", () => { if (search.input.value) runSearch(); });
    search.list.addEventListener("mousedown", (event) => event.preventDefault()); /* the field keeps the focus */
    search.input.addEventListener("blur", closeSearch);
}

// ---- lists ----------------------------------------------------------------------------------------------------------

/* A title that opens its sheet; `item` may be a function, where the title changes. */
const titleButton = (item) => make("button", {
    type: "button", class: "title", text: titles[item] ?? "", dir: "auto", "aria-haspopup": "dialog",
    onclick: () => openSheet(typeof item === "function" ? item() : item),
});

/* Makes `rows` the children of a list with as few moves as will do. The row that has the focus is never taken out, not
 * even for a moment: it would lose it. */
function arrange(list, rows) {
    const wanted = new Set(rows);
    for (const row of [...list.children]) if (!wanted.has(row)) row.remove();
    let at = list.firstChild;
    for (const row of rows) {
        if (row !== at && row.contains(document.activeElement)) while (at !== row) {
            const next = at.nextSibling;
            list.append(at);
            at = next;
        }
        if (row === at) at = at.nextSibling;
        else list.insertBefore(row, at);
    }
}

/* Does something that arranges lists, and lets the rows slide from where they were. Places are read before anything is
 * changed and then in the next frame, which lays the page out anyway: reading them in between would do it twice. */
function sliding(work) {
    const lists = [$("rated"), $("pick-list")], before = new Map();
    if (!calm.matches && !document.hidden)
        for (const list of lists) for (const row of list.children) before.set(row, row.offsetTop);
    work();
    if (before.size === 0) return;
    requestAnimationFrame(() => {
        const rows = lists.flatMap((list) => [...list.children]), after = rows.map((row) => row.offsetTop);
        rows.forEach((row, i) => {
            const way = before.has(row) && !row.isFresh ? before.get(row) - after[i] : null;
            row.isFresh = false;
            if (way === 0) return;
            const slide = [{ transform: `translateY(${way}px)` }, { transform: "none" }], fade = [{ opacity: 0 }, { opacity: 1 }];
            row.animate(way === null ? fade : slide, { duration: 400, easing: "cubic-bezier(.2, .75, .25, 1)" });
        });
        frameTime = performance.now() - starTime;
    });
}

const ratedRows = new Map();

function ratedRow(item) {
    const stars = makeStars(item, "rated");
    const row = make("li", {}, titleButton(item), stars,
        make("button", {
            type: "button", class: "round", "aria-label": `Remove ${titles[item]}`, title: "Remove", text: "×",
            onclick: () => {
                if (ratings.has(item)) rate(item, null);
                else { candidate = null; showRated(); }
                search.input.focus();
            },
        }));
    row.stars = stars;
    stars.addEventListener("keydown", (event) => { /* back to the search, for the next title */
        if (event.key === "Enter" || event.key === "Escape") search.input.focus();
    });
    return row;
}

function showRated() {
    const all = [...ratings.keys()].reverse().filter((item) => item !== candidate);
    if (candidate !== null) all.unshift(candidate);
    const items = all.slice(0, older), wanted = new Set(items);
    for (const item of ratedRows.keys()) if (!wanted.has(item)) ratedRows.delete(item);
    for (const item of items) if (!ratedRows.has(item)) ratedRows.set(item, ratedRow(item));
    for (const row of ratedRows.values()) setStars(row.stars);
    arrange($("rated"), items.map((item) => ratedRows.get(item)));
    $("older").hidden = all.length <= older;
    $("older").textContent = `Show ${plural(Math.min(50, all.length - older), "older rating")}`;
    $("taste-empty").hidden = items.length > 0;
    $("taste-count").textContent = ratings.size ? count(ratings.size) : "";
    $("export").disabled = ratings.size === 0;
}

// ---- recommendations ------------------------------------------------------------------------------------------------

const pickRows = new Map();

/* Rows are made once and then used for one title after another: making them is most of the work of a star. */
function pickRow() {
    const row = make("li");
    row.score = make("b", { "aria-hidden": "true" });
    row.spoken = make("span", { class: "unseen" });
    row.bar = make("i");
    row.name = titleButton(() => row.item);
    row.why = make("p", { class: "why" });
    row.hide = make("button", { type: "button", class: "quiet", text: "Hide", onclick: () => hideAndGoOn(row) });
    row.stars = makeStars(0, "picks");
    const bar = make("span", { class: "bar", "aria-hidden": "true" }, row.bar);
    row.append(make("div", { class: "score" }, row.score, row.spoken, bar),
        make("div", { class: "what" }, row.name, row.why), make("div", { class: "act" }, row.stars, row.hide));
    return row;
}

function bindPick(row, item) {
    row.item = item;
    row.isFresh = true;
    row.name.textContent = titles[item];
    row.hide.setAttribute("aria-label", `Hide ${titles[item]}`);
    bindStars(row.stars, item);
    return row;
}

/* The focus goes to the row that takes the place of the one that leaves. */
function hideAndGoOn(row) {
    const { item } = row;
    (row.nextElementSibling ?? row.previousElementSibling)?.hide.focus();
    hide(item);
    kept = null;
    show();
    say(`${titles[item]} is hidden.`);
}

const emphasis = (item) => make("em", { text: titles[item], dir: "auto" });

const NO_TASTE = { crowd: "Popular with nearly everyone", neither: "Among the best of the rest" };

/* Of taste, the two strongest ratings for it, and the strongest against it where that is nearly as strong. */
function reasonOf({ reason, shares }) {
    const pro = shares.filter((entry) => entry.share > 0), con = shares.find((entry) => entry.share < 0);
    const own = (entry, link) => [`${scale.show(ratings.get(entry.item))} ${link} `, emphasis(entry.item)];
    if (reason !== "taste" || pro.length === 0) return [NO_TASTE[reason] ?? NO_TASTE.neither];
    const parts = ["To your taste: you gave ", ...own(pro[0], "to")];
    if (pro[1] && pro[1].share > 0.4 * pro[0].share) parts.push(" and ", ...own(pro[1], "to"));
    if (con && -con.share > 0.6 * pro[0].share) parts.push(", despite your ", ...own(con, "for"));
    return parts;
}

function fillPick(row, { item }) {
    const rating = wasm.predict(item); /* which may be below 0: no error, as it would be to ask() */
    row.score.textContent = scale.expect(rating);
    row.spoken.textContent = `Expected ${scale.expect(rating)} of ${scale.max}`;
    row.bar.style.transform = `scaleX(${scale.share(rating)})`;
    row.classList.toggle("done", ratings.has(item));
    if (ratings.has(item)) row.why.replaceChildren("Now among your ratings");
    else if (ratings.size === 0) row.why.replaceChildren(NO_TASTE.crowd);
    setStars(row.stars);
}

const REASON_TIME = 25; /* milliseconds that reasons may take at once */
let lateReasons = 0;

/* Reasons from the top of the list down. With many factors and ratings each takes a while: what is not done in time
 * follows piece by piece, so that the page never stands still for them. */
function showReasons(rows) {
    const until = performance.now() + REASON_TIME;
    clearTimeout(lateReasons);
    do {
        const row = rows.shift();
        if (row) row.why.replaceChildren(...reasonOf(explain(row.item)));
    } while (rows.length && performance.now() < until);
    for (const row of rows) row.why.replaceChildren("\u00a0"); /* what stands there is of other ratings */
    if (rows.length) lateReasons = setTimeout(showReasons, 0, rows);
}

function showPicks() {
    const wanted = new Set(picks.map((pick) => pick.item)), spare = [];
    for (const [item, row] of pickRows) {
        if (wanted.has(item)) continue;
        pickRows.delete(item);
        if (!row.contains(document.activeElement)) spare.push(row);
    }
    for (const pick of picks) {
        if (!pickRows.has(pick.item)) pickRows.set(pick.item, bindPick(spare.pop() ?? pickRow(), pick.item));
        fillPick(pickRows.get(pick.item), pick);
    }
    const rows = picks.map((pick) => pickRows.get(pick.item));
    showReasons(ratings.size ? rows.filter((row) => !ratings.has(row.item)) : []);
    arrange($("pick-list"), rows);
    $("picks-heading").textContent = ratings.size ? "For you" : "A place to begin";
    $("picks-lead").textContent = picks.length === 0 ? "There is nothing left to recommend." : release.factors === 0 ?
        "This release knows how much titles are liked in general and not who likes what: the order is the same for everyone." :
        ratings.size ? "The number is the rating we think you would give. A title opens its details." :
        "What people in general rate highly. Give stars to what you know, and this list becomes yours.";
    $("dial-box").hidden = !release.hasDial || release.factors === 0 || ratings.size === 0;
    $("more").hidden = picks.length < shown || shown >= 200;
    $("unhide").hidden = hidden.size === 0;
    $("unhide").textContent = `Show ${plural(hidden.size, "hidden title")} again`;
}

// ---- the sheet of one title -----------------------------------------------------------------------------------------

let sheetItem = -1;

function openSheet(item) {
    sheetItem = item;
    $("sheet-title").textContent = titles[item];
    $("sheet-stars").replaceChildren(makeStars(item, "sheet"));
    fillSheet();
    const near = release.factors > 0 ? askList("similar", item, 8) : [];
    $("sheet-similar-heading").hidden = near.length === 0;
    $("sheet-similar").replaceChildren(...near.map((entry) => make("li", {}, titleButton(entry.item))));
    if (!$("sheet").open) $("sheet").showModal();
    $("sheet-title").focus();
    $("sheet").scrollTop = 0;
}

/* What depends on the ratings. */
function fillSheet() {
    setStars($("sheet-stars").firstChild);
    $("sheet-why").replaceChildren(...whyTable(explain(sheetItem), ratings.has(sheetItem)));
    $("sheet-hide").textContent = hidden.has(sheetItem) ? "Recommend it again" : "Never recommend this";
}

const signed = (x) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(2);

/* The sum that a score is: everyone, how one rates, and taste with the ratings that it is due to. */
function whyTable({ score, crowd, habit, taste, prediction, reason, shares }, isOwn) {
    const SHOWN = 8, main = reason === "taste" ? shares.slice(0, SHOWN) : [];
    const rest = reason === "taste" ? shares.slice(SHOWN) : [];
    const widest = Math.max(1e-9, ...main.map((entry) => Math.abs(entry.share)));
    const line = (share, ...label) => {
        const bar = make("i", { class: share < 0 ? "minus" : "plus" });
        bar.style.transform = `scaleX(${Math.min(1, Math.abs(share) / widest)})`;
        return make("tr", { class: "share" }, make("th", { scope: "row" }, ...label), make("td", { text: signed(share) }),
            make("td", { class: "push", "aria-hidden": "true" }, bar));
    };
    const rows = main.map(({ item, share }) => line(share, `your ${scale.show(ratings.get(item))} for `, emphasis(item)));
    const others = rest.reduce((sum, { share }) => sum + share, 0);
    if (rest.length) rows.push(line(others, `your ${plural(rest.length, "other rating")}`));
    const part = (kind, name, value) => make("tr", { class: kind }, make("th", { scope: "row", text: name }),
        make("td", { text: value }), make("td"));
    return [
        make("p", { class: "expected" }, make("b", { text: scale.expect(prediction) }),
            ` of ${scale.max} is the rating we think you would give` + (isOwn ? ", your own rating of it included" : "")),
        make("p", { class: "why" }, ...reasonOf({ reason, shares })),
        make("table", { class: "why-table" }, make("tbody", {}, part("general", "liked by everyone", crowd.toFixed(2)),
            part("habit", "how you rate", signed(habit)), part("taste", "your taste", signed(taste)), ...rows,
            part("sum", "together", score.toFixed(2)))),
    ];
}

function startLists() {
    $("dial").addEventListener("input", () => {
        ask("dial", Number($("dial").value));
        kept = null;
        show();
    });
    $("sheet-close").addEventListener("click", () => $("sheet").close());
    $("sheet").addEventListener("click", (event) => { if (event.target === $("sheet")) $("sheet").close(); });
    $("sheet-hide").addEventListener("click", () => { hide(sheetItem, !hidden.has(sheetItem)); kept = null; show(); });
    $("older").addEventListener("click", () => { older += 50; showRated(); });
    $("more").addEventListener("click", () => {
        const first = shown;
        shown += PAGE;
        show();
        $("pick-list").children[first]?.querySelector("button").focus();
    });
    $("unhide").addEventListener("click", () => {
        for (const item of [...hidden]) hide(item, false);
        show();
        $("picks").focus();
    });
}

// ---- the map --------------------------------------------------------------------------------------------------------
// The dots are a picture of their own, painted again when the predictions change; what moves is drawn over it.

const chart = {
    canvas: $("chart"), tip: $("tip"), field: document.createElement("canvas"),
    places: null, you: null, from: null, begun: 0, hover: -1, isStale: true, isSeen: false, isWaiting: false,

    start() {
        if (release.factors === 0) { /* without factors there are no directions to show */
            $("map").hidden = true;
            return;
        }
        new IntersectionObserver((entries) => {
            this.isSeen = entries.at(-1).isIntersecting;
            if (this.isSeen) this.ask();
        }, { rootMargin: "200px" }).observe(this.canvas);
        new ResizeObserver(() => { this.isStale = true; this.ask(); }).observe(this.canvas);
        dark.addEventListener("change", () => { this.isStale = true; this.ask(); });
        this.canvas.addEventListener("pointermove", (event) => this.look(this.nearest(event.offsetX, event.offsetY)));
        this.canvas.addEventListener("pointerleave", () => this.look(-1));
        this.canvas.addEventListener("blur", () => this.look(-1));
        this.canvas.addEventListener("click", (event) => {
            const item = this.nearest(event.offsetX, event.offsetY);
            if (item >= 0) openSheet(item);
        });
        this.canvas.addEventListener("keydown", (event) => this.key(event));
        $("map-words").addEventListener("toggle", () => this.tell());
    },

    change() {
        this.isStale = true;
        this.ask();
        this.tell();
    },

    ask() {
        if (!this.isSeen || this.isWaiting) return;
        this.isWaiting = true;
        requestAnimationFrame((now) => { this.isWaiting = false; this.draw(now); });
    },

    /* Most titles lie near the middle, so the middle gets more room; the few that lie beyond the edge were put on it, and are
     * strewn along it a little, lest they look like a frame. */
    load() {
        const address = wasm.map();
        if (!address) throw new Error(textAt(wasm.error_text()));
        const raw = new Float32Array(wasm.memory.buffer, address, 2 * release.items);
        this.places = raw.map((x, i) => this.bend(x) * (Math.abs(x) < 1 ? 1 : 1 - 0.08 * (i * 0.618 % 1)));
    },
    bend(x) { return Math.sign(x) * Math.abs(x) ** 0.75; },

    at(place) { /* in pixels of the page */
        const margin = 14, { w, h } = this;
        return [w / 2 + place[0] * (w / 2 - margin), h / 2 - place[1] * (h / 2 - margin)];
    },
    placeOf(item) { return [this.places[2 * item], this.places[2 * item + 1]]; },
    colour(name) { return getComputedStyle(this.canvas).getPropertyValue(name).trim(); },

    /* Colours from cold to warm by the prediction, in so many steps; the warm ones are painted last. */
    paint(ratio) {
        const STEPS = 12, n = release.items, image = new ImageData(this.canvas.width, this.canvas.height);
        const scores = new Float32Array(wasm.memory.buffer, wasm.predict_all(), n);
        let mean = 0, square = 0;
        for (const score of scores) { mean += score / n; square += score * score / n; }
        const deviation = Math.sqrt(Math.max(square - mean * mean, 1e-12));
        const steps = Array.from({ length: STEPS }, () => []);
        for (let i = 0; i < n; i++)
            steps[clamp(Math.round((0.15 + 0.22 * (scores[i] - mean) / deviation) * STEPS), 0, STEPS - 1)].push(i);
        const low = rgb(this.colour("--dot-low")), high = rgb(this.colour("--dot-high"));
        const radius = ratio * clamp(5.4 - 0.95 * Math.log10(n), 1, 3.2);
        steps.forEach((items, s) => {
            const t = s / (STEPS - 1), ink = low.map((c, i) => c + (high[i] - c) * t);
            for (const i of items)
                blot(image, this.pixels[2 * i] * ratio, this.pixels[2 * i + 1] * ratio, radius * (0.7 + 0.6 * t), ink, 0.45 + 0.5 * t);
        });
        this.field.width = image.width;
        this.field.height = image.height;
        this.field.getContext("2d").putImageData(image, 0, 0);
    },

    draw(now) {
        if (!this.places) this.load();
        const ratio = Math.min(devicePixelRatio, 2), w = this.w = this.canvas.clientWidth, h = this.h = this.canvas.clientHeight;
        if (w === 0 || h === 0) return;
        if (this.isStale) {
            this.canvas.width = Math.round(w * ratio);
            this.canvas.height = Math.round(h * ratio);
            this.pixels = Float32Array.from(this.places, (x, i) => i % 2 ? this.at([0, x])[1] : this.at([x, 0])[0]);
            this.paint(ratio);
            this.isStale = false;
            this.go(now);
        }
        const done = calm.matches ? 1 : clamp((now - this.begun) / 600, 0, 1), ease = 1 - (1 - done) ** 3;
        const you = this.you.map((x, i) => this.from[i] + (x - this.from[i]) * ease);
        const ink = this.canvas.getContext("2d");
        ink.setTransform(1, 0, 0, 1, 0, 0);
        ink.clearRect(0, 0, this.canvas.width, this.canvas.height);
        ink.drawImage(this.field, 0, 0);
        ink.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.marks(ink, this.at(you), w, h);
        if (done < 1) this.ask();
    },

    /* Sets out from wherever the person stands to where they belong. */
    go(now) {
        ask("whereabouts");
        const to = [...answers(2)].map((x) => this.bend(x));
        this.from = this.you ?? to;
        if (!this.you || this.you.some((x, i) => x !== to[i])) this.begun = now;
        this.you = to;
    },

    marked() {
        const best = picks.filter((pick) => !ratings.has(pick.item)).slice(0, PAGE).map((pick) => pick.item);
        return { mine: [...ratings.keys()].reverse(), best: ratings.size ? best : [] };
    },

    marks(ink, you, w, h) {
        const taken = [[you[0] - 24, you[1] - 16, 48, 52]], { mine, best } = this.marked();
        const face = this.colour("--surface"), colour = this.colour("--ink");
        const ring = (item, name, isFull) => {
            const [x, y] = this.at(this.placeOf(item));
            ink.beginPath();
            ink.arc(x, y, 5, 0, 2 * Math.PI);
            ink.fillStyle = isFull ? this.colour(name) : face;
            ink.fill();
            ink.lineWidth = 2;
            ink.strokeStyle = isFull ? face : this.colour(name);
            ink.stroke();
        };
        for (const item of best) ring(item, "--accent", false);
        for (const item of mine) ring(item, "--star", true);
        for (const [x, y] of [...best, ...mine].map((item) => this.at(this.placeOf(item)))) taken.push([x - 5, y - 5, 10, 10]);
        ink.font = `12px ${getComputedStyle(document.body).fontFamily}`;
        for (const item of w < 500 ? [...mine.slice(0, 3), ...best.slice(0, 2)] : [...mine.slice(0, 12), ...best.slice(0, 6)])
            label(ink, titles[item], this.at(this.placeOf(item)), taken, w, h, face, colour);
        if (this.hover >= 0) ring(this.hover, "--ink", true);
        ink.beginPath();
        ink.arc(you[0], you[1], 14, 0, 2 * Math.PI);
        ink.fillStyle = this.colour("--halo");
        ink.fill();
        ink.beginPath();
        ink.arc(you[0], you[1], 7, 0, 2 * Math.PI);
        ink.fillStyle = this.colour("--accent");
        ink.fill();
        ink.lineWidth = 2.5;
        ink.strokeStyle = face;
        ink.stroke();
        ink.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
        write(ink, "you", you[0] - ink.measureText("you").width / 2, you[1] + 29, face, colour);
    },

    nearest(x, y) {
        let best = -1, least = 14 * 14;
        for (let i = 0; this.pixels && i < release.items; i++) {
            const d = (this.pixels[2 * i] - x) ** 2 + (this.pixels[2 * i + 1] - y) ** 2;
            if (d < least) { least = d; best = i; }
        }
        return best;
    },

    look(item) {
        if (item === this.hover) return;
        this.hover = item;
        this.tip.hidden = item < 0;
        this.canvas.classList.toggle("pointing", item >= 0);
        if (item >= 0) {
            const [x, y] = this.at(this.placeOf(item)), isRight = x > this.canvas.clientWidth / 2;
            this.tip.textContent = titles[item] + (ratings.has(item) ? ` · you gave ${scale.show(ratings.get(item))}` :
                ` · ${scale.expect(ask("predict", item))} expected`);
            this.tip.style.left = isRight ? "auto" : `${x + 12}px`;
            this.tip.style.right = isRight ? `${this.canvas.clientWidth - x + 12}px` : "auto";
            this.tip.style.top = `${Math.max(0, y - 34)}px`;
        }
        this.ask();
    },

    /* The nearest marked title in the direction of the arrow, within 60 degrees of it. */
    key(event) {
        const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (event.key === "Enter" && this.hover >= 0) return openSheet(this.hover);
        if (event.key === "Escape") return this.look(-1);
        if (!way || !this.places) return;
        event.preventDefault();
        const here = this.at(this.hover >= 0 ? this.placeOf(this.hover) : this.you), { mine, best } = this.marked();
        let next = -1, least = Infinity;
        for (const item of [...mine, ...(best.length ? best : picks.map((pick) => pick.item))]) {
            const [x, y] = this.at(this.placeOf(item)), dx = x - here[0], dy = y - here[1], far = Math.hypot(dx, dy);
            if (item === this.hover || dx * way[0] + dy * way[1] < 0.5 * far || far >= least) continue;
            least = far;
            next = item;
        }
        if (next < 0) return say("There is no marked title in that direction.", 0);
        this.look(next);
        say(this.tip.textContent, 0);
    },

    /* The same for those who do not see it. */
    tell() {
        if (!$("map-words").open) return;
        if (!this.places) this.load();
        this.go(performance.now());
        const away = (item) => Math.hypot(...this.placeOf(item).map((x, i) => x - this.you[i]));
        const near = Array.from({ length: release.items }, (_, i) => i).filter((item) => !ratings.has(item));
        const far = Float32Array.from(near, away);
        const closest = [...near.keys()].sort((a, b) => far[a] - far[b]).slice(0, 8).map((i) => near[i]);
        const entry = (item) => make("li", {}, titleButton(item), ` ${side(this.placeOf(item))}`);
        const list = (items) => make("ul", {}, ...items.map(entry)), { mine, best } = this.marked();
        const parts = [make("p", { text: `You are ${side(this.you)}. Closest to you:` }), list(closest)];
        if (best.length) parts.push(make("p", { text: "Recommended titles:" }), list(best));
        if (mine.length) parts.push(make("p", { text: "Titles you rated:" }), list(mine.slice(0, 20)));
        $("map-text").replaceChildren(...parts);
    },
};

function side([x, y]) {
    const across = x < -0.25 ? "left" : x > 0.25 ? "right" : "", up = y > 0.25 ? "upper" : y < -0.25 ? "lower" : "";
    if (across) return `at the ${up} ${across}`.replace("  ", " ");
    return up ? `at the ${up === "upper" ? "top" : "bottom"}` : "in the middle";
}

function rgb(colour) {
    const digits = /^#(..)(..)(..)$/.exec(colour);
    return digits ? digits.slice(1).map((pair) => parseInt(pair, 16)) : [128, 128, 128];
}

/* One dot with a soft edge, laid over what is there. Thousands of them take milliseconds, of arc() tens of them. */
function blot({ data, width, height }, x, y, radius, ink, strength) {
    const left = Math.max(0, Math.floor(x - radius)), right = Math.min(width - 1, Math.ceil(x + radius));
    const top = Math.max(0, Math.floor(y - radius)), bottom = Math.min(height - 1, Math.ceil(y + radius));
    for (let py = top; py <= bottom; py++)
        for (let px = left; px <= right; px++) {
            const cover = strength * Math.min(1, radius + 0.5 - Math.sqrt((px + 0.5 - x) ** 2 + (py + 0.5 - y) ** 2));
            if (cover <= 0) continue;
            const at = 4 * (py * width + px), below = data[at + 3] / 255 * (1 - cover), alpha = cover + below;
            for (let c = 0; c < 3; c++) data[at + c] = (ink[c] * cover + data[at + c] * below) / alpha;
            data[at + 3] = 255 * alpha;
        }
}

function write(ink, text, x, y, face, colour) {
    ink.lineWidth = 4;
    ink.lineJoin = "round";
    ink.strokeStyle = face;
    ink.strokeText(text, x, y);
    ink.fillStyle = colour;
    ink.fillText(text, x, y);
}

/* A title beside its mark, where nothing is yet; else not at all. */
function label(ink, title, [x, y], taken, w, h, face, colour) {
    const text = title.length > 36 ? title.slice(0, 35) + "…" : title, long = ink.measureText(text).width;
    for (const [dx, dy] of [[9, 4], [-9 - long, 4], [-long / 2, -10], [-long / 2, 20]]) {
        const box = [x + dx, y + dy - 12, long, 16];
        if (box[0] < 2 || box[0] + long > w - 2 || box[1] < 2 || box[1] + 16 > h - 2) continue;
        const meets = (other) => [0, 1].every((i) => box[i] < other[i] + other[i + 2] && other[i] < box[i] + box[i + 2]);
        if (taken.some(meets)) continue;
        taken.push(box);
        return write(ink, text, x + dx, y + dy, face, colour);
    }
}

// ---- privacy --------------------------------------------------------------------------------------------------------

/* Figures are rounded against the promise, as in the statement itself. */
function atMost(value, decimals) {
    const unit = 10 ** decimals;
    const format = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return (Math.ceil(value * (1 + 1e-12) * unit) / unit).toLocaleString("en", format);
}

/* The normal distribution function, by Simpson's rule: good to twelve digits between 0 and 8. */
function phi(x) {
    const STEPS = 400, width = x / STEPS, density = (t) => Math.exp(-t * t / 2) / Math.sqrt(2 * Math.PI);
    let sum = density(0) + density(x);
    for (let i = 1; i < STEPS; i++) sum += density(i * width) * (i % 2 ? 4 : 2);
    return x > 8 ? 1 : 0.5 + sum * width / 3;
}

/* What this page reads of a statement, and how each must be; docs/formats/release.md has them all. */
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const isYesOrNo = (value) => typeof value === "boolean";
const isTexts = (value) => Array.isArray(value) && value.every((text) => typeof text === "string");
const STATEMENT = {
    format: (value) => value === 1 || value === 2,
    release_id: (value) => typeof value === "string" && /^[0-9a-f]{32}$/.test(value),
    kind: (value) => typeof value === "string",
    mechanism: (value) => typeof value === "string",
    epsilon: (value) => isNumber(value) && value > 0,
    delta: (value) => isNumber(value) && value >= 0 && value < 1,
    mu: (value) => value === null || isNumber(value) && value > 0,
    items: isNumber,
    range: (value) => isNumber(value?.min) && isNumber(value?.max),
    insecure: isYesOrNo,
    research: isYesOrNo,
    catalogue_from_ratings: isYesOrNo,
    outside: isTexts,
};

/* JSON, or undefined where it is none. */
function parsed(text) {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

/* Whether it is sound was checked when the page was made. Here it must be what can be shown, of this very release. */
function readStatement() {
    const block = parsed(dataOf("dpmf-statement", "privacy statement")), own = parsed(textAt(wasm.statement()));
    const again = "Get the page again from where it came from.";
    if (typeof own !== "object" || own === null || Array.isArray(own))
        throw new Error(`Its release has no privacy statement. ${again}`);
    const wrong = Object.keys(STATEMENT).find((name) => !Object.hasOwn(own, name) || !STATEMENT[name](own[name]));
    if (wrong) throw new Error(`The privacy statement of its release lacks a sound “${wrong}”. ${again}`);
    if (own.items !== release.items || own.range.min !== release.min || own.range.max !== release.max)
        throw new Error(`The privacy statement of its release is about another release. ${again}`);
    if (typeof block?.text !== "string" || JSON.stringify(block.statement) !== JSON.stringify(own))
        throw new Error(`Its privacy statement is not that of its release. ${again}`);
    const { text, kind, assumptions } = block;
    if (!isTexts(assumptions)) throw new Error(`Its privacy statement has no list of assumptions. ${again}`);
    return { ...own, text, kind, assumptions };
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".");

/* What a person should know before the figures; nothing where they are proven. */
const STAMPS = {
    "proven": "",
    "conditional": "CONDITIONAL, NOT PROVEN. What follows would hold only if a sampler had converged, which no run that ends " +
        "can show.",
    "partial": "PARTIAL, NOT PROVEN. What follows holds only for those who accept what is listed first under what is not promised.",
    "not private": "NOT PRIVATE. This release was made for tests or research. None of what follows is promised.",
};

/* The kind is what dpmf found when it made the page. The worst of it and of what the statement says of itself counts, and a kind
 * that is not known is no promise. */
function stampOf({ kind, insecure, research }) {
    return insecure || research || !Object.hasOwn(STAMPS, kind) ? STAMPS["not private"] : STAMPS[kind];
}

function showPrivacy(said) {
    const { epsilon, delta, mu } = said, stamp = stampOf(said), is = stamp ? "would be" : "is";
    const odds = epsilon > 20 ? null : atMost(Math.exp(epsilon), epsilon < 3 ? 2 : 0);
    const oneIn = delta > 0 ? `1 in ${count(Math.floor(1 / delta * (1 + 1e-12)))}` : null;
    const right = 100 * (mu > 0 ? phi(mu / 2) : 1 / (1 + Math.exp(-epsilon))), guess = right >= 99.9 ? "100" : atMost(right, 1);
    const figure = (value, name, meaning) => value === null ? [] : [make("dt", { text: value }),
        make("dd", {}, meaning, make("small", { text: name }))];
    $("not-private").hidden = !stamp;
    $("not-private").textContent = stamp;
    const how = said.mechanism === "posterior" ? "as one random draw among those that fit" : "with noise added on purpose";
    $("promise").textContent = `The numbers behind the titles were learned from other people's ratings, ${how}, so that they ` +
        `say little about any one of those people. How little ${stamp ? "that would be" : "is proven"}:`;
    $("figures").replaceChildren(
        ...figure(odds ? `${odds} ×` : "no bound", `epsilon ${epsilon}`,
            "at most, on the chance of any conclusion about a person"),
        ...figure(oneIn, `delta ${+delta.toFixed(12)}`, "chance on top of that"),
        ...figure(`${guess} %`, "a coin: 50 %", "right at most, guessing whether someone took part"));
    $("odds").textContent = (odds ? `Whatever anyone concludes about a person from this release: its chance ${is} at most ${odds} ` +
        `times what it would be had that person never rated anything${oneIn ? `, plus ${oneIn}` : ""}. ` : "") +
        (right >= 90 ? `This ${is} a weak promise, and should not be the only protection of those ratings.` : "");
    const limits = ["What is true of people in general, such as that those who like one title like another: it may be true of you."];
    limits.unshift(...said.assumptions.map((text) => `It is assumed ${text}.`));
    limits.push(...said.outside.map(sentence));
    limits.push("A page that someone changed: the statement was checked when the page was made, and the page cannot check " +
        "itself. “dpmf privacy verify” checks a release.");
    $("limits").replaceChildren(...limits.map((text) => make("li", { text })));
    $("statement").textContent = said.text;
    $("about").textContent = [`${count(release.items)} titles`, plural(release.factors, "factor"),
        `release ${said.release_id.slice(0, 8)}`, `made with dpmf ${textAt(wasm.version())}`].join(" · ");
}

// ---- files and memory -----------------------------------------------------------------------------------------------

/* Ratings are remembered for one catalogue: its name and a hash of its ids, FNV-1a twice. A newer release of the same
 * catalogue finds them again, and another one under the same name does not. */
let memoryKey = "";

function nameMemory() {
    let a = 0x811c9dc5, b = 0x01000193;
    const take = (byte) => {
        a = Math.imul(a ^ byte, 0x01000193);
        b = Math.imul(b ^ byte, 0x5bd1e995) ^ b >>> 15;
    };
    for (let item = 0; item < release.items; item++) {
        const address = ask("item_id", item), n = answers(1)[0];
        for (const byte of bytesAt(address, n)) take(byte);
        for (let rest = n; ; rest >>>= 8) { take(rest & 255); if (rest < 256) break; } /* where the id ends */
    }
    memoryKey = `dpmf: ${document.title} ` + [a, b].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}

function notice(message, details = []) {
    const list = details.length ? [make("ul", {}, ...details.map((text) => make("li", { text })))] : [];
    $("notice").replaceChildren(make("p", { text: message }), ...list);
    $("notice").hidden = false;
    say(message, 100);
}

/* Writes what there is, or nothing at all where that was not asked for. */
function remember() {
    try {
        if (!$("remember").checked) return localStorage.removeItem(memoryKey);
        const own = [...ratings].map(([item, value]) => [idOf(item), value]);
        localStorage.setItem(memoryKey, JSON.stringify({ ratings: own, hidden: [...hidden].map(idOf) }));
    } catch {
        if (!$("remember").checked) return;
        $("remember").checked = false;
        notice("This browser does not let the page remember anything. Save your ratings to a file instead.");
    }
}

const isOnScale = (value) => typeof value === "number" && value >= scale.min && value <= scale.max;

/* Memory may have been written by anything that runs at the same address: what does not fit is passed over. */
function recall() {
    let memory;
    try {
        memory = parsed(localStorage.getItem(memoryKey));
    } catch { /* a browser that lets nothing be remembered */ }
    if (!Array.isArray(memory?.ratings)) return;
    $("remember").checked = true;
    for (const entry of memory.ratings) {
        const [id, value] = Array.isArray(entry) && entry.length === 2 ? entry : [];
        const item = typeof id === "string" ? findId(id) : -1;
        if (item >= 0 && isOnScale(value)) setRating(item, value);
    }
    for (const id of Array.isArray(memory.hidden) ? memory.hidden : []) {
        const item = typeof id === "string" ? findId(id) : -1;
        if (item >= 0) hide(item);
    }
}

const quoted = (text) => /[",\r\n]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text;

/* A spreadsheet takes text that begins so for a formula, and an apostrophe before it for text. Loading goes by the id. */
const asText = (text) => /^\s*[=+\-@＝＋－＠]/.test(text) ? "'" + text : text;

function exportText() {
    const rows = [...ratings].map(([item, value]) => `${quoted(idOf(item))},${value},${quoted(asText(titles[item]))}`);
    return ["item,rating,title", ...rows, ""].join("\n");
}

function saveFile() {
    const address = URL.createObjectURL(new Blob([exportText()], { type: "text/csv" }));
    make("a", { href: address, download: "my-ratings.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
    notice(`${plural(ratings.size, "rating")} saved to my-ratings.csv, with your other downloads.`);
}

/* Rows of fields with the line each begins in, at most so many. */
function parseTable(text, part, most = Infinity) {
    const rows = [];
    let fields = [], field = "", isQuoted = false, line = 1, begun = 1;
    const endRow = () => {
        fields.push(field);
        if (fields.length > 1 || field.trim()) rows.push({ line: begun, fields });
        fields = [];
        field = "";
    };
    for (let i = 0; i < text.length && rows.length < most; i++) {
        const c = text[i];
        if (c === "\n") line++;
        if (isQuoted) {
            if (c !== '"') field += c;
            else if (text[i + 1] === '"') { field += c; i++; }
            else isQuoted = false;
        } else if (c === '"' && field.trim() === "") { isQuoted = true; field = ""; }
        else if (text.startsWith(part, i)) { fields.push(field); field = ""; i += part.length - 1; }
        else if (c === "\n") { endRow(); begun = line; }
        else if (c !== "\r" || text[i + 1] !== "\n") field += c;
    }
    if (rows.length < most) endRow();
    return rows;
}

const readNumber = (text) => /^[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d{1,3})?$/i.test(text) ? Number(text.replace(",", ".")) : NaN;

/* The columns that files of ratings have, and what they are called; capitals and what parts words do not matter. */
const COLUMNS = {
    item: ["item", "itemid", "movieid", "id"],
    rating: ["rating", "score", "stars"],
    title: ["title", "name"],
    user: ["user", "userid"],
};

/* Where the columns are, by the names in a first row; null where it has none. */
function columnsOf(fields) {
    const names = fields.map((name) => name.trim().toLowerCase().replace(/[\s_-]/g, "")), at = {};
    for (const [column, called] of Object.entries(COLUMNS)) at[column] = names.findIndex((name) => called.includes(name));
    return at.rating >= 0 && (at.item >= 0 || at.title >= 0 || at.user >= 0) ? at : null;
}

/* What parts the fields: the first that makes sense of the first row, read as a row is, quotes and all. */
function partOf(text) {
    const rowBy = (part) => parseTable(text, part, 1)[0]?.fields ?? [];
    return ["\t", "::", ";", ","].find((part) => {
        const fields = rowBy(part);
        return fields.length > 1 && (columnsOf(fields) || !Number.isNaN(readNumber(fields[1].trim())));
    }) ?? ["\t", "::", ";", ","].find((part) => rowBy(part).length > 1) ?? ",";
}

/* Titles as they are compared; those without letters and digits as they are, lest they all be the same. */
function titleKey(text) {
    const key = fold(text);
    return key === " " ? text.trim().replace(/^'(?=[=+\-@＝＋－＠])/, "") : key;
}

/* An item by its id, or else by a title that only one has. A number is an id and nothing else: one that this catalogue does
 * not know is no title that happens to be a year. @return the item, or words about why there is none */
function itemOf(text, byTitle, isTitle) {
    const item = isTitle ? -1 : findId(text);
    if (item >= 0) return item;
    const same = isTitle || !/^\d+$/.test(text) ? byTitle.get(titleKey(text)) : undefined;
    if (!same) return "is not in this catalogue";
    return same.length === 1 ? same[0] : `is the title of ${same.length} items: give its id`;
}

/* Why a table is not one person's ratings of items; or nothing. */
function refuseTable(rows, columns) {
    const first = rows[0]?.fields ?? [];
    if (!columns && first.length > 3 && first.slice(0, 4).every((field) => !Number.isNaN(readNumber(field.trim()))))
        return "That file has four columns of numbers and no names for them. Its first line should be: item,rating,title";
    if (!columns) return "";
    const people = new Set(rows.slice(1).map(({ fields }) => fields[columns.user]?.trim() ?? ""));
    if (columns.user >= 0 && people.size > 1)
        return `That file holds ratings of ${count(people.size)} people. Leave those of one person in it and load it again.`;
    if (columns.item >= 0 || columns.title >= 0) return "";
    return "That file does not say which items were rated. Its first line should be: item,rating,title";
}

/* Ratings by item, and a sentence about each line that is none. */
function readRows(rows, columns) {
    const bad = [], byTitle = new Map(), given = new Map();
    titles.forEach((title, item) => {
        const key = titleKey(title);
        if (byTitle.has(key)) byTitle.get(key).push(item);
        else byTitle.set(key, [item]);
    });
    for (const { line, fields } of rows) {
        const [id, number, title] = ["item", "rating", "title"].map((column) => fields[columns[column]]?.trim() ?? "");
        const value = readNumber(number);
        let item = id ? itemOf(id, byTitle, false) : "has no item";
        if (typeof item === "string" && title) {
            const other = itemOf(title, byTitle, true);
            if (typeof other === "number" || !id) item = other;
        }
        if (typeof item === "string") bad.push(`Line ${line}: “${(id || title).slice(0, 60)}” ${item}.`);
        else if (isOnScale(value)) given.set(item, value);
        else bad.push(`Line ${line}: the rating “${number.slice(0, 20)}” is not a number from ${scale.min} to ${scale.max}.`);
    }
    return { given, bad };
}

function importText(text) {
    const plain = text.replace(/^\uFEFF/, ""), rows = parseTable(plain, partOf(plain));
    const columns = rows.length ? columnsOf(rows[0].fields) : null, refusal = refuseTable(rows, columns);
    if (refusal) {
        notice(refusal);
        return { loaded: 0, bad: [refusal] };
    }
    const { given, bad } = readRows(columns ? rows.slice(1) : rows, columns ?? { item: 0, rating: 1, title: 2 });
    for (const [item, value] of given) setRating(item, value);
    kept = candidate = null;
    show();
    const SHOWN = 5, details = bad.slice(0, SHOWN);
    if (bad.length > SHOWN) details.push(`… and ${plural(bad.length - SHOWN, "more line")}.`);
    notice(rows.length === 0 ? "There is nothing in that file. It should have lines such as: item,rating,title" :
        given.size === 0 ? "No rating in that file could be used. Lines should look like: item,rating,title" :
        `${plural(given.size, "rating")} loaded` + (bad.length ? `; ${plural(bad.length, "line")} left out:` : "."), details);
    return { loaded: given.size, bad };
}

async function loadFile() {
    const [file] = $("file").files;
    $("file").value = ""; /* the same file may be chosen again */
    if (!file) return;
    if (file.size > 50e6) return notice("That file is too large for ratings of one person.");
    try {
        importText(new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
    } catch (problem) {
        notice(problem instanceof TypeError ? "That file is not text in UTF-8. Save it as CSV in UTF-8 and try again." :
            `The file cannot be read: ${problem.message}`);
    }
}

function forget() {
    for (const item of [...ratings.keys()]) { ratings.delete(item); ask("exclude", item, 0); }
    for (const item of [...hidden]) hide(item, false);
    ask("forget");
    kept = candidate = null;
    shown = PAGE;
    $("remember").checked = false;
    show();
    notice("Everything is forgotten.");
}

function startKeeping() {
    const sure = (on) => { $("sure").hidden = !on; (on ? $("sure-yes") : $("forget")).focus(); };
    $("remember").addEventListener("change", () => {
        remember();
        if ($("remember").checked) notice("Your ratings are kept in this browser from now on. Whoever uses it can see them.");
        else notice("Your ratings are no longer kept in this browser.");
    });
    $("export").addEventListener("click", saveFile);
    $("import").addEventListener("click", () => $("file").click());
    $("file").addEventListener("change", loadFile);
    $("forget").addEventListener("click", () => sure(true));
    $("sure-no").addEventListener("click", () => sure(false));
    $("sure-yes").addEventListener("click", () => { forget(); sure(false); });
}

// ---- the start ------------------------------------------------------------------------------------------------------

const FACTORS_MAX = 512; /* the first star costs their cube, which must not be felt */

async function start() {
    const begun = performance.now();
    document.title = document.title.trim() || "Recommendations";
    $("name").textContent = document.title;
    await loadModule();
    openRelease();
    ask("describe");
    const [items, factors, offset, min, max, hasDial] = answers(6);
    release = { items, factors, offset, min, max, hasDial: hasDial > 0 };
    if (factors > FACTORS_MAX)
        throw new Error(`Its release has ${count(factors)} factors and is too large for a page, which takes ${FACTORS_MAX} ` +
            "at most. Use “dpmf recommend” with it.");
    scale = makeScale(min, max);
    readTitles();
    showPrivacy(readStatement());
    startSearch();
    startLists();
    startKeeping();
    nameMemory();
    recall();
    chart.start();
    $("page").hidden = $("seal").hidden = false;
    show();
    setTimeout(foldSome, 50);
    /* For scripts and tests: the page as a program. */
    window.dpmf = {
        release, titles, ratings, rate, forget, explain, importText, exportText, searchTitles,
        recommend: (n) => askList("recommend", n), predict: (item) => ask("predict", item),
        similar: (item, n) => askList("similar", item, n), setRating, show,
        get picks() { return picks; }, get answerTime() { return answerTime; }, get frameTime() { return frameTime; },
        loadTime: performance.now() - begun,
    };
}

start().catch(giveUp);
})();
