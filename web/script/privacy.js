/*
 * The privacy statement, read, checked against the release, and put in plain words: what was published, what stays here, how much
 * it could give away, who made it, and how to check. The whole of it stands behind that, as dpmf wrote it.
 */

/* Figures are rounded against the promise, as in the statement itself. */
function atMost(value, decimals) {
    const unit = 10 ** decimals;
    const format = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return (Math.ceil(value * (1 + 1e-12) * unit) / unit).toLocaleString(language, format);
}

/* The normal distribution function, by Simpson's rule: good to twelve digits between 0 and 8. */
function phi(x) {
    const STEPS = 400, width = x / STEPS, density = (z) => Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
    let sum = density(0) + density(x);
    for (let i = 1; i < STEPS; i++) sum += density(i * width) * (i % 2 ? 4 : 2);
    return x > 8 ? 1 : 0.5 + sum * width / 3;
}

// ---- reading it -----------------------------------------------------------------------------------------------------

/* What this page reads of a statement, and how each must be; docs/formats/release.md has them all. */
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const isYesOrNo = (value) => typeof value === "boolean";
const isTexts = (value) => Array.isArray(value) && value.every((text) => typeof text === "string");
const STATEMENT = {
    format: (value) => [1, 2, 3].includes(value),
    release_id: (value) => typeof value === "string" && /^[0-9a-f]{32}$/.test(value),
    kind: (value) => typeof value === "string",
    mechanism: (value) => typeof value === "string",
    epsilon: (value) => isNumber(value) && value > 0,
    delta: (value) => isNumber(value) && value >= 0 && value < 1,
    mu: (value) => value === null || isNumber(value) && value > 0,
    items: isNumber,
    insecure: isYesOrNo,
    research: isYesOrNo,
    catalogue_from_ratings: isYesOrNo,
    outside: isTexts,
};

/* The one field that depends on what the release is of: a range of ratings, or the goal of one of events. */
const isRange = (value) => isNumber(value?.min) && isNumber(value?.max);

function wrongField(said) {
    const wrong = Object.keys(STATEMENT).find((name) => !Object.hasOwn(said, name) || !STATEMENT[name](said[name]));
    if (wrong) return wrong;
    if (release.isOfEvents) return said.goal === "ranking" ? undefined : "goal";
    return isRange(said.range) ? undefined : "range";
}

/* Whether it is sound was checked when the page was made. Here it must be what can be shown, of this very release. */
function readStatement() {
    const block = parsed(dataOf("dpmf-statement", "Statement")), own = parsed(textAt(wasm.statement()));
    const again = " " + t("troubleAgain");
    if (typeof own !== "object" || own === null || Array.isArray(own))
        throw new Error(t("troubleNoStatement") + again);
    const wrong = wrongField(own), isOther = !release.isOfEvents && (own.range?.min !== release.min || own.range?.max !== release.max);
    if (wrong) throw new Error(t("troubleStatementField", { name: wrong }) + again);
    /* Items that were added to a release by public features are counted apart. */
    if (own.items + (own.extension?.items ?? 0) !== release.items || isOther)
        throw new Error(t("troubleStatementOther") + again);
    if (typeof block?.text !== "string" || JSON.stringify(block.statement) !== JSON.stringify(own))
        throw new Error(t("troubleStatementNot") + again);
    const { text, kind, assumptions } = block;
    if (!isTexts(assumptions)) throw new Error(t("troubleStatementField", { name: "assumptions" }) + again);
    return { ...own, text, kind, assumptions };
}

// ---- showing it -----------------------------------------------------------------------------------------------------

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".");

/* What a person should know before the figures; nothing where they are proven. */
const STAMPS = { "proven": "", "conditional": "stampConditional", "partial": "stampPartial", "not private": "stampNot" };

/* The kind is what dpmf found when it made the page. The worst of it and of what the statement says of itself counts, and a kind
 * that is not known is no promise. */
function stampOf({ kind, insecure, research }) {
    return insecure || research || !Object.hasOwn(STAMPS, kind) ? STAMPS["not private"] : STAMPS[kind];
}

/* How often someone guesses right whether a person took part, of 100 times, at most: Phi(mu/2), or what epsilon alone allows. */
const rightGuesses = ({ mu, epsilon }) => 100 * (mu > 0 ? phi(mu / 2) : 1 / (1 + Math.exp(-epsilon)));

/* A hundred dots, so many of them filled. */
function guessPicture(right) {
    const n = Math.min(100, Math.ceil(right - 1e-9)), dots = [];
    for (let i = 0; i < 100; i++) dots.push(make("i", { class: i >= n ? "" : i < 50 ? "on" : "on more" }));
    return make("div", { class: "dots", role: "img", "aria-label": t("guessPicture", { n }) }, ...dots);
}

function showGuesses(said, isProven) {
    const { epsilon, delta } = said, right = rightGuesses(said), n = Math.min(100, Math.ceil(right - 1e-9));
    const odds = epsilon > 20 ? null : atMost(Math.exp(epsilon), epsilon < 3 ? 2 : 0);
    const oneIn = delta > 0 ? count(Math.floor(1 / delta * (1 + 1e-12))) : null;
    $("guess-text").textContent = t(isProven ? "guessProven" : "guessAssumed");
    $("guess-figure").textContent = t("guessFigure", { n });
    $("guess-picture").replaceChildren(guessPicture(right));
    const exact = t("guessExact", { value: right >= 99.9 ? "100" : atMost(right, 1), epsilon: decimal(epsilon, 12, 0) });
    $("guess-exact").textContent = exact + (oneIn ? " " + t("guessDelta", { delta: decimal(delta, 12, 0), n: oneIn }) : "") + ".";
    const plus = oneIn ? t("oddsPlus", { n: oneIn }) : "";
    $("odds").textContent = (odds ? t(isProven ? "oddsText" : "oddsTextAssumed", { odds, plus }) : t("oddsNone")) +
        (right >= 90 ? " " + t("weak") : "");
}

/* What the publisher declares (docs/formats/about.md), which nobody has verified. */
const DECLARED = ["title", "controller", "contact", "data", "period", "intended_use", "region", "date", "review", "expiry", "erasure", "sources"];

function showMaker({ about }) {
    const fields = DECLARED.filter((name) => typeof about?.[name] === "string" && about[name].trim());
    $("maker-lead").textContent = t(fields.length ? "makerLead" : "makerNone");
    $("maker").hidden = fields.length === 0;
    $("maker").replaceChildren(...fields.flatMap((name) => [make("dt", { text: t("maker_" + name) }),
        make("dd", { text: about[name], dir: "auto" })]));
}

/* What every statement leaves out is in the reader's language; what only this one does, as it was published. */
const OUTSIDE = { "a person's own vector and recommendations, made at home": "limitOwn", "other releases of the same people": "limitOther",
    "the curator, who holds the ratings": "limitCurator", "the curator, who holds the events": "limitCurator",
    "how long the run took, and other traces of it on the machine": "limitTraces" };

const outsideLine = (text) => Object.hasOwn(OUTSIDE, text) ? make("li", { text: t(OUTSIDE[text]) }) :
    make("li", { text: sentence(text), lang: "en", dir: "ltr" });

function showPrivacy(said) {
    const stamp = stampOf(said);
    $("not-private").hidden = !stamp;
    $("not-private").textContent = stamp ? t(stamp) : "";
    $("published").textContent = t(said.mechanism === "posterior" ? "publishedDraw" : "published", { n: release.items }) +
        (stamp ? "" : " " + t("publishedBound"));
    showGuesses(said, !stamp);
    showMaker(said);
    $("limits").replaceChildren(...said.assumptions.map((text) => make("li", { text: t("limitAssumed", { text }) })),
        make("li", { text: t("limitPeople") }), ...said.outside.map(outsideLine),
        make("li", { text: t("limitPage") }));
    $("statement").textContent = said.text;
    const holds = release.isPopularityAlone ? t("aboutPopularity") : t("aboutFactors", { n: release.factors });
    $("about").textContent = [t("aboutTitles", { n: release.items }), holds,
        t("aboutRelease", { id: said.release_id.slice(0, 8) }), t("aboutMade", { version: textAt(wasm.version()) })].join(" · ");
}
