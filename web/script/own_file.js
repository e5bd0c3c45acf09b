/*
 * One's ratings as a file: saving, and loading what this page or other programs wrote. importText() is all that the rest calls.
 */

const quoted = (text) => /[",\r\n]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text;

/* A spreadsheet takes text that begins so for a formula, and an apostrophe before it for text. Loading goes by the id. */
const asText = (text) => /^\s*[=+\-@＝＋－＠]/.test(text) ? "'" + text : text;

/* A heart in a file is a rating that every reader of the release takes for a like. */
const written = (value) => scale.hearts && Number.isFinite(scale.like) ? scale.like : value;

/* Ratings; and below them, where there are any, what is kept for later and what is hidden, with an empty rating and the name of the
 * list in a fourth column. */
function exportText() {
    const line = (item, value, ...more) => [quoted(idOf(item)), value, quoted(asText(titles[item])), ...more].join(",");
    const hasLists = later.size + hidden.size > 0, end = hasLists ? [""] : [];
    const rows = [...ratings].map(([item, value]) => line(item, written(value), ...end));
    for (const item of later) rows.push(line(item, "", "later"));
    for (const item of hidden) rows.push(line(item, "", "hidden"));
    return [hasLists ? "item,rating,title,list" : "item,rating,title", ...rows, ""].join("\n");
}

/* Gives someone a file of this page's making. */
function giveFile(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function saveFile() {
    const file = scale.hearts ? "my-likes.csv" : "my-ratings.csv";
    giveFile(file, exportText());
    isSaved = true;
    showRisk();
    notice(t("saved", { n: ratings.size + later.size + hidden.size, file }));
}

/* Rows of fields with the line each begins in, at most so many. */
function parseTable(text, part, most = Infinity) {
    const rows = [];
    let fields = [], field = "", isQuoted = false, line = 1, begun = 1;
    const endRow = () => {
        fields.push(field);
        if (fields.length > 1 || field.trim()) rows.push({ line: begun, fields });
        fields = [];
        field = "";
    };
    for (let i = 0; i < text.length && rows.length < most; i++) {
        const c = text[i];
        if (c === "\n") line++;
        if (isQuoted) {
            if (c !== '"') field += c;
            else if (text[i + 1] === '"') { field += c; i++; }
            else isQuoted = false;
        } else if (c === '"' && field.trim() === "") { isQuoted = true; field = ""; }
        else if (text.startsWith(part, i)) { fields.push(field); field = ""; i += part.length - 1; }
        else if (c === "\n") { endRow(); begun = line; }
        else if (c !== "\r" || text[i + 1] !== "\n") field += c;
    }
    if (rows.length < most) endRow();
    return rows;
}

const readNumber = (text) => /^[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d{1,3})?$/i.test(text) ? Number(text.replace(",", ".")) : NaN;

/* The columns that files of ratings have, and what they are called; capitals and what parts words do not matter. */
const COLUMNS = {
    item: ["item", "itemid", "movieid", "id"],
    rating: ["rating", "score", "stars"],
    title: ["title", "name"],
    user: ["user", "userid"],
    list: ["list"],
};

/* Where the columns are, by the names in a first row; null where it has none. */
function columnsOf(fields) {
    const names = fields.map((name) => name.trim().toLowerCase().replace(/[\s_-]/g, "")), at = {};
    for (const [column, called] of Object.entries(COLUMNS)) at[column] = names.findIndex((name) => called.includes(name));
    const isNamed = at.item >= 0 || at.title >= 0 || at.user >= 0;
    return isNamed && (at.rating >= 0 || scale.hearts) ? at : null;
}

/* What parts the fields: the first that makes sense of the first row, read as a row is, quotes and all. */
function partOf(text) {
    const rowBy = (part) => parseTable(text, part, 1)[0]?.fields ?? [];
    return ["\t", "::", ";", ","].find((part) => {
        const fields = rowBy(part);
        return fields.length > 1 && (columnsOf(fields) || !Number.isNaN(readNumber(fields[1].trim())));
    }) ?? ["\t", "::", ";", ","].find((part) => rowBy(part).length > 1) ?? ",";
}

/* Titles as they are compared; those without letters and digits as they are, lest they all be the same. */
function titleKey(text) {
    const key = fold(text);
    return key === " " ? text.trim().replace(/^'(?=[=+\-@＝＋－＠])/, "") : key;
}

/* An item by its id, or else by a title that only one has. A number is an id and nothing else: one that this catalogue does
 * not know is no title that happens to be a year. @return the item, or words about why there is none */
function itemOf(text, byTitle, isTitle) {
    const item = isTitle ? -1 : findId(text);
    if (item >= 0) return item;
    const same = isTitle || !/^\d+$/.test(text) ? byTitle.get(titleKey(text)) : undefined;
    if (!same) return t("notHere");
    return same.length === 1 ? same[0] : t("severalHere", { n: same.length });
}

/* Whether a column of this name could be of people. The reader of histories knows, and refuses a table with two of them. */
function couldNamePeople(name) {
    const table = new TextEncoder().encode(`title,rating,${quoted(name.trim())}\nA,1,x\nB,1,y\n`);
    ask("diary_new");
    try {
        withBytes(new TextEncoder().encode("\0"), (label) => withBytes(table, (address, n) => ask("diary_add", address, n, label)));
    } catch {
        return true;
    }
    return false;
}

/* How many people a table is about: the most values that a column has which could name them. */
function countPeople(rows, columns) {
    const known = new Set(Object.entries(columns).filter(([column]) => column !== "user").map(([, at]) => at));
    const values = (at) => new Set(rows.slice(1).map(({ fields }) => fields[at]?.trim() ?? "")).size;
    return Math.max(1, ...rows[0].fields.map((name, at) => !known.has(at) && values(at) > 1 && couldNamePeople(name) ? values(at) : 1));
}

/* Why a table is not one person's ratings of items; or nothing. */
function refuseTable(rows, columns) {
    const first = rows[0]?.fields ?? [];
    if (!columns && first.length > 3 && first.slice(0, 4).every((field) => !Number.isNaN(readNumber(field.trim()))))
        return t("fileFour");
    if (!columns) return "";
    const people = countPeople(rows, columns);
    if (people > 1) return t("filePeople", { n: people });
    if (columns.item >= 0 || columns.title >= 0) return "";
    return t("fileNoItems");
}

/* What a row says of its item: the rating; or "later" or "hidden", the list that it is on. Of events, whatever is named is liked,
 * unless its rating is below what counts as a like: it is then not to be recommended, and no more. */
function saidOf(number, list) {
    if (["later", "hidden"].includes(list) && number === "") return list;
    const value = readNumber(number);
    if (!scale.hearts) return value;
    if (number === "") return 1;
    if (Number.isFinite(scale.like)) return value >= scale.like ? 1 : Number.isNaN(value) ? NaN : "hidden";
    return value > 0 ? 1 : NaN;
}

/* Ratings and lists by item, and a sentence about each line that is neither. */
function readRows(rows, columns) {
    const bad = [], byTitle = new Map(), given = new Map();
    titles.forEach((title, item) => {
        const key = titleKey(title);
        if (byTitle.has(key)) byTitle.get(key).push(item);
        else byTitle.set(key, [item]);
    });
    for (const { line, fields } of rows) {
        const [id, number, title, list] = ["item", "rating", "title", "list"].map((column) => fields[columns[column]]?.trim() ?? "");
        const value = saidOf(number, list.toLowerCase());
        let item = id ? itemOf(id, byTitle, false) : t("noItem");
        if (typeof item === "string" && title) {
            const other = itemOf(title, byTitle, true);
            if (typeof other === "number" || !id) item = other;
        }
        if (typeof item === "string") bad.push(t("lineItem", { line, text: (id || title).slice(0, 60), reason: item }));
        else if (typeof value === "string" || isOnScale(value)) given.set(item, value);
        else bad.push(t("lineRating", { line, text: number.slice(0, 20), min: scale.min, max: scale.max }));
    }
    return { given, bad };
}

function takeRead(given) {
    for (const [item, value] of given)
        if (value === "later") later.add(item);
        else if (value === "hidden") hide(item);
        else setRating(item, value);
}

function importText(text) {
    const plain = text.replace(/^\uFEFF/, ""), rows = parseTable(plain, partOf(plain));
    const columns = rows.length ? columnsOf(rows[0].fields) : null, refusal = refuseTable(rows, columns);
    if (refusal) {
        notice(refusal);
        return { loaded: 0, bad: [refusal] };
    }
    const { given, bad } = readRows(columns ? rows.slice(1) : rows, columns ?? { item: 0, rating: 1, title: 2 });
    doing(() => takeRead(given));
    kept = candidate = null;
    show();
    const SHOWN = 5, details = bad.slice(0, SHOWN), n = given.size;
    if (bad.length > SHOWN) details.push(t("fileMoreLines", { n: bad.length - SHOWN }));
    notice(rows.length === 0 ? t("fileEmpty") : n === 0 ? t("fileNone") :
        bad.length ? t("fileLoadedBut", { n, bad: t("fileLines", { n: bad.length }) }) : t("fileLoaded", { n }), details);
    return { loaded: n, bad };
}

async function loadFile() {
    const files = [...$("file").files];
    if (files.length === 0) return;
    const read = await Promise.all(files.map(async (file) => ({ name: file.name, size: file.size, bytes: new Uint8Array(await file.arrayBuffer()) })));
    $("file").value = ""; /* the same file may be chosen again */
    if (read.some((file) => file.size > 200e6)) notice(t("fileTooLarge"));
    else bringFiles(read);
    if (!$("history").open) $("notice").scrollIntoView({ block: "nearest" }); /* the button may be far from it */
}

/* Files of other services are matched by their titles, and shown first; what this page wrote is taken at once. */
function bringFiles(files) {
    try {
        const isForeign = (file) => !["", "dpmf"].includes(serviceOf(file.bytes));
        const foreign = files.filter(isForeign);
        for (const file of files.filter((file) => !isForeign(file)))
            importText(new TextDecoder("utf-8", { fatal: true }).decode(file.bytes));
        if (foreign.length) openHistory(foreign);
    } catch (problem) {
        const SEVERAL = -412; /* DPMF_ERR_INPUT_COUNT */
        notice(problem instanceof TypeError ? t("fileNotText") : problem.code === SEVERAL ? t("historyPeople") :
            t("fileUnread", { reason: problem.message }));
    }
}
