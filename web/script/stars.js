/*
 * Stars: a group of radio buttons, so that keyboards and screen readers know what to do; or a slider where the scale is long;
 * or a heart, for releases of events.
 */

let groups = 0;

function makeStars(item, place) {
    const box = scale.hearts ? heartBox(place) : scale.stars ? starBox(place) : sliderBox(place);
    bindStars(box, item);
    return box;
}

/* Makes the stars those of another title: rows of a list are used again. */
function bindStars(box, item) {
    box.item = item;
    const text = t(scale.hearts ? "heartLabel" : "starsLabel", { title: titles[item] });
    if (scale.hearts) box.heart.setAttribute("aria-label", text);
    else box.label.textContent = text;
    box.rating = undefined;
    setStars(box);
}

function heartBox(place) {
    const box = make("div", { class: "stars hearts" });
    box.heart = make("button", {
        type: "button", class: "heart", "aria-pressed": "false",
        onclick: () => rate(box.item, ratings.has(box.item) ? null : 1, place),
    }, make("span", { class: "glyph", "aria-hidden": "true" }));
    box.append(box.heart);
    return box;
}

function starBox(place) {
    const name = `stars-${++groups}`, size = scale.step < 1 ? " halves" : scale.stars.length > 5 ? " many" : "";
    const box = make("fieldset", { class: "stars" + size });
    const words = (value) => t("ofMax", { value: scale.show(value), max: scale.max });
    box.label = make("legend", { class: "unseen" });
    box.stars = scale.stars.map((value) => make("label", { class: "star", title: words(value) },
        make("input", { type: "radio", name, value, "aria-label": words(value) }), make("span", { class: "glyph" })));
    box.value = make("span", { class: "value", "aria-hidden": "true" });
    box.append(box.label, ...box.stars, box.value);
    /* A click on the star that is already given says nothing new, and no event comes. */
    box.addEventListener("change", (event) => rate(box.item, Number(event.target.value), place));
    box.addEventListener("keydown", (event) => {
        const star = box.stars.find(({ firstChild: radio }) => radio.value === event.key);
        if (!star || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        star.firstChild.focus();
        star.firstChild.click();
    });
    return box;
}

function sliderBox(place) {
    const { min, max, step } = scale, id = `slider-${++groups}`, box = make("div", { class: "stars slider" });
    box.label = make("label", { class: "unseen", for: id });
    box.range = make("input", { type: "range", id, min, max, step });
    box.value = make("span", { class: "value", "aria-hidden": "true" });
    box.append(box.label, box.range, box.value);
    const give = () => rate(box.item, Number(box.range.value), place);
    box.range.addEventListener("input", give);
    /* Whoever means the value at which it stands before it was ever moved says so by touching it. */
    box.range.addEventListener("pointerup", () => { if (box.rating === null) give(); });
    box.range.addEventListener("keyup", (event) => {
        if (box.rating === null && !["Tab", "Shift", "Escape"].includes(event.key)) give();
    });
    return box;
}

/* Shows the rating that there is by now. */
function setStars(box) {
    const value = ratings.get(box.item) ?? null, given = value !== null;
    if (box.rating === value) return;
    box.rating = value;
    box.classList.toggle("given", given);
    if (scale.hearts) return box.heart.setAttribute("aria-pressed", String(given));
    box.value.textContent = given ? scale.show(value) : "";
    if (!scale.stars) {
        box.range.value = given ? value : (scale.min + scale.max) / 2;
        box.range.setAttribute("aria-valuetext", given ? scale.show(value) : t("notRated"));
        return;
    }
    /* Ratings from elsewhere may lie between the stars of this scale: half a star then, and the number in words. */
    const isBetween = given && !scale.stars.some((star) => Math.abs(value - star) < 1e-6);
    box.label.textContent = t("starsLabel", { title: titles[box.item] }) +
        (isBetween ? ` (${t("ofMax", { value: scale.show(value), max: scale.max })})` : "");
    const quarter = scale.step < 1 ? scale.step / 2 : scale.step / 4;
    box.stars.forEach((star, i) => {
        const missing = given ? scale.stars[i] - value : Infinity;
        star.classList.toggle("on", missing < quarter + 1e-9);
        star.classList.toggle("half", missing >= quarter + 1e-9 && missing < 3 * quarter && scale.step >= 1);
        star.firstChild.checked = given && Math.abs(value - scale.stars[i]) < 1e-6;
    });
}
