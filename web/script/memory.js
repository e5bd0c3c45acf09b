/*
 * What is kept in the browser, for those who ask for it, and notices about it.
 */

/* Ratings are remembered for one catalogue: its name and a hash of its ids, FNV-1a twice. A newer release of the same
 * catalogue finds them again, and another one under the same name does not. */
let memoryKey = "";

function nameMemory() {
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
    memoryKey = `dpmf: ${document.title} ` + [a, b].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}

function notice(message, details = []) {
    const list = details.length ? [make("ul", {}, ...details.map((text) => make("li", { text })))] : [];
    $("notice").replaceChildren(make("p", { text: message }), ...list);
    $("notice").hidden = false;
    say(message, 100);
}

/* Writes what there is, or nothing at all where that was not asked for. */
function remember() {
    try {
        if (!$("remember").checked) return localStorage.removeItem(memoryKey);
        const own = [...ratings].map(([item, value]) => [idOf(item), value]);
        localStorage.setItem(memoryKey, JSON.stringify({ ratings: own, hidden: [...hidden].map(idOf) }));
    } catch {
        if (!$("remember").checked) return;
        $("remember").checked = false;
        notice("This browser does not let the page remember anything. Save your ratings to a file instead.");
    }
}

const isOnScale = (value) => typeof value === "number" && value >= scale.min && value <= scale.max;

/* Memory may have been written by anything that runs at the same address: what does not fit is passed over. */
function recall() {
    let memory;
    try {
        memory = parsed(localStorage.getItem(memoryKey));
    } catch { /* a browser that lets nothing be remembered */ }
    if (!Array.isArray(memory?.ratings)) return;
    $("remember").checked = true;
    for (const entry of memory.ratings) {
        const [id, value] = Array.isArray(entry) && entry.length === 2 ? entry : [];
        const item = typeof id === "string" ? findId(id) : -1;
        if (item >= 0 && isOnScale(value)) setRating(item, value);
    }
    for (const id of Array.isArray(memory.hidden) ? memory.hidden : []) {
        const item = typeof id === "string" ? findId(id) : -1;
        if (item >= 0) hide(item);
    }
}
