/*
 * The privacy statement, read, checked against the release, and put in plain words.
 */

/* Figures are rounded against the promise, as in the statement itself. */
function atMost(value, decimals) {
    const unit = 10 ** decimals;
    const format = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return (Math.ceil(value * (1 + 1e-12) * unit) / unit).toLocaleString("en", format);
}

/* The normal distribution function, by Simpson's rule: good to twelve digits between 0 and 8. */
function phi(x) {
    const STEPS = 400, width = x / STEPS, density = (t) => Math.exp(-t * t / 2) / Math.sqrt(2 * Math.PI);
    let sum = density(0) + density(x);
    for (let i = 1; i < STEPS; i++) sum += density(i * width) * (i % 2 ? 4 : 2);
    return x > 8 ? 1 : 0.5 + sum * width / 3;
}

/* What this page reads of a statement, and how each must be; docs/formats/release.md has them all. */
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const isYesOrNo = (value) => typeof value === "boolean";
const isTexts = (value) => Array.isArray(value) && value.every((text) => typeof text === "string");
const STATEMENT = {
    format: (value) => value === 1 || value === 2,
    release_id: (value) => typeof value === "string" && /^[0-9a-f]{32}$/.test(value),
    kind: (value) => typeof value === "string",
    mechanism: (value) => typeof value === "string",
    epsilon: (value) => isNumber(value) && value > 0,
    delta: (value) => isNumber(value) && value >= 0 && value < 1,
    mu: (value) => value === null || isNumber(value) && value > 0,
    items: isNumber,
    range: (value) => isNumber(value?.min) && isNumber(value?.max),
    insecure: isYesOrNo,
    research: isYesOrNo,
    catalogue_from_ratings: isYesOrNo,
    outside: isTexts,
};

/* JSON, or undefined where it is none. */
function parsed(text) {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

/* Whether it is sound was checked when the page was made. Here it must be what can be shown, of this very release. */
function readStatement() {
    const block = parsed(dataOf("dpmf-statement", "privacy statement")), own = parsed(textAt(wasm.statement()));
    const again = "Get the page again from where it came from.";
    if (typeof own !== "object" || own === null || Array.isArray(own))
        throw new Error(`Its release has no privacy statement. ${again}`);
    const wrong = Object.keys(STATEMENT).find((name) => !Object.hasOwn(own, name) || !STATEMENT[name](own[name]));
    if (wrong) throw new Error(`The privacy statement of its release lacks a sound “${wrong}”. ${again}`);
    if (own.items !== release.items || own.range.min !== release.min || own.range.max !== release.max)
        throw new Error(`The privacy statement of its release is about another release. ${again}`);
    if (typeof block?.text !== "string" || JSON.stringify(block.statement) !== JSON.stringify(own))
        throw new Error(`Its privacy statement is not that of its release. ${again}`);
    const { text, kind, assumptions } = block;
    if (!isTexts(assumptions)) throw new Error(`Its privacy statement has no list of assumptions. ${again}`);
    return { ...own, text, kind, assumptions };
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".");

/* What a person should know before the figures; nothing where they are proven. */
const STAMPS = {
    "proven": "",
    "conditional": "CONDITIONAL, NOT PROVEN. What follows would hold only if a sampler had converged, which no run that ends " +
        "can show.",
    "partial": "PARTIAL, NOT PROVEN. What follows holds only for those who accept what is listed first under what is not promised.",
    "not private": "NOT PRIVATE. This release was made for tests or research. None of what follows is promised.",
};

/* The kind is what dpmf found when it made the page. The worst of it and of what the statement says of itself counts, and a kind
 * that is not known is no promise. */
function stampOf({ kind, insecure, research }) {
    return insecure || research || !Object.hasOwn(STAMPS, kind) ? STAMPS["not private"] : STAMPS[kind];
}

function showPrivacy(said) {
    const { epsilon, delta, mu } = said, stamp = stampOf(said), is = stamp ? "would be" : "is";
    const odds = epsilon > 20 ? null : atMost(Math.exp(epsilon), epsilon < 3 ? 2 : 0);
    const oneIn = delta > 0 ? `1 in ${count(Math.floor(1 / delta * (1 + 1e-12)))}` : null;
    const right = 100 * (mu > 0 ? phi(mu / 2) : 1 / (1 + Math.exp(-epsilon))), guess = right >= 99.9 ? "100" : atMost(right, 1);
    const figure = (value, name, meaning) => value === null ? [] : [make("dt", { text: value }),
        make("dd", {}, meaning, make("small", { text: name }))];
    $("not-private").hidden = !stamp;
    $("not-private").textContent = stamp;
    const how = said.mechanism === "posterior" ? "as one random draw among those that fit" : "with noise added on purpose";
    $("promise").textContent = `The numbers behind the titles were learned from other people's ratings, ${how}, so that they ` +
        `say little about any one of those people. How little ${stamp ? "that would be" : "is proven"}:`;
    $("figures").replaceChildren(
        ...figure(odds ? `${odds} ×` : "no bound", `epsilon ${epsilon}`,
            "at most, on the chance of any conclusion about a person"),
        ...figure(oneIn, `delta ${+delta.toFixed(12)}`, "chance on top of that"),
        ...figure(`${guess} %`, "a coin: 50 %", "right at most, guessing whether someone took part"));
    $("odds").textContent = (odds ? `Whatever anyone concludes about a person from this release: its chance ${is} at most ${odds} ` +
        `times what it would be had that person never rated anything${oneIn ? `, plus ${oneIn}` : ""}. ` : "") +
        (right >= 90 ? `This ${is} a weak promise, and should not be the only protection of those ratings.` : "");
    const limits = ["What is true of people in general, such as that those who like one title like another: it may be true of you."];
    limits.unshift(...said.assumptions.map((text) => `It is assumed ${text}.`));
    limits.push(...said.outside.map(sentence));
    limits.push("A page that someone changed: the statement was checked when the page was made, and the page cannot check " +
        "itself. “dpmf privacy verify” checks a release.");
    $("limits").replaceChildren(...limits.map((text) => make("li", { text })));
    $("statement").textContent = said.text;
    $("about").textContent = [`${count(release.items)} titles`, plural(release.factors, "factor"),
        `release ${said.release_id.slice(0, 8)}`, `made with dpmf ${textAt(wasm.version())}`].join(" · ");
}
