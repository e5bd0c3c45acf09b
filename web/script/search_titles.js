/*
 * Which titles answer what was typed: the module's index (docs/titles.md) does the work. searchTitles() is all that the rest of the
 * page calls; fold() compares the titles of files that this page wrote.
 */

let isIndexed = false;
let indexTime = NaN; /* milliseconds that it took to make the index */

const PLAIN = { ł: "l", ø: "o", đ: "d", ð: "d", þ: "th", ß: "ss", æ: "ae", œ: "oe", ı: "i", ħ: "h" };

/* Small letters without marks, words separated by single blanks and preceded by one; apostrophes join. */
function fold(text) {
    let plain = text.toLowerCase().replace(/['’‘ʼ]/g, "");
    if (/[^\x00-\x7f]/.test(plain))
        plain = plain.normalize("NFKD").replace(/\p{M}+/gu, "").replace(/[łøđðþßæœıħ]/g, (c) => PLAIN[c]);
    return " " + plain.replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

/* Calls `use` with the address and the length of bytes, copied into the module; they are given back unless it keeps them. */
function withBytes(bytes, use, isKept = false) {
    const address = wasm.allocate(bytes.length);
    if (!address) throw new Error(t("troubleMemory"));
    bytesAt(address, bytes.length).set(bytes);
    try {
        return use(address, bytes.length);
    } finally {
        if (!isKept) wasm.deallocate(address);
    }
}

/* Makes the index, once; the page does so when there is time, and the search if it comes sooner. */
function indexTitles() {
    if (isIndexed) return;
    const begun = performance.now();
    const text = titles.map((title) => title.replaceAll("\0", " ") + "\0").join("");
    withBytes(new TextEncoder().encode(text), (address, n) => ask("titles_open", address, n), true);
    isIndexed = true;
    indexTime = performance.now() - begun;
}

/* What was typed has neither letters nor digits: it is looked for as it is, and titles that begin so come first. */
function searchSymbols(typed, n) {
    const found = [];
    titles.forEach((title, item) => {
        const at = title.indexOf(typed);
        if (at >= 0) found.push({ item, rank: Math.min(at, 1) * 1e6 + title.length });
    });
    found.sort((a, b) => a.rank - b.rank);
    return { best: found.slice(0, n).map(({ item }) => item), matches: found.length };
}

const NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"];

/* The same with small numbers in words, or in digits: "12 monkeys" and "twelve monkeys". */
function otherNumbers(typed) {
    const words = typed.split(/(\s+)/);
    const other = words.map((word) => /^\d{1,2}$/.test(word) && NUMBERS[Number(word)] ? NUMBERS[Number(word)] :
        NUMBERS.includes(word.toLowerCase()) ? String(NUMBERS.indexOf(word.toLowerCase())) : word);
    return other.join("") === typed ? "" : other.join("");
}

/* The best n titles for what was typed; how many match in all; and the word they are found without, where no title has all. Titles
 * with the number written the other way come after those as typed. */
function searchTitles(typed, n = 10) {
    if (typed.trim() === "") return { best: [], matches: 0, without: "" };
    if (fold(typed) === " ") return { ...searchSymbols(typed.trim(), n), without: "" };
    indexTitles();
    const own = searchWords(typed, n), other = otherNumbers(typed);
    if (other === "" || (own.best.length >= n && own.without === "")) return own;
    const second = searchWords(other, n);
    if (second.without !== "") return own.matches === 0 && typed.includes(second.without) ? second : own;
    if (own.without !== "") return second.matches > 0 ? second : own;
    const best = [...new Set([...own.best, ...second.best])].slice(0, n);
    return { best, matches: Math.max(own.matches, best.length), without: "" };
}

function searchWords(typed, n) {
    const found = withBytes(new TextEncoder().encode(typed), (address, length) => ask("search", address, length, n));
    const [matches, ...best] = answers(found + 1);
    return { best, matches, without: textAt(wasm.search_left_out()) };
}
