/*
 * What the person did, and what follows from it. Everything that changes goes through here: doing() notes what was, so that it
 * can be undone, and show() shows what is.
 */

const PAGE = 10;
const ratings = new Map(); /* item -> rating, in the order they were first given; of events 1 */
const hidden = new Set();  /* never to be recommended */
const later = new Set();   /* kept for later, in order */
let candidate = null;      /* a title picked in the search: on top of one's ratings, rated or not */
let older = matchMedia("(max-width: 44rem)").matches ? 3 : 8; /* how many of one's ratings are listed; files may bring thousands */
let kept = null;           /* a recommendation just rated or hidden stays in its place until the next change: {item, at} */
let alike = null;          /* an item, while the list is of what is like it */
let shown = PAGE;
let picks = [];            /* what is recommended now: {item, score} */
let starTime = 0;          /* when the last star was given, ... */
let answerTime = NaN;      /* ... milliseconds until the page had changed, ... */
let frameTime = NaN;       /* ... and until it was laid out too */

// ---- what can be undone ---------------------------------------------------------------------------------------------

const UNDO_MAX = 200;
const past = [];

const snapshot = () => ({ ratings: new Map(ratings), hidden: new Set(hidden), later: new Set(later), passed: new Set(passed),
    suggested: tiles.map((tile) => tile.item) });

/* Does something, so that undo() takes it back. What fails leaves the person as before. A word about what was done before goes:
 * the undo beside it would take back this. Not to keep is what no file has, such as which titles were skipped. */
function doing(work, isToKeep = true) {
    const before = snapshot();
    work();
    toast(null);
    past.push(before);
    if (past.length > UNDO_MAX) past.shift();
    if (isToKeep) isSaved = false;
}

function restore(before) {
    for (const item of [...ratings.keys()]) if (!before.ratings.has(item)) setRating(item, null);
    for (const [item, value] of before.ratings) if (ratings.get(item) !== value) setRating(item, value);
    for (const item of [...hidden]) if (!before.hidden.has(item)) hide(item, false);
    for (const item of before.hidden) if (!hidden.has(item)) hide(item);
    ratings.clear(); /* and in the order they had */
    for (const [item, value] of before.ratings) ratings.set(item, value);
    later.clear();
    for (const item of before.later) later.add(item);
    passed.clear();
    for (const item of before.passed) passed.add(item);
    suggestAgain(before.suggested);
}

function undo() {
    const before = past.pop();
    if (!before) return say(t("nothingToUndo"), 0);
    restore(before);
    kept = candidate = null;
    toast(null);
    show();
    say(t("undone"), 0);
}

/* A word about what happened, at the edge of the window, with the way back. */
let toastTimer = 0;
let isTouched = false; /* the last press was a finger's: to a browser it rests where it was lifted, for ever */
addEventListener("pointerdown", (event) => { isTouched = event.pointerType === "touch"; }, true);

/* It stays while a pointer rests on it, or the keyboard is in it, and goes soon after. */
function endToast() {
    const rests = $("toast").matches(":hover") && !isTouched;
    if (rests || $("toast").matches(":focus-within")) toastTimer = setTimeout(endToast, 2000);
    else $("toast").hidden = true;
}

function toast(text) {
    clearTimeout(toastTimer);
    $("toast").hidden = text === null;
    if (text === null) return;
    $("toast-text").textContent = text;
    toastTimer = setTimeout(endToast, 6000);
}

// ---- what a person does ---------------------------------------------------------------------------------------------

/* Gives, changes or (null) takes away a rating, and shows what follows from it. */
function rate(item, value, place = null) {
    starTime = performance.now();
    const was = ratings.get(item);
    try {
        doing(() => setRating(item, value));
    } catch (problem) { /* the person is as before, and so must the stars be */
        for (const box of document.querySelectorAll(".stars")) box.rating = undefined;
        show();
        return notice(t("ratingRefused", { reason: problem.message }));
    }
    kept = place === "picks" && value !== null ? { item, at: picks.findIndex((pick) => pick.item === item) } : null;
    if (candidate === item && value === null) candidate = null;
    show();
    toast(value === null ? t("removed", { title: titles[item] }) : null);
    answerTime = performance.now() - starTime;
    const first = picks.find((pick) => !ratings.has(pick.item));
    say((value === null ? t("removed", { title: titles[item] }) : scale.hearts ? t("liked", { title: titles[item] }) :
        t("rated", { value: scale.show(value), max: scale.max, title: titles[item], was })) +
        (first ? " " + t("firstNow", { title: titles[first.item] }) : ""));
}

function setRating(item, value) {
    tellFacts();
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

/* Keeps a title for later, or no longer. */
function keep(item, on = !later.has(item)) {
    doing(() => { if (on) later.add(item); else later.delete(item); });
    show();
    const text = t(on ? "keptSaid" : "unkeptSaid", { title: titles[item] });
    toast(text);
    say(text);
}

// ---- what follows ---------------------------------------------------------------------------------------------------

/* What is recommended: the best for the person, or what is like one title, of what passes the filter. */
function findPicks() {
    if (alike === null) return askList("recommend", shown);
    const passes = (item) => !ratings.has(item) && !hidden.has(item) && passesFilter(item);
    const near = askList("similar", alike, Math.min(1000, release.items - 1));
    return near.filter(({ item }) => passes(item)).slice(0, shown);
}

/* Everything that depends on ratings; the map follows in the next frame. */
function show() {
    picks = findPicks();
    if (kept && kept.at >= 0) {
        const at = Math.min(kept.at, picks.length);
        picks.splice(at, 0, { item: kept.item, score: NaN });
        picks.length = Math.min(picks.length, shown);
    }
    sliding(() => {
        showRated();
        showLater();
        showPicks();
    });
    showBegin();
    showBar();
    if ($("sheet").open) fillSheet();
    $("undo").disabled = past.length === 0;
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
    return { item, score, crowd, habit, taste, prediction, reason: REASONS[reason], shares };
}
