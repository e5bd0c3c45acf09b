/*
 * The buttons that keep, move, undo and forget what one said.
 */

function forget() {
    doing(() => {
        for (const item of [...ratings.keys()]) { ratings.delete(item); ask("exclude", item, 0); }
        for (const item of [...hidden]) hide(item, false);
        later.clear();
        ask("forget");
    });
    kept = candidate = alike = null;
    shown = PAGE;
    isBeginOpen = true;
    for (const tick of Object.keys(MEMORIES)) $(tick).checked = false;
    show();
    notice(t("forgotten"));
    toast(t("forgotten"));
}

function startKeeping() {
    const sure = (on) => { $("sure").hidden = !on; (on ? $("sure-yes") : $("forget")).focus(); };
    for (const [tick, words] of [["remember", "remembered"], ["remember-tab", "rememberedTab"]])
        $(tick).addEventListener("change", () => {
            remember();
            if ($(tick).checked) notice(t(words));
            else if (!Object.keys(MEMORIES).some((other) => $(other).checked)) notice(t("notRemembered"));
        });
    $("export").addEventListener("click", saveFile);
    for (const button of ["import", "bring"]) $(button).addEventListener("click", () => $("file").click());
    $("file").addEventListener("change", loadFile);
    $("forget").addEventListener("click", () => sure(true));
    $("sure-no").addEventListener("click", () => sure(false));
    $("sure-yes").addEventListener("click", () => { forget(); sure(false); });
    $("undo").addEventListener("click", undo);
    $("toast-undo").addEventListener("click", undo);
    $("print").addEventListener("click", () => print());
    $("older").addEventListener("click", () => { older += 50; showRated(); });
    addEventListener("keydown", (event) => { /* as everywhere, but not from within a text that is being written */
        if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.target.matches("input[type=text]")) return;
        event.preventDefault();
        undo();
    });
    guardLeaving();
}
