/*
 * What is kept in the browser, for those who ask for it, and notices about it.
 */

/* Ratings are remembered for one catalogue: its name and a hash of its ids, FNV-1a twice. A newer release of the same
 * catalogue finds them again, and another one under the same name does not. */
let memoryKey = ""; /* found when first needed: where nothing is remembered, that is never */

const memoryPrefix = () => `dpmf: ${pageName} `;

/* Whether a place has something of a page of this name. */
const hasMemory = (place) => Object.keys(place).some((key) => key.startsWith(memoryPrefix()));

function nameMemory() {
    if (memoryKey) return memoryKey;
    let a = 0x811c9dc5, b = 0x01000193;
    const take = (byte) => {
        a = Math.imul(a ^ byte, 0x01000193);
        b = Math.imul(b ^ byte, 0x5bd1e995) ^ b >>> 15;
    };
    for (let item = 0; item < release.items; item++) {
        const address = ask("item_id", item), n = answers(1)[0];
        for (const byte of bytesAt(address, n)) take(byte);
        for (let rest = n; ; rest >>>= 8) { take(rest & 255); if (rest < 256) break; } /* where the id ends */
    }
    return memoryKey = memoryPrefix() + [a, b].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}

function notice(message, details = []) {
    const list = details.length ? [make("ul", {}, ...details.map((text) => make("li", { text })))] : [];
    $("notice").replaceChildren(make("p", { text: message }), ...list);
    $("notice").hidden = false;
    say(message, 100);
}

let isSaved = false; /* nothing has changed since it was saved to a file */

/* The two places that a browser has for it: until the tab is closed, and for good. Each is written only when it was asked for. */
const MEMORIES = { "remember-tab": () => sessionStorage, "remember": () => localStorage };

/* Writes what there is, or nothing at all where that was not asked for. */
function remember() {
    writeMemories();
    showRisk();
}

function writeMemories() {
    for (const [tick, place] of Object.entries(MEMORIES)) try {
        if (!$(tick).checked) {
            if (hasMemory(place())) place().removeItem(nameMemory());
            continue;
        }
        const own = [...ratings].map(([item, value]) => [idOf(item), value]);
        place().setItem(nameMemory(), JSON.stringify({ ratings: own, hidden: [...hidden].map(idOf), later: [...later].map(idOf) }));
    } catch {
        if (!$(tick).checked) continue;
        $(tick).checked = false;
        notice(t("cannotRemember"));
    }
}

const isOnScale = (value) => typeof value === "number" && value >= scale.min && value <= scale.max;

/* Memory may have been written by anything that runs at the same address: what does not fit is ignored. */
function recall() {
    for (const [tick, place] of Object.entries(MEMORIES)) {
        let memory;
        try {
            memory = hasMemory(place()) ? parsed(place().getItem(nameMemory())) : undefined;
        } catch { /* a browser that lets nothing be remembered */ }
        if (!Array.isArray(memory?.ratings)) continue;
        $(tick).checked = true;
        takeMemory(memory);
    }
}

function takeMemory(memory) {
    const itemsOf = (list) => (Array.isArray(list) ? list : []).map((id) => typeof id === "string" ? findId(id) : -1).filter((item) => item >= 0);
    for (const entry of memory.ratings) {
        const [id, value] = Array.isArray(entry) && entry.length === 2 ? entry : [];
        const item = typeof id === "string" ? findId(id) : -1;
        if (item >= 0 && isOnScale(value)) setRating(item, value);
    }
    for (const item of itemsOf(memory.hidden)) hide(item);
    for (const item of itemsOf(memory.later)) later.add(item);
}

/* Whether there is something that closing the page would take away. */
function isAtRisk() {
    const isKept = Object.keys(MEMORIES).some((tick) => $(tick).checked) || isSaved;
    return !isKept && ratings.size + later.size > 0;
}

const showRisk = () => { $("keep-gone").hidden = !isAtRisk(); };

/* Whoever leaves or reloads the page by accident would lose what they said: the browser asks first, in its own words. */
function guardLeaving() {
    addEventListener("beforeunload", (event) => {
        if (isAtRisk()) event.preventDefault();
    });
}
