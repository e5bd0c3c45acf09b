/*
 * The recommendations and their reasons.
 */

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
