/*
 * The beginning: a grid of titles to rate, of which a person should know some, and which say much about a taste. They are
 * popular, and lie far apart from each other and from what is already rated: the next is always the one that is least like
 * everything that was rated, skipped or is in the grid.
 */

const BEGIN_TILES = 6, BEGIN_FEW = 3, BEGIN_ENOUGH = 5; /* so many at once; so many ratings make a list, and so many do */
const passed = new Set();                /* titles that the person does not know, for as long as the page is open */
let tiles = [];                          /* {item, element} */
let isBeginOpen = true;                  /* "asked": until it is closed again, whatever is rated */
let watched = new Set();                  /* titles of a history that the person saw and did not rate: hidden, and asked for first */

const isLeft = (item) => ratings.has(item) || hidden.has(item) && !watched.has(item); /* nothing to suggest any more */

/* Asks for stars of titles that someone has seen, the best known first. */
function askForStars(items) {
    const often = popularity();
    watched = new Set([...items].sort((a, b) => often[b] - often[a]));
    isBeginOpen = "asked";
    tiles = [];
}

/* The best-known titles, and vectors that are centred among them and of length 1, each made once; made when first needed. */
let known = null;

function findKnown() {
    const often = popularity(), k = release.factors, n = Math.min(release.items, Math.max(60, Math.min(400, Math.round(release.items / 12))));
    const least = often.slice().sort()[release.items - n]; /* of numbers alone, which is much quicker than of items by them */
    const order = [...often.keys()].filter((item) => often[item] >= least).sort((a, b) => often[b] - often[a]).slice(0, n);
    const units = new Map(), mean = new Float64Array(k);
    const row = (item) => {
        const address = wasm.item_factors(), stride = answers(1)[0];
        return new Float32Array(wasm.memory.buffer, address + 4 * stride * item, k);
    };
    for (const item of order) row(item).forEach((x, c) => { mean[c] += x / n; });
    const unit = (item) => {
        if (!units.has(item)) {
            const v = Float64Array.from(row(item), (x, c) => x - mean[c]), length = Math.sqrt(cosine(v, v));
            units.set(item, length > 0 ? v.map((x) => x / length) : v);
        }
        return units.get(item);
    };
    return { order, unit };
}

/* How alike two titles are, from -1 to 1, beside the best-known ones. */
function likeness(a, b) {
    known ??= findKnown();
    return cosine(known.unit(a), known.unit(b));
}

function cosine(a, b) {
    let sum = 0;
    for (let c = 0; c < a.length; c++) sum += a[c] * b[c];
    return sum;
}

/* The next title to offer. How far it is from the nearest of the others counts, and how well known it is, a little less for
 * each place in that order. @return -1 when there is none */
function nextSuggestion(taken) {
    for (const item of watched) if (hidden.has(item) && !ratings.has(item) && !passed.has(item) && !taken.has(item)) return item;
    known ??= findKnown();
    const others = [...ratings.keys(), ...passed, ...taken].slice(-60).map(known.unit);
    let best = -1, most = -Infinity;
    for (const [i, item] of known.order.entries()) {
        if (ratings.has(item) || hidden.has(item) || passed.has(item) || taken.has(item)) continue;
        const v = known.unit(item), nearest = others.reduce((near, other) => Math.max(near, cosine(v, other)), -1);
        const worth = (1 - nearest) * Math.exp(-2 * i / known.order.length);
        if (worth > most) { most = worth; best = item; }
        if (others.length === 0) break; /* the best known first */
    }
    return best;
}

function makeTile() {
    const tile = { item: -1, timer: 0, element: make("li", { class: "tile" }) };
    tile.cover = make("div", { class: "tile-cover" });
    tile.name = titleButton(() => tile.item);
    tile.facts = make("p", { class: "facts" });
    tile.stars = makeStars(0, "begin");
    tile.pass = quietButton("pass", () => {
        doing(() => passed.add(tile.item), false);
        fillTile(tile);
        showBegin();
        $("undo").disabled = false;
        (tile.item < 0 ? $("begin") : tile.pass).focus();
    });
    tile.element.append(tile.cover, tile.name, tile.facts, make("div", { class: "act" }, tile.stars, tile.pass));
    return tile;
}

/* Puts the next suggestion into a tile. */
function fillTile(tile) {
    putTile(tile, nextSuggestion(new Set(tiles.filter((other) => other !== tile && other.item >= 0).map((other) => other.item))));
}

/* Undone: what was suggested then, where it was; not while the grid is closed or was made again. */
function suggestAgain(items) {
    if (items.length === tiles.length) tiles.forEach((tile, i) => { if (tile.item !== items[i]) putTile(tile, items[i]); });
}

function putTile(tile, item) {
    tile.item = item;
    tile.element.hidden = tile.item < 0;
    if (tile.item < 0) return;
    const cover = coverOf(tile.item);
    tile.name.textContent = titles[tile.item];
    tile.facts.textContent = factsOf(tile.item);
    nameButton(tile.pass, tile.item);
    tile.cover.replaceChildren(...(cover ? [cover] : []));
    tile.cover.style.setProperty("--hue", String(hueOf(tile.item)));
    bindStars(tile.stars, tile.item);
}

/* A colour of its own for a title without a picture. */
const hueOf = (item) => Math.round(item * 137.508) % 360;

/* A title that was rated is seen with its stars for a moment, and then makes room for the next. */
const TILE_TIME = 700;

function leaveTile(tile) {
    if (tile.timer) return;
    tile.element.classList.add("leaving");
    tile.timer = setTimeout(() => {
        tile.timer = 0;
        tile.element.classList.remove("leaving");
        if (isBeginOpen === true && ratings.size >= BEGIN_ENOUGH) isBeginOpen = false;
        if (isLeft(tile.item)) fillTile(tile);
        showBegin();
    }, TILE_TIME);
}

function showBegin() {
    if (isBeginOpen === true && ratings.size >= BEGIN_ENOUGH && !tiles.some((tile) => ratings.has(tile.item))) isBeginOpen = false;
    $("begin").hidden = !isBeginOpen;
    $("begin-more").hidden = Boolean(isBeginOpen);
    const isEnough = isBeginOpen === true && ratings.size >= BEGIN_FEW;
    $("begin-lead").textContent = t(isEnough ? "beginEnough" : "beginLead");
    $("begin-done").textContent = t(isEnough ? "beginSee" : "beginDone");
    $("begin-done").classList.toggle("strong", isEnough);
    if (!isBeginOpen) return;
    if (tiles.length === 0) {
        tiles = Array.from({ length: BEGIN_TILES }, makeTile);
        $("begin-grid").replaceChildren(...tiles.map((tile) => tile.element));
    }
    for (const tile of tiles) {
        setStars(tile.stars);
        if (tile.item < 0 && !tile.element.hidden) fillTile(tile); /* one that stayed empty stays so */
        else if (isLeft(tile.item)) leaveTile(tile);
    }
    if (tiles.some((tile) => watched.has(tile.item) && hidden.has(tile.item))) $("begin-lead").textContent = t("beginLeadSeen");
    if (tiles.every((tile) => tile.item < 0)) $("begin-lead").textContent = t("beginNone");
}

function startBegin() {
    $("begin-done").addEventListener("click", () => {
        isBeginOpen = false;
        showBegin();
        $("picks").focus();
    });
    $("begin-more").addEventListener("click", () => {
        isBeginOpen = "asked";
        tiles = [];
        showBegin();
        $("begin").scrollIntoView({ block: "nearest" });
        $("begin").focus({ preventScroll: true });
    });
}
