/*
 * The sheet of one title: its stars, why it is recommended, and what is like it.
 */

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
