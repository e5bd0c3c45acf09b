/*
 * The calls into WebAssembly (client_module.c), and the data blocks of the page that it is fed from. A negative answer becomes
 * an Error with the module's own words.
 */

let wasm = null;
const utf8 = new TextDecoder();

const bytesAt = (address, n) => new Uint8Array(wasm.memory.buffer, address, n);
const answers = (n) => new Float64Array(wasm.memory.buffer, wasm.answer(), n);

function textAt(address) {
    const all = new Uint8Array(wasm.memory.buffer);
    return utf8.decode(all.subarray(address, all.indexOf(0, address)));
}

function ask(name, ...values) {
    let result;
    try {
        result = wasm[name](...values);
    } catch (trap) { /* the module never means to end so: nothing in it can be trusted any more */
        giveUp(new Error(t("troubleBroke", { reason: trap.message })));
        throw trap;
    }
    if (result < 0 || Number.isNaN(result)) throw Object.assign(new Error(textAt(wasm.error_text())), { code: result });
    return result;
}

/* Pairs of an item and a number, as recommend and similar give them. */
function askList(name, ...values) {
    const n = ask(name, ...values), flat = answers(2 * n), list = [];
    for (let i = 0; i < n; i++) list.push({ item: flat[2 * i], score: flat[2 * i + 1] });
    return list;
}

/* What the page holds: "Program", "Release", "Titles". */
const damaged = (what) => new Error(t("troubleDamaged" + what) + " " + t("troubleAgain"));

/* Decodes base64: by the browser itself where it can, else in pieces, so that a large release is in memory once. */
function decode(text, into, what) {
    if (into.setFromBase64) {
        let written = -1;
        try {
            written = into.setFromBase64(text).written;
        } catch { /* no base64 */ }
        if (written !== into.length) throw damaged(what);
        return;
    }
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw damaged(what);
    const PIECE = 1 << 18; /* a multiple of four */
    for (let from = 0, at = 0; from < text.length; from += PIECE) {
        const piece = atob(text.slice(from, from + PIECE));
        for (let i = 0; i < piece.length; i++) into[at++] = piece.charCodeAt(i);
    }
}

function dataOf(id, what) {
    const block = $(id);
    if (!block)
        throw new Error(t("troubleNo" + what) + " " + t("troubleMade"));
    const text = block.textContent.trim();
    block.remove(); /* its text is as large as the release */
    return text;
}

function sizeOf(base64, what) {
    if (base64.length % 4 !== 0) throw damaged(what);
    return base64.length / 4 * 3 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}

async function loadModule() {
    const base64 = dataOf("dpmf-module", "Program"), bytes = new Uint8Array(sizeOf(base64, "Program"));
    decode(base64, bytes, "Program");
    try {
        wasm = (await WebAssembly.instantiate(bytes, {})).instance.exports;
    } catch (problem) {
        throw new Error(t("troubleBrowser", { reason: problem.message }));
    }
}

/* The release stands in blocks, since browsers read one of megabytes far slower. All but the last are whole groups of base64. */
function releaseBlocks() {
    const more = [...document.querySelectorAll("script.dpmf-release")], blocks = [dataOf("dpmf-release", "Release")];
    for (const block of more) {
        blocks.push(block.textContent);
        block.remove();
    }
    return blocks;
}

function openRelease() {
    const blocks = releaseBlocks(), sizes = blocks.map((base64) => sizeOf(base64, "Release"));
    const n = sizes.reduce((sum, size) => sum + size, 0), address = wasm.allocate(n);
    if (!address) throw new Error(t("troubleMemory"));
    for (let i = 0, at = address; i < blocks.length; at += sizes[i++]) decode(blocks[i], bytesAt(at, sizes[i]), "Release");
    try {
        ask("open", address, n);
    } catch (problem) {
        throw new Error(t("troubleRelease", { reason: problem.message }));
    }
}
