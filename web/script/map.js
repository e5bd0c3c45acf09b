/*
 * The map. The dots are a picture of their own, painted again when the predictions change; what moves is drawn over it.
 */

const chart = {
    canvas: $("chart"), tip: $("tip"), field: document.createElement("canvas"),
    places: null, you: null, from: null, begun: 0, hover: -1, isStale: true, isSeen: false, isWaiting: false,

    start() {
        if (release.factors === 0) { /* without factors there are no directions to show */
            $("map").hidden = true;
            return;
        }
        new IntersectionObserver((entries) => {
            this.isSeen = entries.at(-1).isIntersecting;
            if (this.isSeen) this.ask();
        }, { rootMargin: "200px" }).observe(this.canvas);
        new ResizeObserver(() => { this.isStale = true; this.ask(); }).observe(this.canvas);
        dark.addEventListener("change", () => { this.isStale = true; this.ask(); });
        this.canvas.addEventListener("pointermove", (event) => this.look(this.nearest(event.offsetX, event.offsetY)));
        this.canvas.addEventListener("pointerleave", () => this.look(-1));
        this.canvas.addEventListener("blur", () => this.look(-1));
        this.canvas.addEventListener("click", (event) => {
            const item = this.nearest(event.offsetX, event.offsetY);
            if (item >= 0) openSheet(item);
        });
        this.canvas.addEventListener("keydown", (event) => this.key(event));
        $("map-words").addEventListener("toggle", () => this.tell());
    },

    change() {
        this.isStale = true;
        this.ask();
        this.tell();
    },

    ask() {
        if (!this.isSeen || this.isWaiting) return;
        this.isWaiting = true;
        requestAnimationFrame((now) => { this.isWaiting = false; this.draw(now); });
    },

    /* Most titles lie near the middle, so the middle gets more room; the few that lie beyond the edge were put on it, and are
     * strewn along it a little, lest they look like a frame. */
    load() {
        const address = wasm.map();
        if (!address) throw new Error(textAt(wasm.error_text()));
        const raw = new Float32Array(wasm.memory.buffer, address, 2 * release.items);
        this.places = raw.map((x, i) => this.bend(x) * (Math.abs(x) < 1 ? 1 : 1 - 0.08 * (i * 0.618 % 1)));
    },
    bend(x) { return Math.sign(x) * Math.abs(x) ** 0.75; },

    at(place) { /* in pixels of the page */
        const margin = 14, { w, h } = this;
        return [w / 2 + place[0] * (w / 2 - margin), h / 2 - place[1] * (h / 2 - margin)];
    },
    placeOf(item) { return [this.places[2 * item], this.places[2 * item + 1]]; },
    colour(name) { return getComputedStyle(this.canvas).getPropertyValue(name).trim(); },

    /* Colours from cold to warm by the prediction, in so many steps; the warm ones are painted last. */
    paint(ratio) {
        const STEPS = 12, n = release.items, image = new ImageData(this.canvas.width, this.canvas.height);
        const scores = new Float32Array(wasm.memory.buffer, wasm.predict_all(), n);
        let mean = 0, square = 0;
        for (const score of scores) { mean += score / n; square += score * score / n; }
        const deviation = Math.sqrt(Math.max(square - mean * mean, 1e-12));
        const steps = Array.from({ length: STEPS }, () => []);
        for (let i = 0; i < n; i++)
            steps[clamp(Math.round((0.15 + 0.22 * (scores[i] - mean) / deviation) * STEPS), 0, STEPS - 1)].push(i);
        const low = rgb(this.colour("--dot-low")), high = rgb(this.colour("--dot-high"));
        const radius = ratio * clamp(5.4 - 0.95 * Math.log10(n), 1, 3.2);
        steps.forEach((items, s) => {
            const t = s / (STEPS - 1), ink = low.map((c, i) => c + (high[i] - c) * t);
            for (const i of items)
                blot(image, this.pixels[2 * i] * ratio, this.pixels[2 * i + 1] * ratio, radius * (0.7 + 0.6 * t), ink, 0.45 + 0.5 * t);
        });
        this.field.width = image.width;
        this.field.height = image.height;
        this.field.getContext("2d").putImageData(image, 0, 0);
    },

    draw(now) {
        if (!this.places) this.load();
        const ratio = Math.min(devicePixelRatio, 2), w = this.w = this.canvas.clientWidth, h = this.h = this.canvas.clientHeight;
        if (w === 0 || h === 0) return;
        if (this.isStale) {
            this.canvas.width = Math.round(w * ratio);
            this.canvas.height = Math.round(h * ratio);
            this.pixels = Float32Array.from(this.places, (x, i) => i % 2 ? this.at([0, x])[1] : this.at([x, 0])[0]);
            this.paint(ratio);
            this.isStale = false;
            this.go(now);
        }
        const done = calm.matches ? 1 : clamp((now - this.begun) / 600, 0, 1), ease = 1 - (1 - done) ** 3;
        const you = this.you.map((x, i) => this.from[i] + (x - this.from[i]) * ease);
        const ink = this.canvas.getContext("2d");
        ink.setTransform(1, 0, 0, 1, 0, 0);
        ink.clearRect(0, 0, this.canvas.width, this.canvas.height);
        ink.drawImage(this.field, 0, 0);
        ink.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.marks(ink, this.at(you), w, h);
        if (done < 1) this.ask();
    },

    /* Sets out from wherever the person stands to where they belong. */
    go(now) {
        ask("whereabouts");
        const to = [...answers(2)].map((x) => this.bend(x));
        this.from = this.you ?? to;
        if (!this.you || this.you.some((x, i) => x !== to[i])) this.begun = now;
        this.you = to;
    },

    marked() {
        const best = picks.filter((pick) => !ratings.has(pick.item)).slice(0, PAGE).map((pick) => pick.item);
        return { mine: [...ratings.keys()].reverse(), best: ratings.size ? best : [] };
    },

    marks(ink, you, w, h) {
        const taken = [[you[0] - 24, you[1] - 16, 48, 52]], { mine, best } = this.marked();
        const face = this.colour("--surface"), colour = this.colour("--ink");
        const ring = (item, name, isFull) => {
            const [x, y] = this.at(this.placeOf(item));
            ink.beginPath();
            ink.arc(x, y, 5, 0, 2 * Math.PI);
            ink.fillStyle = isFull ? this.colour(name) : face;
            ink.fill();
            ink.lineWidth = 2;
            ink.strokeStyle = isFull ? face : this.colour(name);
            ink.stroke();
        };
        for (const item of best) ring(item, "--accent", false);
        for (const item of mine) ring(item, "--star", true);
        for (const [x, y] of [...best, ...mine].map((item) => this.at(this.placeOf(item)))) taken.push([x - 5, y - 5, 10, 10]);
        ink.font = `12px ${getComputedStyle(document.body).fontFamily}`;
        for (const item of w < 500 ? [...mine.slice(0, 3), ...best.slice(0, 2)] : [...mine.slice(0, 12), ...best.slice(0, 6)])
            label(ink, titles[item], this.at(this.placeOf(item)), taken, w, h, face, colour);
        if (this.hover >= 0) ring(this.hover, "--ink", true);
        ink.beginPath();
        ink.arc(you[0], you[1], 14, 0, 2 * Math.PI);
        ink.fillStyle = this.colour("--halo");
        ink.fill();
        ink.beginPath();
        ink.arc(you[0], you[1], 7, 0, 2 * Math.PI);
        ink.fillStyle = this.colour("--accent");
        ink.fill();
        ink.lineWidth = 2.5;
        ink.strokeStyle = face;
        ink.stroke();
        ink.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
        write(ink, "you", you[0] - ink.measureText("you").width / 2, you[1] + 29, face, colour);
    },

    nearest(x, y) {
        let best = -1, least = 14 * 14;
        for (let i = 0; this.pixels && i < release.items; i++) {
            const d = (this.pixels[2 * i] - x) ** 2 + (this.pixels[2 * i + 1] - y) ** 2;
            if (d < least) { least = d; best = i; }
        }
        return best;
    },

    look(item) {
        if (item === this.hover) return;
        this.hover = item;
        this.tip.hidden = item < 0;
        this.canvas.classList.toggle("pointing", item >= 0);
        if (item >= 0) {
            const [x, y] = this.at(this.placeOf(item)), isRight = x > this.canvas.clientWidth / 2;
            this.tip.textContent = titles[item] + (ratings.has(item) ? ` · you gave ${scale.show(ratings.get(item))}` :
                ` · ${scale.expect(ask("predict", item))} expected`);
            this.tip.style.left = isRight ? "auto" : `${x + 12}px`;
            this.tip.style.right = isRight ? `${this.canvas.clientWidth - x + 12}px` : "auto";
            this.tip.style.top = `${Math.max(0, y - 34)}px`;
        }
        this.ask();
    },

    /* The nearest marked title in the direction of the arrow, within 60 degrees of it. */
    key(event) {
        const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (event.key === "Enter" && this.hover >= 0) return openSheet(this.hover);
        if (event.key === "Escape") return this.look(-1);
        if (!way || !this.places) return;
        event.preventDefault();
        const here = this.at(this.hover >= 0 ? this.placeOf(this.hover) : this.you), { mine, best } = this.marked();
        let next = -1, least = Infinity;
        for (const item of [...mine, ...(best.length ? best : picks.map((pick) => pick.item))]) {
            const [x, y] = this.at(this.placeOf(item)), dx = x - here[0], dy = y - here[1], far = Math.hypot(dx, dy);
            if (item === this.hover || dx * way[0] + dy * way[1] < 0.5 * far || far >= least) continue;
            least = far;
            next = item;
        }
        if (next < 0) return say("There is no marked title in that direction.", 0);
        this.look(next);
        say(this.tip.textContent, 0);
    },

    /* The same for those who do not see it. */
    tell() {
        if (!$("map-words").open) return;
        if (!this.places) this.load();
        this.go(performance.now());
        const away = (item) => Math.hypot(...this.placeOf(item).map((x, i) => x - this.you[i]));
        const near = Array.from({ length: release.items }, (_, i) => i).filter((item) => !ratings.has(item));
        const far = Float32Array.from(near, away);
        const closest = [...near.keys()].sort((a, b) => far[a] - far[b]).slice(0, 8).map((i) => near[i]);
        const entry = (item) => make("li", {}, titleButton(item), ` ${side(this.placeOf(item))}`);
        const list = (items) => make("ul", {}, ...items.map(entry)), { mine, best } = this.marked();
        const parts = [make("p", { text: `You are ${side(this.you)}. Closest to you:` }), list(closest)];
        if (best.length) parts.push(make("p", { text: "Recommended titles:" }), list(best));
        if (mine.length) parts.push(make("p", { text: "Titles you rated:" }), list(mine.slice(0, 20)));
        $("map-text").replaceChildren(...parts);
    },
};
