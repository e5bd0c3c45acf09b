/*
 * The page at work begins here: search, stars, recommendations with their reasons, the map and the privacy statement.
 *
 * Everything it needs is in the page itself: the release, the titles and the statement in <script> blocks of data,
 * and the module (client_module.c) that computes with them. Ratings live in this script's memory; there is no code here
 * that sends them, and the page's policy pins this script by its hash. The build joins the files of this folder into one
 * function (pack_page.c); cmake/page.cmake has their order. Texts from the release reach the page as text nodes only, so that a
 * title can be anything.
 *
 * This file has what all others use: elements, what is read out, and giving up.
 */

const $ = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const dark = matchMedia("(prefers-color-scheme: dark)");

/* An element with properties (class, text, on..., attributes) and children. */
function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(properties)) {
        if (value === null || value === undefined || value === false) continue;
        if (key === "text") element.textContent = value;
        else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
}

const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

/* JSON, or undefined where it is none. */
function parsed(text) {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

/* Tells a screen reader, after a moment, so that only the last of several quick changes is read out. */
let sayTimer = 0;
function say(text, delay = 700) {
    clearTimeout(sayTimer);
    sayTimer = setTimeout(() => { $("status").textContent = text; }, delay);
}

/* The page cannot go on, and says why instead of being half there. */
function giveUp(problem) {
    console.error(problem);
    $("page").hidden = $("seal").hidden = $("bar").hidden = document.querySelector(".skip").hidden = true;
    for (const sheet of document.querySelectorAll("dialog[open]")) sheet.close();
    const trouble = $("trouble");
    trouble.replaceChildren(make("strong", { text: t("unusable") + " " }), problem.message ?? String(problem));
    trouble.hidden = false;
    if (!trouble.closest("main")) { /* it is what the page is about now, and where those who cannot see it are led */
        const main = make("main");
        trouble.replaceWith(main);
        main.append(trouble);
    }
}
