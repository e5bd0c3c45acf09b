/*
 * Which titles answer what was typed. searchTitles() is all that the rest of the page calls; fold() also compares the titles of
 * files.
 */

let folded = []; /* titles as the search sees them, filled when there is time */

const PLAIN = { ł: "l", ø: "o", đ: "d", ð: "d", þ: "th", ß: "ss", æ: "ae", œ: "oe", ı: "i", ħ: "h" };

/* Small letters without marks, words separated by single blanks and preceded by one; apostrophes join. */
function fold(text) {
    let plain = text.toLowerCase().replace(/['’‘ʼ]/g, "");
    if (/[^\x00-\x7f]/.test(plain))
        plain = plain.normalize("NFKD").replace(/\p{M}+/gu, "").replace(/[łøđðþßæœıħ]/g, (c) => PLAIN[c]);
    return " " + plain.replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

/* Folds titles a few thousand at a time between other things; the search does the rest if it comes sooner. */
function foldSome(until = Math.min(titles.length, folded.length + 4000)) {
    while (folded.length < until) folded.push(fold(titles[folded.length]));
    if (folded.length < titles.length) setTimeout(foldSome, 10);
}

/* How well a folded title answers the words: 0 begins so, 1 the phrase, 2 words begin so, 3 somewhere; -1 not. */
function matchOf(title, phrase, words) {
    for (const word of words) if (!title.includes(word)) return -1; /* nearly all end here */
    const at = title.indexOf(phrase);
    if (at >= 0) return at === 0 ? 0 : 1;
    return words.every((word) => title.includes(" " + word)) ? 2 : 3;
}

/* How well each title answers what was typed, which is taken as it is where it has neither letters nor digits. */
function matcherOf(typed) {
    const phrase = fold(typed), words = phrase.slice(1).split(" "), plain = typed.trim().toLowerCase();
    if (phrase !== " ") return (item) => matchOf(folded[item], phrase, words);
    return (item) => {
        const at = titles[item].toLowerCase().indexOf(plain);
        return Math.min(at, 1);
    };
}

/* The best n titles for what was typed, the shorter first where they match equally well; and how many match in all. */
function searchTitles(typed, n = 10) {
    const best = [];
    let matches = 0;
    if (typed.trim() === "") return { best: [], matches };
    if (folded.length < titles.length) foldSome(titles.length);
    const matcher = matcherOf(typed);
    for (let item = 0; item < folded.length; item++) {
        const match = matcher(item);
        if (match < 0) continue;
        matches++;
        const rank = match * 1e6 + folded[item].length;
        if (best.length === n && rank >= best[n - 1].rank) continue;
        let at = best.length;
        while (at > 0 && best[at - 1].rank > rank) at--;
        best.splice(at, 0, { item, rank });
        if (best.length > n) best.pop();
    }
    return { best: best.map((found) => found.item), matches };
}
