/*
 * Lists for others: as a file, or in a link behind its "#", which no browser sends to a server. Nothing is sent from here; and
 * what comes in such a link is shown first, and taken only when the person says so.
 */

const SHARE_MAX = 200; /* titles in a link: more of them would make an address that mail programs cut */

const SHARE_LISTS = {
    later: () => [...later],
    mine: () => scale.hearts ? [...ratings.keys()] : [...ratings].sort((a, b) => b[1] - a[1])
        .filter(([, value]) => value >= (scale.min + scale.max) / 2).map(([item]) => item),
    picks: () => picks.map((pick) => pick.item).filter((item) => !ratings.has(item) && !hidden.has(item)),
};

/* The address of this page with the ids of a list behind it. */
const linkOf = (items) => document.URL.split("#")[0] + "#list=" + items.slice(0, SHARE_MAX).map((item) => encodeURIComponent(idOf(item))).join(",");

function fillShare() {
    const items = SHARE_LISTS[$("share-what").value]();
    $("share-link").value = items.length ? linkOf(items) : "";
    $("share-copy").disabled = $("share-file").disabled = items.length === 0;
    $("share-note").textContent = items.length === 0 ? t("shareNone") : document.URL.startsWith("file:") ? t("shareLocal") : "";
    $("share-titles").replaceChildren(...items.slice(0, SHARE_MAX).map((item) => make("li", { text: titles[item], dir: "auto" })));
}

async function copyLink() {
    $("share-link").select();
    try {
        await navigator.clipboard.writeText($("share-link").value);
        $("share-note").textContent = t("shareCopied");
    } catch { /* a browser that gives pages no clipboard */
        $("share-note").textContent = t("shareByHand");
    }
    say($("share-note").textContent, 0);
}

// ---- a list that came in the link -----------------------------------------------------------------------------------

/* The ids behind the address, at most so many; whatever else stands there is none. */
function idsBehind(address) {
    const list = /#list=([^#]*)$/.exec(address)?.[1] ?? "";
    return list.split(",").slice(0, SHARE_MAX).flatMap((part) => {
        try {
            return part ? [decodeURIComponent(part)] : [];
        } catch { /* no text in UTF-8 */
            return [];
        }
    });
}

function showShared() {
    const ids = idsBehind(document.URL), items = [...new Set(ids.map(findId))].filter((item) => item >= 0);
    if (ids.length === 0) return;
    history.replaceState(null, "", document.URL.split("#")[0]); /* a reload need not ask again */
    const unknown = ids.filter((id) => findId(id) < 0).length;
    $("shared-lead").textContent = t("sharedLead", { n: items.length }) + (unknown ? " " + t("sharedUnknown", { n: unknown }) : "");
    $("shared-list").replaceChildren(...items.map((item) => make("li", { text: titles[item], dir: "auto" })));
    $("shared-take").hidden = items.length === 0;
    $("shared-take").onclick = () => {
        doing(() => { for (const item of items) later.add(item); });
        $("shared").close();
        show();
        toast(t("sharedTaken", { n: items.length }));
    };
    $("shared").showModal();
}

function startShare() {
    $("share").addEventListener("click", () => {
        $("share-what").value = later.size ? "later" : "picks";
        fillShare();
        $("share-sheet").showModal();
    });
    $("share-what").addEventListener("change", fillShare);
    $("share-copy").addEventListener("click", copyLink);
    $("share-file").addEventListener("click", () => {
        const rows = SHARE_LISTS[$("share-what").value]().map((item) => `${quoted(idOf(item))},,${quoted(asText(titles[item]))},later`);
        giveFile("my-list.csv", ["item,rating,title,list", ...rows, ""].join("\n"));
    });
    addEventListener("hashchange", showShared);
}
