/*
 * The buttons that keep, move and forget one's ratings.
 */

function forget() {
    for (const item of [...ratings.keys()]) { ratings.delete(item); ask("exclude", item, 0); }
    for (const item of [...hidden]) hide(item, false);
    ask("forget");
    kept = candidate = null;
    shown = PAGE;
    $("remember").checked = false;
    show();
    notice("Everything is forgotten.");
}

function startKeeping() {
    const sure = (on) => { $("sure").hidden = !on; (on ? $("sure-yes") : $("forget")).focus(); };
    $("remember").addEventListener("change", () => {
        remember();
        if ($("remember").checked) notice("Your ratings are kept in this browser from now on. Whoever uses it can see them.");
        else notice("Your ratings are no longer kept in this browser.");
    });
    $("export").addEventListener("click", saveFile);
    $("import").addEventListener("click", () => $("file").click());
    $("file").addEventListener("change", loadFile);
    $("forget").addEventListener("click", () => sure(true));
    $("sure-no").addEventListener("click", () => sure(false));
    $("sure-yes").addEventListener("click", () => { forget(); sure(false); });
}
