/*
 * How the map draws: dots, words, and where words find room.
 */

function side([x, y]) {
    const across = x < -0.25 ? "left" : x > 0.25 ? "right" : "", up = y > 0.25 ? "upper" : y < -0.25 ? "lower" : "";
    if (across) return `at the ${up} ${across}`.replace("  ", " ");
    return up ? `at the ${up === "upper" ? "top" : "bottom"}` : "in the middle";
}

function rgb(colour) {
    const digits = /^#(..)(..)(..)$/.exec(colour);
    return digits ? digits.slice(1).map((pair) => parseInt(pair, 16)) : [128, 128, 128];
}

/* One dot with a soft edge, laid over what is there. Thousands of them take milliseconds, of arc() tens of them. */
function blot({ data, width, height }, x, y, radius, ink, strength) {
    const left = Math.max(0, Math.floor(x - radius)), right = Math.min(width - 1, Math.ceil(x + radius));
    const top = Math.max(0, Math.floor(y - radius)), bottom = Math.min(height - 1, Math.ceil(y + radius));
    for (let py = top; py <= bottom; py++)
        for (let px = left; px <= right; px++) {
            const cover = strength * Math.min(1, radius + 0.5 - Math.sqrt((px + 0.5 - x) ** 2 + (py + 0.5 - y) ** 2));
            if (cover <= 0) continue;
            const at = 4 * (py * width + px), below = data[at + 3] / 255 * (1 - cover), alpha = cover + below;
            for (let c = 0; c < 3; c++) data[at + c] = (ink[c] * cover + data[at + c] * below) / alpha;
            data[at + 3] = 255 * alpha;
        }
}

function write(ink, text, x, y, face, colour) {
    ink.lineWidth = 4;
    ink.lineJoin = "round";
    ink.strokeStyle = face;
    ink.strokeText(text, x, y);
    ink.fillStyle = colour;
    ink.fillText(text, x, y);
}

/* A title beside its mark, where nothing is yet; else not at all. */
function label(ink, title, [x, y], taken, w, h, face, colour) {
    const text = title.length > 36 ? title.slice(0, 35) + "…" : title, long = ink.measureText(text).width;
    for (const [dx, dy] of [[9, 4], [-9 - long, 4], [-long / 2, -10], [-long / 2, 20]]) {
        const box = [x + dx, y + dy - 12, long, 16];
        if (box[0] < 2 || box[0] + long > w - 2 || box[1] < 2 || box[1] + 16 > h - 2) continue;
        const meets = (other) => [0, 1].every((i) => box[i] < other[i] + other[i + 2] && other[i] < box[i] + box[i + 2]);
        if (taken.some(meets)) continue;
        taken.push(box);
        return write(ink, text, x + dx, y + dy, face, colour);
    }
}
