/*
 * How the map writes: words that can be read on dots, and where they find room.
 */

const shortened = (title) => title.length > 34 ? title.slice(0, 33).trimEnd() + "…" : title;

function write(ink, text, x, y, face, colour) {
    ink.lineWidth = 4;
    ink.lineJoin = "round";
    ink.strokeStyle = face;
    ink.strokeText(text, x, y);
    ink.fillStyle = colour;
    ink.fillText(text, x, y);
}

/* A text beside its mark, or in the middle of a place, where nothing is yet; else not at all. @return whether it was written */
function label(ink, title, [x, y], taken, w, h, face, colour, isCentred = false) {
    const text = shortened(title), long = ink.measureText(text).width;
    const beside = [[9, 4], [-9 - long, 4], [-long / 2, -10], [-long / 2, 20]], amid = [[-long / 2, 4], [-long / 2, -14], [-long / 2, 22], [-long / 2, -32]];
    for (const [dx, dy] of isCentred ? amid : beside) {
        const box = [x + dx, y + dy - 12, long, 16];
        if (isCentred) box[0] = clamp(box[0], 4, Math.max(4, w - 4 - long));
        if (box[0] < 2 || box[0] + long > w - 2 || box[1] < 2 || box[1] + 16 > h - 2) continue;
        const meets = (other) => [0, 1].every((i) => box[i] < other[i] + other[i + 2] && other[i] < box[i] + box[i + 2]);
        if (taken.some(meets)) continue;
        taken.push(box);
        write(ink, text, box[0], box[1] + 12, face, colour);
        return true;
    }
    return false;
}
