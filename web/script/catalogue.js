/*
 * What the release and its titles are: the scale of ratings, ids, a text for each item, and what is publicly known of items.
 */

let release = null; /* items, factors, offset, min, max, whether lists have a dial, and whether it is of events */
let scale = null;
let titles = [];    /* a text for each item */
let facts = null;   /* kinds: their names; of: the kinds of each item; years; or null where nothing is known */

/* Ratings are whole, or in halves where an end of the range is; stars where there are few of them, counted from one. Of events
 * there are hearts: something is liked, or nothing is said; in files, ratings of at least `like` are. */
function makeScale(min, max, isOfEvents, like) {
    const whole = Number.isInteger(min) && Number.isInteger(max);
    const halves = Number.isInteger(2 * min) && Number.isInteger(2 * max);
    const step = whole ? 1 : halves ? 0.5 : (max - min) / 20;
    const n = Math.round((max - min) / step) + 1;
    const decimals = max - min > 20 ? 0 : 1;
    return {
        min, max, step, hearts: isOfEvents, like,
        stars: min === step && n <= 10 && !isOfEvents ? Array.from({ length: n }, (_, i) => min + i * step) : null,
        show: (value) => isOfEvents ? "♥" : decimal(value, 2, 0),
        expect: (value) => decimal(clamp(value, min, max), decimals),
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

/* "The Matrix (1999)" of "Matrix, The (1999)". Only what could have an article behind a comma is looked at. */
function asWritten(title) {
    if (title.length > 400 || !/, ?[\p{L}']{1,4}( ?[([]|\)|\]|\s*$)/u.test(title)) return title;
    return withBytes(new TextEncoder().encode(title), (address, n) => textAt(wasm.show_title(address, n)));
}

function readTitles() {
    let list;
    try {
        list = JSON.parse(dataOf("dpmf-items", "Titles"));
    } catch (problem) {
        if (!(problem instanceof SyntaxError)) throw problem;
    }
    if (!Array.isArray(list) || list.length !== release.items)
        throw new Error(t("troubleTitles") + " " + t("troubleAgain"));
    titles = list.map((title, item) => typeof title === "string" && title.trim() ? asWritten(title) : idOf(item));
}

/* Kinds and years, where the page has them and they are of these items; a page without them has no filter. */
function readFacts() {
    const block = $("dpmf-facts");
    if (!block) return;
    const read = parsed(block.textContent), n = release.items;
    block.remove();
    const isKind = (kind) => Number.isInteger(kind) && kind >= 0 && kind < read.kinds.length;
    const isWhole = Array.isArray(read?.kinds) && read.kinds.every((kind) => typeof kind === "string") &&
        Array.isArray(read.of) && read.of.length === n && read.of.every((own) => Array.isArray(own) && own.every(isKind)) &&
        Array.isArray(read.years) && read.years.length === n && read.years.every((year) => Number.isInteger(year) && year >= 0);
    if (!isWhole) throw new Error(t("troubleFacts") + " " + t("troubleAgain"));
    facts = { ...read, hasYears: read.years.some((year) => year > 0) };
}

/* Tells the module what is known, once: lists of whoever has rated something count it (docs/goals.md). Without counts, or with
 * very many factors, a release has no use for it. */
const TOLD_FACTORS_MAX = 64;
let areFactsTold = false;

function tellFacts() {
    if (areFactsTold) return;
    areFactsTold = true;
    if (!facts || !release.hasDial || release.factors > TOLD_FACTORS_MAX) return;
    const start = new BigUint64Array(release.items + 1);
    facts.of.forEach((own, item) => { start[item + 1] = start[item] + BigInt(own.length); });
    const parts = [start, Uint16Array.from(facts.years), Uint16Array.from(facts.of.flat())];
    const places = parts.map((part) => wasm.allocate(part.byteLength));
    if (places.some((place) => !place)) throw new Error(t("troubleMemory"));
    parts.forEach((part, i) => bytesAt(places[i], part.byteLength).set(new Uint8Array(part.buffer)));
    ask("facts", places[1], places[0], places[2], facts.kinds.length);
    places.forEach((place) => wasm.deallocate(place));
}

/* Year and kinds of an item, in a line; "" where nothing is known. */
function factsOf(item) {
    if (!facts) return "";
    const year = facts.years[item], kinds = facts.of[item].map((kind) => facts.kinds[kind].replaceAll("-", "-\u2060")); /* no line ends in "Sci-" */
    const isSaid = year > 0 && titles[item].includes(String(year)); /* many titles end with their year */
    return [...(year > 0 && !isSaid ? [String(year)] : []), ...kinds].join("\u00a0· "); /* no line begins with a dot */
}

/* A sentence about the years of the titles here, which tells what cannot be found; "" where they are not known. */
function yearsHere() {
    if (!facts?.hasYears) return "";
    const years = facts.years.filter((year) => year > 0);
    return t("yearsHere", { from: years.reduce((a, b) => Math.min(a, b)), to: years.reduce((a, b) => Math.max(a, b)) });
}

/* How well known items are: by the people who had them, else by how much they are liked. */
function popularity() {
    const address = wasm.item_counts() || wasm.item_biases();
    return new Float32Array(wasm.memory.buffer, address, release.items);
}
