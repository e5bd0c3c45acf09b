/*
 * The search field and its list: the combobox pattern of the ARIA practices. The focus stays in the field, and the list follows
 * it.
 */

const search = { input: $("search"), list: $("found"), items: [], at: -1 };

function closeSearch() {
    $("found-box").hidden = true;
    search.input.setAttribute("aria-expanded", "false");
    search.input.removeAttribute("aria-activedescendant");
    search.at = -1;
}

function runSearch() {
    const typed = search.input.value, { best, matches, without } = searchTitles(typed);
    if (typed.trim() === "") return closeSearch();
    search.items = best;
    search.list.replaceChildren(...best.map((item, i) => {
        const value = ratings.get(item);
        return make("li", { role: "option", id: `found-${i}`, "aria-selected": "false", onclick: () => choose(item) },
            make("span", { text: titles[item], dir: "auto" }),
            value === undefined ? null : make("span", { class: "given-note", text: scale.hearts ? "♥" : `★ ${scale.show(value)}` }));
    }));
    const lacking = without === "" ? "" : t("foundWithout", { word: without });
    const note = (matches === 0 ? [t("foundNone"), yearsHere()] : [lacking, matches > best.length && t("foundMore", { n: matches - best.length })])
        .filter(Boolean).join(" ");
    $("found-note").textContent = note;
    $("found-note").hidden = note === "";
    $("found-box").hidden = false;
    search.input.setAttribute("aria-expanded", String(matches > 0));
    point(-1);
    say(matches === 0 ? note : [lacking, t("found", { n: matches })].filter(Boolean).join(" "));
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
    if (scale.hearts && !ratings.has(item)) rate(item, 1); /* whoever looks for it here likes it */
    candidate = item;
    sliding(showRated);
    const row = ratedRows.get(item);
    (row.querySelector("input:checked") ?? row.querySelector("input, .heart")).focus();
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
