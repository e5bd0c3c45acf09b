/*
 * What the release and its titles are: the scale of ratings, ids, and a text for each item.
 */

let release = null; /* items, factors, offset, min, max, and whether lists have a dial */
let scale = null;
let titles = [];    /* a text for each item */

/* Ratings are whole, or in halves where an end of the range is; stars where there are few of them, counted from one. */
function makeScale(min, max) {
    const whole = Number.isInteger(min) && Number.isInteger(max);
    const halves = Number.isInteger(2 * min) && Number.isInteger(2 * max);
    const step = whole ? 1 : halves ? 0.5 : (max - min) / 20;
    const n = Math.round((max - min) / step) + 1;
    const decimals = max - min > 20 ? 0 : 1;
    return {
        min, max, step,
        stars: min === step && n <= 10 ? Array.from({ length: n }, (_, i) => min + i * step) : null,
        show: (value) => String(+value.toFixed(2)),
        expect: (value) => clamp(value, min, max).toFixed(decimals),
        share: (value) => (clamp(value, min, max) - min) / (max - min),
    };
}

function idOf(item) {
    const address = ask("item_id", item);
    return utf8.decode(bytesAt(address, answers(1)[0]));
}

function findId(id) {
    const bytes = new TextEncoder().encode(id), address = wasm.allocate(bytes.length);
    if (!address) return -1;
    bytesAt(address, bytes.length).set(bytes);
    const item = wasm.find_item(address, bytes.length);
    wasm.deallocate(address);
    return item;
}

function readTitles() {
    let list;
    try {
        list = JSON.parse(dataOf("dpmf-items", "list of titles"));
    } catch (problem) {
        if (!(problem instanceof SyntaxError)) throw problem;
    }
    if (!Array.isArray(list) || list.length !== release.items)
        throw new Error("Its list of titles does not belong to its release. Get the page again from where it came from.");
    titles = list.map((title, item) => typeof title === "string" && title.trim() ? title : idOf(item));
}
