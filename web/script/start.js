/*
 * The start: opens the release, fills the page, and shows it. The last file: everything else is there by then.
 */

const FACTORS_MAX = 512; /* the first star costs their cube, which must not be felt */

async function start() {
    const begun = performance.now();
    document.title = document.title.trim() || "Recommendations";
    $("name").textContent = document.title;
    await loadModule();
    openRelease();
    ask("describe");
    const [items, factors, offset, min, max, hasDial] = answers(6);
    release = { items, factors, offset, min, max, hasDial: hasDial > 0 };
    if (factors > FACTORS_MAX)
        throw new Error(`Its release has ${count(factors)} factors and is too large for a page, which takes ${FACTORS_MAX} ` +
            "at most. Use “dpmf recommend” with it.");
    scale = makeScale(min, max);
    readTitles();
    showPrivacy(readStatement());
    startSearch();
    startLists();
    startKeeping();
    nameMemory();
    recall();
    chart.start();
    $("page").hidden = $("seal").hidden = false;
    show();
    setTimeout(foldSome, 50);
    /* For scripts and tests: the page as a program. */
    window.dpmf = {
        release, titles, ratings, rate, forget, explain, importText, exportText, searchTitles,
        recommend: (n) => askList("recommend", n), predict: (item) => ask("predict", item),
        similar: (item, n) => askList("similar", item, n), setRating, show,
        get picks() { return picks; }, get answerTime() { return answerTime; }, get frameTime() { return frameTime; },
        loadTime: performance.now() - begun,
    };
}

start().catch(giveUp);
