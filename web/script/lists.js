/*
 * What lists of titles have in common, and the list of one's ratings.
 */

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
    const lists = [$("rated"), $("later"), $("pick-list")], before = new Map();
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

// ---- similar titles -------------------------------------------------------------------------------------------------

/* Where few factors tell few titles apart, a sentence that says how much of a list of similar ones could be chance; "" elsewhere. */
function doubtOf(near) {
    const chance = near.length > 0 ? wasm.in_doubt(near.length, near.at(-1).score) : 0;
    return chance > 0 ? t("similarChance", { n: Math.round(chance) }) : "";
}

// ---- covers ---------------------------------------------------------------------------------------------------------

/* The publisher's picture of a title, or null. It is data within the page: nothing is loaded. */
function coverOf(item) {
    const picture = look.covers[idOf(item)];
    return picture === undefined ? null : make("img", { class: "cover", src: picture, alt: "", loading: "lazy" });
}

// ---- one's ratings --------------------------------------------------------------------------------------------------

const ratedRows = new Map();

const roundButton = (label, short, onclick) =>
    make("button", { type: "button", class: "round", "aria-label": label, title: short, text: "×", onclick });

function ratedRow(item) {
    const stars = makeStars(item, "rated");
    const row = make("li", {}, titleButton(item), stars, roundButton(t("removeLabel", { title: titles[item] }), t("remove"), () => {
        if (ratings.has(item)) rate(item, null);
        else { candidate = null; showRated(); }
        search.input.focus();
    }));
    row.stars = stars;
    stars.addEventListener("keydown", (event) => { /* back to the search, for the next title */
        if (event.key === "Escape" || event.key === "Enter" && !scale.hearts) search.input.focus();
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
    $("older").textContent = t("older", { n: Math.min(50, all.length - older) });
    $("taste-empty").hidden = $("bring-note").hidden = items.length > 0;
    $("taste-count").textContent = ratings.size ? count(ratings.size) : "";
    $("export").disabled = ratings.size + later.size + hidden.size === 0;
}

// ---- kept for later -------------------------------------------------------------------------------------------------

const laterRows = new Map();

function laterRow(item) {
    const remove = () => {
        keep(item, false);
        ($("later").querySelector(".round") ?? $("later-card")).focus();
    };
    const row = make("li", {}, titleButton(item));
    row.facts = make("p", { class: "facts" });
    row.append(row.facts, roundButton(t("removeLabel", { title: titles[item] }), t("remove"), remove));
    return row;
}

function showLater() {
    const items = [...later].reverse();
    for (const item of laterRows.keys()) if (!later.has(item)) laterRows.delete(item);
    for (const item of items) if (!laterRows.has(item)) laterRows.set(item, laterRow(item));
    for (const [item, row] of laterRows) /* what is rated has been seen by now */
        row.facts.textContent = [factsOf(item), ratings.has(item) ? t("laterRated", { rating: scale.show(ratings.get(item)) }) : ""]
            .filter(Boolean).join("\u00a0· ");
    arrange($("later"), items.map((item) => laterRows.get(item)));
    $("later-empty").hidden = items.length > 0;
    $("later-count").textContent = items.length ? count(items.length) : "";
}
