/*
 * The recommendations and their reasons; and, on small screens, a bar with the first of them that stays in sight.
 */

const pickRows = new Map();

const quietButton = (name, onclick) => make("button", { type: "button", class: "quiet", text: t(name), onclick });

/* Says what a button of a row is for: its words, which whoever speaks to their computer says, and the title. */
const nameButton = (button, item) => button.setAttribute("aria-label", `${button.textContent}: ${titles[item]}`);

/* Rows are made once and then used for one title after another: making them is most of the work of a star. */
function pickRow() {
    const row = make("li");
    row.score = make("b", { "aria-hidden": "true" });
    row.spoken = make("span", { class: "unseen" });
    row.bar = make("i");
    row.name = titleButton(() => row.item);
    row.facts = make("p", { class: "facts" });
    row.why = make("p", { class: "why" });
    row.keep = quietButton("keep", () => keep(row.item));
    row.alike = quietButton("alike", () => showAlike(row.item));
    row.hide = quietButton("hide", () => hideAndGoOn(row));
    row.undo = make("button", { type: "button", class: "quiet strong", text: t("undo"), hidden: true, onclick: () => unhideHere(row) });
    row.stars = makeStars(0, "picks");
    row.cover = make("div", { class: "pick-cover" });
    row.doing = make("div", { class: "doing" }, row.keep, release.factors > 0 ? row.alike : null, row.hide, row.undo);
    row.append(make("div", { class: "score" }, row.score, row.spoken, make("span", { class: "bar", "aria-hidden": "true" }, row.bar)),
        row.cover, make("div", { class: "what" }, row.name, row.facts, row.why), make("div", { class: "act" }, row.stars), row.doing);
    return row;
}

function bindPick(row, item) {
    const title = titles[item], cover = coverOf(item);
    row.item = item;
    row.isFresh = true;
    row.name.textContent = title;
    row.facts.textContent = factsOf(item);
    nameButton(row.alike, item);
    nameButton(row.hide, item);
    row.cover.replaceChildren(...(cover ? [cover] : []));
    bindStars(row.stars, item);
    return row;
}

/* What is not for someone says so in its place, with the way back, until the next change. */
function hideAndGoOn(row) {
    const { item } = row, at = picks.findIndex((pick) => pick.item === item);
    doing(() => hide(item));
    kept = { item, at, before: past.at(-1) };
    show();
    row.undo.focus();
    say(t("hidden", { title: titles[item] }));
}

/* The undo in its place takes back this and nothing else, whatever was done since. */
function unhideHere({ item }) {
    if (kept?.before === past.at(-1)) return undo();
    doing(() => hide(item, false));
    kept = null;
    show();
    say(t("undone"), 0);
}

/* The list becomes one of what is like this title. */
function showAlike(item) {
    if ($("sheet").open) $("sheet").close();
    alike = item;
    kept = null;
    shown = PAGE;
    show();
    $("picks").scrollIntoView({ block: "start" });
    $("picks").focus({ preventScroll: true });
}

// ---- reasons --------------------------------------------------------------------------------------------------------

const emphasis = (item) => make("em", { text: titles[item], dir: "auto" });

const isLiked = ({ item }) => scale.hearts || ratings.get(item) > (scale.min + scale.max) / 2;

/* Why a title that someone rated low speaks for this one, in words that are true. To have chosen it counts for what is like it, unless
 * the rating is among the lowest (docs/goals.md); to dislike it counts for what is unlike it. */
function lowReason(item, low) {
    const values = { rating: scale.show(ratings.get(low)), title: emphasis(low) }, isChosen = ratings.get(low) > scale.min + (scale.max - scale.min) / 8;
    if (likeness(item, low) < 0) return tParts("whyUnlike", values);
    return isChosen ? tParts("whyChosen", values) : [t("whyNeither")];
}

/* Of taste, the two strongest ratings for it, and the strongest against it where that is nearly as strong. What someone likes comes
 * first; what they rated low is a reason of its own where there is no other. */
function reasonOf({ item, reason, shares }) {
    const all = shares.filter((entry) => entry.share > 0), liked = all.filter(isLiked), pro = liked.length ? liked : all;
    const con = shares.find((entry) => entry.share < 0);
    if (reason !== "taste" || pro.length === 0) return [t(reason === "crowd" ? "whyCrowd" : "whyNeither")];
    if (liked.length === 0) return lowReason(item, pro[0].item);
    const two = pro[1] && pro[1].share > 0.4 * pro[0].share, but = con && -con.share > 0.6 * pro[0].share && !scale.hearts;
    const values = {};
    for (const [entry, mark] of [[pro[0], ""], [two ? pro[1] : null, "2"], [but ? con : null, "3"]]) if (entry) {
        values["rating" + mark] = scale.show(ratings.get(entry.item));
        values["title" + mark] = emphasis(entry.item);
    }
    return tParts((scale.hearts ? "whyLike" : "whyTaste") + (two ? "Two" : "") + (but ? "But" : ""), values);
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

// ---- the list -------------------------------------------------------------------------------------------------------

function fillScore(row, item, at) {
    if (scale.hearts) { /* scores of events are no ratings: the place in the list is all that they mean */
        row.score.textContent = count(at + 1);
        row.spoken.textContent = t("rank", { n: at + 1 });
        return;
    }
    const rating = wasm.predict(item); /* which may be below 0: no error, as it would be to ask() */
    row.score.textContent = scale.expect(rating);
    row.spoken.textContent = t("expected", { value: scale.expect(rating), max: scale.max });
    row.bar.style.transform = `scaleX(${scale.share(rating)})`;
}

function fillPick(row, { item }, at) {
    const isHidden = hidden.has(item), isKept = later.has(item);
    fillScore(row, item, at);
    row.classList.toggle("done", ratings.has(item) || isHidden);
    row.classList.toggle("gone", isHidden);
    if (isHidden) row.why.replaceChildren(t("hidden", { title: titles[item] }));
    else if (ratings.has(item)) row.why.replaceChildren(t(scale.hearts ? "nowLiked" : "nowRated"));
    else if (alike !== null) row.why.replaceChildren(...tParts("whyAlike", { title: emphasis(alike) }));
    else if (ratings.size === 0) row.why.replaceChildren(t("whyCrowd"));
    row.undo.hidden = !isHidden;
    row.keep.hidden = row.alike.hidden = row.hide.hidden = isHidden;
    row.keep.textContent = t(isKept ? "kept" : "keep");
    nameButton(row.keep, item);
    row.keep.setAttribute("aria-pressed", String(isKept));
    setStars(row.stars);
}

function picksLead() {
    if (picks.length === 0) return t(isFiltered() ? "picksNoneFiltered" : "picksNone");
    if (alike !== null) /* what was just rated or hidden stays in its place, and has no score */
        return [t("picksLeadAlike"), doubtOf(picks.filter(({ score }) => !Number.isNaN(score)))].filter(Boolean).join(" ");
    if (release.factors === 0) return t("picksFlat");
    const isByRating = !release.hasDial && !scale.hearts; /* a release without counts: nothing is known of who knows a title */
    if (ratings.size === 0) return t(isByRating ? "picksStartLeadRating" : "picksStartLead");
    return t(isByRating ? "picksLeadRating" : release.hasDial && Number($("dial").value) === 0 ? "picksLeadCrowd" : "picksLead");
}

function showPicks() {
    const wanted = new Set(picks.map((pick) => pick.item)), spare = [];
    for (const [item, row] of pickRows) {
        if (wanted.has(item)) continue;
        pickRows.delete(item);
        if (!row.contains(document.activeElement)) spare.push(row);
    }
    picks.forEach((pick, at) => {
        if (!pickRows.has(pick.item)) pickRows.set(pick.item, bindPick(spare.pop() ?? pickRow(), pick.item));
        fillPick(pickRows.get(pick.item), pick, at);
    });
    const rows = picks.map((pick) => pickRows.get(pick.item)), isReasoned = ratings.size > 0 && alike === null;
    showReasons(isReasoned ? rows.filter((row) => !ratings.has(row.item) && !hidden.has(row.item)) : []);
    arrange($("pick-list"), rows);
    $("picks-heading").replaceChildren(...(alike !== null ? tParts("picksAlike", { title: emphasis(alike) }) :
        [t(ratings.size ? "picksHeading" : "picksStart")]));
    $("picks-lead").textContent = picksLead();
    $("dial-box").hidden = !release.hasDial || release.factors === 0 || release.isPopularityAlone || ratings.size === 0 || alike !== null;
    $("alike-end").hidden = alike === null;
    $("more").hidden = picks.length < shown || shown >= 200;
    const unseen = [...hidden].filter((item) => !ratings.has(item)).length; /* what is rated would not come back */
    $("unhide").hidden = unseen === 0;
    $("unhide").textContent = t("unhide", { n: unseen });
}

// ---- the bar of small screens ---------------------------------------------------------------------------------------

const below = new Set(); /* of the list and what comes after it, what is in sight: the bar is for those who are above it */

function showBar() {
    const first = picks.filter(({ item }) => !ratings.has(item) && !hidden.has(item)).slice(0, 3);
    $("bar").hidden = ratings.size === 0 || below.size > 0 || first.length === 0;
    if ($("bar").hidden) return;
    $("bar-list").replaceChildren(...first.map(({ item }) => make("li", {}, titleButton(item))));
}

function startPicks() {
    const watcher = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) if (isIntersecting) below.add(target.id); else below.delete(target.id);
        showBar();
    }, { rootMargin: "0px 0px -30% 0px" });
    for (const id of ["pick-list", "map", "privacy"]) watcher.observe($(id));
    $("bar-all").addEventListener("click", () => {
        $("picks").scrollIntoView();
        $("picks").focus({ preventScroll: true });
    });
    $("alike-end").addEventListener("click", () => {
        alike = null;
        show();
        $("picks").focus();
    });
    $("dial").addEventListener("input", () => {
        ask("dial", Number($("dial").value));
        $("dial").setAttribute("aria-valuetext", t("dialSaid", { n: Math.round(100 * Number($("dial").value)) }));
        kept = null;
        show();
    });
    $("more").addEventListener("click", () => {
        const first = shown;
        shown += PAGE;
        show();
        $("pick-list").children[first]?.querySelector("button").focus();
    });
    $("unhide").addEventListener("click", () => {
        doing(() => { for (const item of [...hidden]) hide(item, false); });
        kept = null;
        show();
        $("picks").focus();
    });
}
