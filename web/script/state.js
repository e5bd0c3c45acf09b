/*
 * What the person did, and what follows from it. Everything that changes goes through here, and show() shows it.
 */

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
