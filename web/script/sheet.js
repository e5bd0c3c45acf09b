/*
 * The sheet of one title: its stars, why it is recommended, and what is like it.
 */

let sheetItem = -1;

function openSheet(item) {
    const cover = coverOf(item);
    sheetItem = item;
    $("sheet-title").textContent = titles[item];
    $("sheet-facts").textContent = factsOf(item);
    $("sheet-cover").replaceChildren(...(cover ? [cover] : []));
    $("sheet-stars").replaceChildren(makeStars(item, "sheet"));
    fillSheet();
    const near = release.factors > 0 ? askList("similar", item, 8) : [];
    $("sheet-similar-heading").hidden = $("sheet-alike").hidden = near.length === 0;
    $("sheet-similar").replaceChildren(...near.map((entry) => make("li", {}, titleButton(entry.item))));
    $("sheet-doubt").textContent = doubtOf(near);
    if (!$("sheet").open) $("sheet").showModal();
    $("sheet-title").focus();
    $("sheet").scrollTop = 0;
}

/* What depends on the ratings. */
function fillSheet() {
    setStars($("sheet-stars").firstChild);
    $("sheet-why").replaceChildren(...whyTable(explain(sheetItem), ratings.has(sheetItem)));
    $("sheet-hide").textContent = t(hidden.has(sheetItem) ? "sheetUnhide" : "sheetHide");
    $("sheet-keep").textContent = t(later.has(sheetItem) ? "kept" : "keep");
    $("sheet-keep").setAttribute("aria-pressed", String(later.has(sheetItem)));
}

/* Numbers with two digits that add up to their sum with two digits: what rounding is off by goes to those it hurts least. */
function roundedParts(parts, sum) {
    const cents = parts.map((x) => Math.round(100 * x));
    let off = Math.round(100 * sum) - cents.reduce((a, b) => a + b, 0);
    const loss = (i) => Math.sign(off) * (100 * parts[i] - cents[i]);
    while (off !== 0 && Math.abs(off) <= parts.length) {
        const most = cents.map((_, i) => i).reduce((a, b) => loss(b) > loss(a) ? b : a);
        cents[most] += Math.sign(off);
        off -= Math.sign(off);
    }
    return cents.map((x) => x / 100);
}

const signed = (x) => (x < 0 ? "−" : "+") + decimal(Math.abs(x), 2);

/* The rating that is expected, with its number large; nothing of events, which have none. */
function expectedLine(prediction, isOwn) {
    if (scale.hearts) return [];
    const words = tParts(isOwn ? "sheetExpectedOwn" : "sheetExpected", { value: make("b", { text: scale.expect(prediction) }), max: scale.max });
    return [make("p", { class: "expected" }, ...words)];
}

/* The sum that a score is: everyone, how one rates, and taste with the ratings that it is due to. */
function whyTable({ item, score, crowd, habit, taste, prediction, reason, shares }, isOwn) {
    const SHOWN = 8, main = reason === "taste" ? shares.slice(0, SHOWN) : [];
    const rest = reason === "taste" ? shares.slice(SHOWN) : [];
    const widest = Math.max(1e-9, ...main.map((entry) => Math.abs(entry.share)));
    const line = (share, ...label) => {
        const bar = make("i", { class: share < 0 ? "minus" : "plus" });
        bar.style.transform = `scaleX(${Math.min(1, Math.abs(share) / widest)})`;
        return make("tr", { class: "share" }, make("th", { scope: "row" }, ...label), make("td", { text: signed(share) }),
            make("td", { class: "push", "aria-hidden": "true" }, bar));
    };
    const ownWords = (item) => tParts(scale.hearts ? "shareOfLike" : "shareOf",
        { rating: scale.show(ratings.get(item)), title: emphasis(item) });
    const others = rest.reduce((sum, { share }) => sum + share, 0);
    const [shownCrowd, shownHabit, shownTaste] = roundedParts([crowd, habit, taste], score);
    const shownShares = roundedParts([...main.map(({ share }) => share), ...(rest.length ? [others] : [])], shownTaste);
    const rows = main.map(({ item }, i) => line(shownShares[i], ...ownWords(item)));
    if (rest.length) rows.push(line(shownShares.at(-1), t("shareOthers", { n: rest.length })));
    const part = (kind, name, value) => make("tr", { class: kind }, make("th", { scope: "row", text: t(name) }),
        make("td", { text: value }), make("td"));
    return [
        ...expectedLine(prediction, isOwn),
        make("p", { class: "why" }, ...reasonOf({ item, reason, shares })),
        make("table", { class: "why-table" }, make("caption", { text: t(release.hasDial || scale.hearts ? "sheetPoints" : "sheetParts") }), make("tbody", {}, part("general", "partCrowd", decimal(shownCrowd, 2)),
            ...(scale.hearts ? [] : [part("habit", "partHabit", signed(shownHabit))]), part("taste", "partTaste", signed(shownTaste)), ...rows,
            part("sum", "partSum", decimal(score, 2)))),
        ...(main.some((entry) => entry.share > 0 && !isLiked(entry)) ? [make("p", { class: "fine", text: t("sheetLow") })] : []),
    ];
}

function startSheets() {
    for (const sheet of document.querySelectorAll("dialog")) {
        sheet.addEventListener("click", (event) => { if (event.target === sheet) sheet.close(); });
        for (const button of sheet.querySelectorAll(".close")) button.addEventListener("click", () => sheet.close());
    }
    $("sheet-keep").addEventListener("click", () => keep(sheetItem));
    $("sheet-alike").addEventListener("click", () => showAlike(sheetItem));
    $("sheet-hide").addEventListener("click", () => {
        doing(() => hide(sheetItem, !hidden.has(sheetItem)));
        kept = null;
        show();
    });
}
