/*
 * The page's words, in the reader's language. The table is in ../texts/, a file a language, each with the same names; nothing
 * else of the script has words of its own for people but what comes from the module and from the release. Elements of the page
 * name their text: data-t for what stands in them, data-t-title and the like for an attribute.
 */

const TEXTS = {};
const RIGHT_TO_LEFT = new Set(["ar", "fa", "he", "ur", "yi"]);

let language = "en";
let pluralRules = new Intl.PluralRules("en");
let isAboutLikes = false; /* a release of events: where there are words of their own for it, they are used */

const count = (n) => n.toLocaleString(language);

/* A number with so many digits after the point or comma of the language; with `least` of them, where zeros at its end say nothing. */
const decimalForms = new Map();
function decimal(x, digits, least = digits) {
    const key = `${language} ${digits} ${least}`;
    if (!decimalForms.has(key))
        decimalForms.set(key, new Intl.NumberFormat(language, { minimumFractionDigits: least, maximumFractionDigits: digits }));
    return decimalForms.get(key).format(+x.toFixed(digits));
}

/* The text of that name, in its form for the number n. */
function textOf(name, n) {
    const own = TEXTS[language], found = (isAboutLikes ? own[name + "Hearts"] : undefined) ?? own[name] ?? TEXTS.en[name];
    if (found === undefined) throw new Error(`There is no text called “${name}”.`);
    if (!Array.isArray(found)) return found;
    return pluralRules.select(n) === "one" ? found[0] : found.at(-1);
}

/* A text with its values put in. A number n is written as the language does. */
function t(name, values = {}) {
    return textOf(name, values.n).replace(/\{(\w+)\}/g, (mark, key) =>
        !Object.hasOwn(values, key) ? mark : key === "n" && typeof values.n === "number" ? count(values.n) : String(values[key]));
}

/* The same where values may be elements: a list of texts and elements. */
function tParts(name, values) {
    return textOf(name, values.n).split(/(\{\w+\})/).filter((part) => part !== "").map((part) => {
        const key = /^\{(\w+)\}$/.exec(part)?.[1];
        return key !== undefined && Object.hasOwn(values, key) ? values[key] instanceof Node ? values[key] : String(values[key]) : part;
    });
}

/* Puts the words of the language into everything that names its text. */
function fillTexts(root = document) {
    for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
    for (const attribute of ["aria-label", "placeholder", "title"])
        for (const element of root.querySelectorAll(`[data-t-${attribute}]`))
            element.setAttribute(attribute, t(element.getAttribute(`data-t-${attribute}`)));
}

/* The first of the reader's languages that the table has. */
function preferredLanguage() {
    const wanted = [...(navigator.languages ?? []), navigator.language ?? ""];
    return wanted.map((tag) => tag.toLowerCase().split("-")[0]).find((tag) => Object.hasOwn(TEXTS, tag)) ?? "en";
}

function setLanguage(tag) {
    language = Object.hasOwn(TEXTS, tag) ? tag : "en";
    pluralRules = new Intl.PluralRules(language);
    document.documentElement.lang = language;
    document.documentElement.dir = RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr";
    fillTexts();
}

/* The menu of languages, each by its own name. */
function startLanguage(whenChanged) {
    const menu = $("language");
    menu.replaceChildren(...Object.keys(TEXTS).map((tag) => make("option", { value: tag, lang: tag, text: TEXTS[tag].language })));
    menu.value = language;
    menu.addEventListener("change", () => {
        setLanguage(menu.value);
        whenChanged();
    });
}
