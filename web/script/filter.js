/*
 * The filter: only some kinds, only some years, by what is publicly known of titles. Without such facts there is none.
 */

const filter = { kinds: new Set(), from: 0, to: 0 }; /* kinds by number; years, 0: any */

const isFiltered = () => filter.kinds.size > 0 || filter.from > 0 || filter.to > 0;

/* An item passes that has one of the kinds, and a year within the two. */
function passesFilter(item) {
    if (!facts || !isFiltered()) return true;
    const year = facts.years[item];
    if (filter.kinds.size > 0 && !facts.of[item].some((kind) => filter.kinds.has(kind))) return false;
    return (filter.from === 0 || year >= filter.from) && (filter.to === 0 || year > 0 && year <= filter.to);
}

function applyFilter() {
    const bits = bytesAt(wasm.included(), Math.ceil(release.items / 8));
    let n = 0;
    bits.fill(0);
    if (isFiltered())
        for (let item = 0; item < release.items; item++)
            if (passesFilter(item)) {
                bits[item >> 3] |= 1 << (item & 7);
                n++;
            }
    ask("filter", isFiltered() ? 1 : 0);
    $("filter-note").textContent = isFiltered() ? t("filterOn", { n }) : "";
    say($("filter-note").textContent);
    $("filter-clear").hidden = !isFiltered();
    kept = null;
    shown = PAGE;
    show();
}

/* Kinds as buttons, the most frequent first; years by decades. */
function fillFilter() {
    const often = facts.kinds.map(() => 0);
    for (const own of facts.of) for (const kind of own) often[kind]++;
    const order = [...often.keys()].filter((kind) => often[kind] > 0).sort((a, b) => often[b] - often[a]).slice(0, 24);
    $("filter-kinds").replaceChildren(...order.map((kind) => make("button", {
        type: "button", class: "chip", text: facts.kinds[kind], "aria-pressed": String(filter.kinds.has(kind)), dir: "auto",
        onclick: (event) => {
            if (!filter.kinds.delete(kind)) filter.kinds.add(kind);
            event.target.setAttribute("aria-pressed", String(filter.kinds.has(kind)));
            applyFilter();
        },
    })));
    $("filter-kinds").hidden = order.length === 0;
    const years = facts.years.filter((year) => year > 0), decade = (year) => year - year % 10;
    $("filter-years").hidden = years.length === 0;
    if (years.length === 0) return;
    const least = years.reduce((a, b) => Math.min(a, b)), most = years.reduce((a, b) => Math.max(a, b)), decades = [];
    for (let year = decade(least); year <= most; year += 10) decades.push(year);
    const any = () => make("option", { value: 0, text: t("filterAny") });
    $("filter-from").replaceChildren(any(), ...decades.map((year) => make("option", { value: year, text: year })));
    $("filter-to").replaceChildren(any(), ...decades.map((year) => make("option", { value: year + 9, text: Math.min(year + 9, most) })));
    $("filter-from").value = filter.from;
    $("filter-to").value = filter.to;
}

function clearFilter() {
    filter.kinds.clear();
    filter.from = filter.to = 0;
    fillFilter();
    applyFilter();
}

function startFilter() {
    $("filter").hidden = facts === null || !facts.hasYears && facts.kinds.length === 0;
    if ($("filter").hidden) return;
    fillFilter();
    for (const end of ["from", "to"])
        $(`filter-${end}`).addEventListener("change", (event) => {
            filter[end] = Number(event.target.value);
            applyFilter();
        });
    $("filter-clear").addEventListener("click", () => {
        clearFilter();
        $("filter").querySelector("summary").focus();
    });
}
