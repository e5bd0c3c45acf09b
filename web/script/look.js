/*
 * What the publisher gave the page to look like: a colour, a logo, covers. All of it is data in the page; what is not of the form
 * that dpmf writes is ignored, so that nothing here can be more than a colour or a picture.
 */

const look = { covers: {} };

const isColour = (text) => typeof text === "string" && /^#[0-9a-f]{6}$/.test(text);
const isPicture = (text) => typeof text === "string" && /^data:image\/(png|jpeg|webp|gif|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/.test(text);

const rgb = (colour) => colour.match(/[0-9a-f]{2}/g).map((pair) => parseInt(pair, 16));
const hex = (parts) => "#" + parts.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");

/* The relative luminance of the accessibility guidelines. */
const luminance = (colour) => rgb(colour).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);

/* The colour itself where it can be read on that ground; else mixed with white or black until it can. */
function readable(colour, ground) {
    const end = luminance(ground) > 0.4 ? 0 : 255;
    for (let mix = 0; mix <= 1; mix += 0.05) {
        const tried = hex(rgb(colour).map((c) => c + (end - c) * mix));
        if (contrast(tried, ground) >= 4.6) return tried;
    }
    return hex([end, end, end]);
}

function paintLook() {
    if (!look.accent) return;
    const style = document.documentElement.style, isDark = dark.matches, accent = readable(look.accent, isDark ? "#23292e" : "#f3efe6");
    style.setProperty("--accent", accent);
    style.setProperty("--accent-ink", contrast(accent, "#ffffff") >= contrast(accent, "#0d1f1d") ? "#ffffff" : "#0d1f1d");
    style.setProperty("--halo", accent + "2e");
}

function readLook() {
    const block = $("dpmf-look"), read = block ? parsed(block.textContent) : null;
    block?.remove();
    if (isColour(read?.accent)) look.accent = read.accent;
    if (isPicture(read?.logo)) {
        $("logo").src = read.logo;
        $("logo").hidden = false;
    }
    for (const [id, picture] of Object.entries(read?.covers ?? {})) if (isPicture(picture)) look.covers[id] = picture;
    paintLook();
    dark.addEventListener("change", paintLook);
}
