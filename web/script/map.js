/*
 * The map: the best-known titles where groups.js puts them, each group in a colour and called by what it has, what the person rated
 * and is recommended marked, and the person among the latter. It can be moved and made larger, by pointer, fingers and keys. Where
 * a plane would not be true, the groups are listed instead; they also stand below the map in words.
 */

const PLANE_TRUTH = 0.2; /* of the titles most like one, so many must be near it on the plane; by chance a thirtieth would be */
const ZOOM_MAX = 12;

const chart = {
    canvas: $("chart"), tip: $("tip"), plane: null, isFlat: false,
    you: null, from: null, begun: 0, hover: -1, isStale: true, isSeen: false, isWaiting: false,
    view: { x: 0, y: 0, zoom: 1 }, fingers: new Map(), dragged: 0,

    start() {
        if (release.factors === 0) { /* without factors there are no directions to show */
            $("map").hidden = true;
            return;
        }
        new IntersectionObserver((entries) => {
            this.isSeen = entries.at(-1).isIntersecting;
            if (this.isSeen) this.ask();
        }, { rootMargin: "200px" }).observe($("map"));
        new ResizeObserver(() => this.ask()).observe(this.canvas);
        dark.addEventListener("change", () => this.ask());
        this.listen();
        $("map-words").addEventListener("toggle", () => this.tell());
        $("map-in").addEventListener("click", () => this.zoom(1.6));
        $("map-out").addEventListener("click", () => this.zoom(1 / 1.6));
        $("map-all").addEventListener("click", () => this.reset());
    },

    listen() {
        const canvas = this.canvas;
        canvas.addEventListener("pointerdown", (event) => this.touch(event));
        canvas.addEventListener("pointermove", (event) => this.drag(event));
        for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.fingers.delete(event.pointerId));
        canvas.addEventListener("pointerleave", () => this.look(-1));
        canvas.addEventListener("blur", () => this.look(-1));
        canvas.addEventListener("click", (event) => {
            const item = this.dragged > 6 ? -1 : this.nearest(event.offsetX, event.offsetY);
            if (item >= 0) openSheet(item);
        });
        canvas.addEventListener("wheel", (event) => { /* with Ctrl, as everywhere; without it the page scrolls */
            if (!event.ctrlKey) return;
            event.preventDefault();
            this.zoom(Math.exp(-event.deltaY / 200), [event.offsetX, event.offsetY]);
        }, { passive: false });
        canvas.addEventListener("keydown", (event) => this.key(event));
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

    /* Once, when it first comes near: about a tenth of a second. */
    load() {
        if (this.plane) return;
        this.plane = makePlane();
        const { known, places, truth } = this.plane;
        this.isFlat = places === null || truth < PLANE_TRUTH;
        this.number = new Map(known.items.map((item, i) => [item, i]));
        this.others = new Map(); /* places of titles that are not among the known */
        this.names = Array.from({ length: this.plane.groups.count }, (_, g) => groupName(g, this.plane));
        this.examples = this.names.map((_, g) => examplesOf(g, this.plane));
        $("map-lead").textContent = this.isFlat ? t("mapNoPlane") : t("mapLead", { n: known.n });
        $("map-picture").hidden = this.isFlat;
        $("map-words").open = $("map-words").open || this.isFlat;
        if (!this.isFlat) this.regions = this.names.map((_, g) => this.middleOf(g));
    },

    /* The words again, in another language. */
    rename() {
        if (!this.plane) return;
        this.names = this.names.map((_, g) => groupName(g, this.plane));
        $("map-lead").textContent = this.isFlat ? t("mapNoPlane") : t("mapLead", { n: this.plane.known.n });
        this.change();
    },

    // ---- places ---------------------------------------------------------------------------------------------------------

    /* The median of a group's places, both ways. */
    middleOf(g) {
        const { groups, places, known } = this.plane, own = [];
        for (let i = 0; i < known.n; i++) if (groups.of[i] === g) own.push(i);
        return [0, 1].map((c) => own.map((i) => places[2 * i + c]).sort((a, b) => a - b)[Math.floor(own.length / 2)] ?? 0);
    },

    /* A title that is not among the known stands amid the four that are most like it. */
    placeOf(item) {
        const { known, places } = this.plane, i = this.number.get(item);
        if (i !== undefined) return [places[2 * i], places[2 * i + 1]];
        if (!this.others.has(item)) {
            const v = known.unitOf(item), like = new Float32Array(known.n);
            for (let j = 0; j < known.n; j++) like[j] = dot(v, 0, known.vectors, j * known.k, known.k);
            const near = bestOf(like, 4);
            this.others.set(item, [0, 1].map((c) => near.reduce((sum, j) => sum + places[2 * j + c] / near.length, 0)));
        }
        return this.others.get(item);
    },

    groupOf(item) {
        const i = this.number.get(item);
        return i !== undefined ? this.plane.groups.of[i] : groupOf(this.plane.known.unitOf(item), 0, this.plane.groups);
    },

    at([x, y]) { /* in pixels of the page */
        const { w, h, view } = this, margin = 26;
        return [w / 2 + (x - view.x) * view.zoom * (w / 2 - margin), h / 2 - (y - view.y) * view.zoom * (h / 2 - margin)];
    },

    colour(name) { return getComputedStyle(this.canvas).getPropertyValue(name).trim(); },

    marked() {
        const best = picks.filter(({ item }) => !ratings.has(item) && !hidden.has(item)).slice(0, PAGE).map((pick) => pick.item);
        return { mine: [...ratings.keys()].reverse(), best: ratings.size ? best : [] };
    },

    /* How many of the first recommendations are in each group. */
    shares() {
        const shares = this.names.map(() => 0);
        for (const item of this.marked().best) shares[this.groupOf(item)]++;
        return shares;
    },

    /* The person stands amid those recommendations that are in the group which has most of them; or in the middle. */
    whereabouts() {
        const shares = this.shares(), most = Math.max(...shares), best = this.marked().best;
        if (most === 0) return [0, 0];
        const own = best.filter((item) => this.groupOf(item) === shares.indexOf(most)).map((item) => this.placeOf(item));
        return [0, 1].map((c) => own.reduce((sum, place) => sum + place[c] / own.length, 0));
    },

    // ---- drawing --------------------------------------------------------------------------------------------------------

    draw(now) {
        this.load();
        if (this.isFlat) return this.tell();
        const ratio = Math.min(devicePixelRatio, 2), w = this.w = this.canvas.clientWidth, h = this.h = this.canvas.clientHeight;
        if (w === 0 || h === 0) return;
        if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
            this.canvas.width = Math.round(w * ratio);
            this.canvas.height = Math.round(h * ratio);
        }
        if (this.isStale) this.measure(now);
        const done = calm.matches ? 1 : clamp((now - this.begun) / 600, 0, 1), ease = 1 - (1 - done) ** 3;
        const you = this.you.map((x, i) => this.from[i] + (x - this.from[i]) * ease);
        const ink = this.canvas.getContext("2d");
        ink.setTransform(ratio, 0, 0, ratio, 0, 0);
        ink.clearRect(0, 0, w, h);
        this.dots(ink);
        this.marks(ink, this.at(you), w, h);
        if (done < 1) this.ask();
    },

    /* What changes with the ratings: how large dots are, and where the person stands. */
    measure(now) {
        const { known } = this.plane, scores = new Float32Array(wasm.memory.buffer, wasm.score_all(), release.items);
        const own = Float32Array.from(known.items, (item) => scores[item]), sorted = own.slice().sort();
        const low = sorted[Math.floor(known.n / 2)], high = sorted[Math.floor(0.99 * (known.n - 1))];
        this.sizes = own.map((score) => clamp((score - low) / Math.max(high - low, 1e-9), 0, 1));
        this.isStale = false;
        const to = this.whereabouts();
        this.from = this.you ?? to;
        if (!this.you || this.you.some((x, i) => x !== to[i])) this.begun = now;
        this.you = to;
    },

    dots(ink) {
        const { known, groups } = this.plane, size = Math.min(1.8, 0.8 + 0.2 * this.view.zoom);
        const colours = this.names.map((_, g) => this.colour(`--group-${g}`));
        for (let g = 0; g < groups.count; g++) {
            ink.fillStyle = colours[g];
            for (let i = 0; i < known.n; i++) {
                if (groups.of[i] !== g) continue;
                const [x, y] = this.at(this.placeOf(known.items[i]));
                if (x < -9 || y < -9 || x > this.w + 9 || y > this.h + 9) continue;
                ink.globalAlpha = 0.5 + 0.45 * this.sizes[i];
                ink.beginPath();
                ink.arc(x, y, size * (1.8 + 3 * this.sizes[i]), 0, 2 * Math.PI);
                ink.fill();
            }
        }
        ink.globalAlpha = 1;
    },

    ring(ink, item, name, isFull) {
        const [x, y] = this.at(this.placeOf(item)), face = this.colour("--surface");
        ink.beginPath();
        ink.arc(x, y, 5.5, 0, 2 * Math.PI);
        ink.fillStyle = isFull ? this.colour(name) : face;
        ink.fill();
        ink.lineWidth = 2.5;
        ink.strokeStyle = isFull ? face : this.colour(name);
        ink.stroke();
    },

    marks(ink, you, w, h) {
        const taken = [[you[0] - 24, you[1] - 16, 48, 52]], { mine, best } = this.marked(), isSmall = w < 500;
        const face = this.colour("--surface"), colour = this.colour("--ink"), soft = this.colour("--soft"), family = getComputedStyle(document.body).fontFamily;
        for (const item of best) this.ring(ink, item, "--accent", false);
        for (const item of mine.slice(0, 60)) this.ring(ink, item, "--star", true);
        for (const [x, y] of [...best, ...mine.slice(0, 60)].map((item) => this.at(this.placeOf(item)))) taken.push([x - 5, y - 5, 10, 10]);
        this.nameRegions(ink, taken, { face, colour, soft, family, isSmall });
        ink.font = `12px ${family}`;
        const called = isSmall ? [...mine.slice(0, 3), ...best.slice(0, 3)] : [...mine.slice(0, 8), ...best.slice(0, 8)];
        const near = this.view.zoom > 2 ? this.plane.known.items.slice(0, 400) : [];
        for (const item of [...called, ...near]) label(ink, titles[item], this.at(this.placeOf(item)), taken, w, h, face, colour);
        if (this.hover >= 0) this.ring(ink, this.hover, "--ink", true);
        if (ratings.size === 0) return;
        ink.beginPath();
        ink.arc(you[0], you[1], 15, 0, 2 * Math.PI);
        ink.fillStyle = this.colour("--halo");
        ink.fill();
        ink.beginPath();
        ink.arc(you[0], you[1], 8, 0, 2 * Math.PI);
        ink.fillStyle = this.colour("--accent");
        ink.fill();
        ink.lineWidth = 2.5;
        ink.strokeStyle = face;
        ink.stroke();
        ink.font = `700 14px ${family}`;
        write(ink, t("mapYou"), you[0] - ink.measureText(t("mapYou")).width / 2, you[1] + 30, face, colour);
    },

    /* What each region is: its name, and on larger screens a title that people know, where there is room. */
    nameRegions(ink, taken, { face, colour, soft, family, isSmall }) {
        this.regions.forEach((place, g) => {
            const at = this.at(place), hasName = this.names[g] !== t("groupNumber", { n: g + 1 });
            const lines = [hasName ? this.names[g] : titles[this.examples[g][0]], titles[this.examples[g][hasName ? 0 : 1]]].filter(Boolean).map(shortened);
            ink.font = `700 ${isSmall ? 12 : 14}px ${family}`;
            const isDrawn = label(ink, lines[0], at, taken, this.w, this.h, face, this.colour(`--group-ink-${g}`), true);
            ink.font = `italic 12px ${family}`;
            if (isDrawn && lines[1] && !isSmall) label(ink, lines[1], [at[0], at[1] + 17], taken, this.w, this.h, face, hasName ? soft : colour, true);
        });
    },

    // ---- moving it ------------------------------------------------------------------------------------------------------

    zoom(by, [x, y] = [this.w / 2, this.h / 2]) {
        const { view } = this, before = view.zoom, unit = [this.w / 2 - 26, this.h / 2 - 26];
        if (this.isFlat || !this.w) return;
        view.zoom = clamp(before * by, 1, ZOOM_MAX);
        const gain = 1 / before - 1 / view.zoom; /* what is under the pointer stays there */
        view.x += (x - this.w / 2) / unit[0] * gain;
        view.y -= (y - this.h / 2) / unit[1] * gain;
        this.settle();
    },

    move(dx, dy) { /* by pixels */
        this.view.x -= dx / (this.view.zoom * (this.w / 2 - 26));
        this.view.y += dy / (this.view.zoom * (this.h / 2 - 26));
        this.settle();
    },

    reset() {
        this.view = { x: 0, y: 0, zoom: 1 };
        this.settle();
    },

    settle() {
        const room = 1 - 1 / this.view.zoom;
        this.view.x = clamp(this.view.x, -room, room);
        this.view.y = clamp(this.view.y, -room, room);
        this.canvas.classList.toggle("zoomed", this.view.zoom > 1); /* one finger then moves the map, not the page */
        $("map-out").disabled = $("map-all").disabled = this.view.zoom <= 1;
        $("map-in").disabled = this.view.zoom >= ZOOM_MAX;
        this.look(-1);
        this.ask();
    },

    touch(event) {
        this.fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
        this.dragged = 0;
        if (event.pointerType === "mouse") this.canvas.setPointerCapture(event.pointerId);
    },

    /* One pointer moves the map, two make it larger or smaller; none looks. */
    drag(event) {
        const before = this.fingers.get(event.pointerId), now = [event.offsetX, event.offsetY];
        if (!before) return this.look(this.nearest(...now));
        const others = [...this.fingers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
        this.fingers.set(event.pointerId, now);
        this.dragged += Math.hypot(now[0] - before[0], now[1] - before[1]);
        if (others.length === 0) {
            if (this.view.zoom > 1) this.move(now[0] - before[0], now[1] - before[1]);
            return;
        }
        const apart = (place) => Math.max(1, Math.hypot(place[0] - others[0][0], place[1] - others[0][1]));
        this.zoom(apart(now) / apart(before), [(now[0] + others[0][0]) / 2, (now[1] + others[0][1]) / 2]);
    },

    nearest(x, y) {
        let best = -1, least = 16 * 16;
        if (!this.plane || this.isFlat || !this.w) return best;
        const { mine, best: picked } = this.marked();
        for (const item of [...picked, ...mine, ...this.plane.known.items]) {
            const [px, py] = this.at(this.placeOf(item)), d = (px - x) ** 2 + (py - y) ** 2;
            if (d < least) { least = d; best = item; }
        }
        return best;
    },

    tipOf(item) {
        if (ratings.has(item)) return t(scale.hearts ? "mapTipLiked" : "mapTipMine", { title: titles[item], rating: scale.show(ratings.get(item)) });
        return scale.hearts ? titles[item] : t("mapTipExpected", { title: titles[item], rating: scale.expect(wasm.predict(item)) });
    },

    look(item) {
        if (item === this.hover) return;
        this.hover = item;
        this.tip.hidden = item < 0;
        this.canvas.classList.toggle("pointing", item >= 0);
        if (item >= 0) {
            const [x, y] = this.at(this.placeOf(item)), isRight = x > this.canvas.clientWidth / 2;
            this.tip.textContent = this.tipOf(item);
            this.tip.style.left = isRight ? "auto" : `${x + 12}px`;
            this.tip.style.right = isRight ? `${this.canvas.clientWidth - x + 12}px` : "auto";
            this.tip.style.top = `${Math.max(0, y - 34)}px`;
        }
        this.ask();
    },

    key(event) {
        const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (event.key === "Enter" && this.hover >= 0) return openSheet(this.hover);
        if (event.key === "Escape") return this.look(-1);
        if (event.ctrlKey || event.metaKey || event.altKey || !this.plane || this.isFlat) return;
        if (event.key === "+" || event.key === "=") this.zoom(1.6);
        else if (event.key === "-") this.zoom(1 / 1.6);
        else if (event.key === "0") this.reset();
        else if (way && event.shiftKey) this.move(-60 * way[0], -60 * way[1]);
        else if (way) this.step(way);
        else return;
        event.preventDefault();
    },

    /* The nearest marked title in the direction of the arrow, within 60 degrees of it. */
    step(way) {
        const here = this.at(this.hover >= 0 ? this.placeOf(this.hover) : this.you), { mine, best } = this.marked();
        let next = -1, least = Infinity;
        for (const item of [...mine, ...(best.length ? best : picks.map((pick) => pick.item))]) {
            const [x, y] = this.at(this.placeOf(item)), dx = x - here[0], dy = y - here[1], far = Math.hypot(dx, dy);
            if (item === this.hover || far < 0.5 || dx * way[0] + dy * way[1] < 0.5 * far || far >= least) continue;
            least = far;
            next = item;
        }
        if (next < 0) return say(t("mapNowhere"), 0);
        this.look(next);
        say(this.tip.textContent, 0);
    },

    // ---- in words -------------------------------------------------------------------------------------------------------

    /* The same for those who do not see it: the groups, those that hold most of the recommendations first. */
    tell() {
        if (!$("map-words").open || release.factors === 0 || !this.isSeen && !this.plane) return;
        this.load();
        const shares = this.shares(), sizes = this.names.map(() => 0), { mine } = this.marked();
        for (const g of this.plane.groups.of) sizes[g]++;
        const order = [...shares.keys()].filter((g) => sizes[g] > 0).sort((a, b) => shares[b] - shares[a] || sizes[b] - sizes[a]);
        const list = (items) => make("ul", { class: "similar", role: "list" }, ...items.map((item) => make("li", {}, titleButton(item))));
        $("map-text").replaceChildren(make("p", { class: "lead", text: t("mapGroups") }), ...order.map((g) => {
            const own = mine.filter((item) => this.groupOf(item) === g).slice(0, 5);
            const note = shares[g] === 0 ? "" : shares[g] > PAGE / 2 ? t("groupYours") : t("groupSome", { n: shares[g] });
            return make("section", { class: "shelf" },
                make("h3", {}, make("span", { class: "swatch", "aria-hidden": "true", "data-group": g }), this.names[g]),
                make("p", { class: "facts", text: [t("groupSize", { n: sizes[g] }), note].filter(Boolean).join(" · ") }),
                list([...examplesOf(g, this.plane, 6)]),
                own.length ? make("p", { class: "facts", text: t("mapMine") }) : null, own.length ? list(own) : null);
        }));
    },
};
