/*
 * The start: opens the release, fills the page, and shows it. The last file: everything else is there by then.
 */

const FACTORS_MAX = 512; /* the first star costs their cube, which must not be felt */

function openAll() {
    openRelease();
    ask("describe");
    const [items, factors, offset, min, max, hasDial, isOfEvents, like, tasteWeight] = answers(9);
    release = { items, factors, offset, min, max, hasDial: hasDial > 0, isOfEvents: isOfEvents > 0 };
    release.isPopularityAlone = release.isOfEvents && (factors === 0 || tasteWeight === 0);
    if (factors > FACTORS_MAX)
        throw new Error(t("troubleFactors", { n: factors, most: FACTORS_MAX }));
    scale = makeScale(min, max, release.isOfEvents, like);
    isAboutLikes = release.isOfEvents;
    document.body.classList.toggle("hearts-only", scale.hearts);
    readTitles();
    readFacts();
}

let pageName = ""; /* as whoever published the page called it */

/* A page that nobody gave a name has one in the reader's language. */
function showName() {
    document.title = $("name").textContent = pageName === TEXTS.en.pageName ? t("pageName") : pageName;
}

/* Everything that has words of its own, again in the language of now. */
function speakAgain(statement) {
    for (const rows of [ratedRows, laterRows, pickRows]) rows.clear();
    for (const list of ["rated", "later", "pick-list", "begin-grid"]) $(list).replaceChildren();
    tiles = [];
    showName();
    showPrivacy(statement);
    if (facts) fillFilter();
    chart.rename();
    $("notice").hidden = true;
    show();
}

function startParts(statement) {
    startSearch();
    startSheets();
    startBegin();
    startPicks();
    startFilter();
    startKeeping();
    startShare();
    startHistory();
    startLanguage(() => speakAgain(statement));
    recall();
    chart.start();
}

/* Of a page that dpmf serves: a worker that holds the page itself, so that it opens without a network. The policy of a single file
 * would not let it begin. */
function keepOffline() {
    navigator.serviceWorker?.register("worker.js").catch((problem) => console.info("The page will not open offline.", problem));
}

/* The release stands behind the script: the module is compiled while the browser still reads it. */
const isRead = () => new Promise((done) => {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", done, { once: true });
    else done();
});

let firstTime = NaN; /* when the first picture was there */

/* What the first picture does not need waits until it is painted; whoever searches sooner makes the index then. */
function afterPicture() {
    requestAnimationFrame(() => setTimeout(() => {
        firstTime = performance.now();
        setTimeout(() => { tellFacts(); indexTitles(); }, 50);
    }));
}

async function start() {
    setLanguage(preferredLanguage());
    pageName = document.title.trim() || "Recommendations";
    showName();
    await Promise.all([loadModule(), isRead()]);
    const opened = performance.now();
    readLook();
    openAll();
    fillTexts(); /* once more: the words for likes, where it is about them */
    const statement = readStatement();
    showPrivacy(statement);
    startParts(statement);
    $("page").hidden = $("seal").hidden = false;
    show();
    showShared();
    afterPicture();
    if (document.querySelector("link[rel=manifest]")) keepOffline();
    /* For scripts and tests: the page as a program. */
    window.dpmf = {
        release, titles, ratings, later, hidden, rate, forget, explain, importText, exportText, searchTitles, bringFiles, undo, keep,
        recommend: (n) => askList("recommend", n), predict: (item) => ask("predict", item),
        similar: (item, n) => askList("similar", item, n), setRating, show, chart, setLanguage, TEXTS,
        get picks() { return picks; }, get tiles() { return tiles.map((tile) => tile.item); },
        get answerTime() { return answerTime; }, get indexTime() { return indexTime; }, get frameTime() { return frameTime; },
        speak: (tag) => { setLanguage(tag); speakAgain(statement); },
        loadTime: performance.now() - opened, get firstTime() { return firstTime; },
    };
}

start().catch(giveUp);
