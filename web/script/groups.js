/*
 * Groups of titles that the same people like, and places for them on a plane: what the map is made of. Only the best-known titles
 * are grouped, as many as can be compared with each other at once; others find their place among those they are most like.
 * Everything follows from the release alone, without chance: the same release gives the same map.
 */

const GROUPS_MAX = 8;
const COMPARED = 1.2e8; /* multiplications that comparing all with all may take: about a tenth of a second */

/* Vectors of the best-known titles, centred and of length 1, in one array. */
function knownVectors() {
    const often = popularity(), k = release.factors, most = Math.floor(Math.sqrt(COMPARED / Math.max(k, 8)));
    const n = Math.min(release.items, most, 1500);
    const items = [...often.keys()].sort((a, b) => often[b] - often[a]).slice(0, n);
    const address = wasm.item_factors(), stride = answers(1)[0];
    const rows = new Float32Array(wasm.memory.buffer, address, stride * release.items), mean = new Float32Array(k);
    for (const item of items) for (let c = 0; c < k; c++) mean[c] += rows[item * stride + c] / n;
    const unitOf = (item, into = new Float32Array(k), at = 0) => {
        let square = 0;
        for (let c = 0; c < k; c++) {
            into[at + c] = rows[item * stride + c] - mean[c];
            square += into[at + c] ** 2;
        }
        const length = Math.sqrt(square);
        for (let c = 0; c < k && length > 0; c++) into[at + c] /= length;
        return into;
    };
    const vectors = new Float32Array(n * k);
    items.forEach((item, i) => unitOf(item, vectors, i * k));
    return { items, n, k, vectors, unitOf };
}

function dot(a, at, b, bt, k) {
    let sum = 0;
    for (let c = 0; c < k; c++) sum += a[at + c] * b[bt + c];
    return sum;
}

// ---- groups ---------------------------------------------------------------------------------------------------------

/* Where groups begin: the best-known title, then always the one that is least like those chosen. */
function firstCentres({ vectors, n, k }, wanted) {
    const centres = new Float32Array(wanted * k), nearest = new Float32Array(n).fill(-2), first = Math.min(n, 600);
    for (let g = 0, next = 0; g < wanted; g++) {
        centres.set(vectors.subarray(next * k, next * k + k), g * k);
        for (let i = 0; i < first; i++) nearest[i] = Math.max(nearest[i], dot(vectors, i * k, centres, g * k, k));
        next = nearest.subarray(0, first).indexOf(Math.min(...nearest.subarray(0, first)));
    }
    return centres;
}

function groupOf(vectors, at, { centres, k, count: groupCount }) {
    let best = 0, most = -Infinity;
    for (let g = 0; g < groupCount; g++) {
        const like = dot(vectors, at, centres, g * k, k);
        if (like > most) { most = like; best = g; }
    }
    return best;
}

/* k-means of directions. */
function makeGroups(known) {
    const { vectors, n, k } = known, wanted = Math.min(GROUPS_MAX, Math.max(2, Math.floor(n / 12)));
    const groups = { k, count: wanted, centres: firstCentres(known, wanted), of: new Uint8Array(n) };
    for (let round = 0; round < 10; round++) {
        const sums = new Float32Array(wanted * k);
        for (let i = 0; i < n; i++) {
            const g = groups.of[i] = groupOf(vectors, i * k, groups);
            for (let c = 0; c < k; c++) sums[g * k + c] += vectors[i * k + c];
        }
        for (let g = 0; g < wanted; g++) {
            const length = Math.sqrt(dot(sums, g * k, sums, g * k, k));
            for (let c = 0; c < k && length > 0; c++) groups.centres[g * k + c] = sums[g * k + c] / length;
        }
    }
    return groups;
}

// ---- places ---------------------------------------------------------------------------------------------------------

const NEIGHBOURS = 12;

/* The numbers of the titles most like each, of the known ones. */
function findNeighbours({ vectors, n, k }) {
    const of = new Uint16Array(n * NEIGHBOURS), like = new Float32Array(n);
    for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) like[j] = j === i ? -2 : dot(vectors, i * k, vectors, j * k, k);
        of.set(bestOf(like, NEIGHBOURS), i * NEIGHBOURS);
    }
    return of;
}

/* The places of the m largest numbers, the largest first. */
function bestOf(numbers, m) {
    const best = [];
    for (let j = 0; j < numbers.length; j++) {
        if (best.length === m && numbers[j] <= numbers[best[m - 1]]) continue;
        let at = best.length;
        while (at > 0 && numbers[best[at - 1]] < numbers[j]) at--;
        best.splice(at, 0, j);
        if (best.length > m) best.pop();
    }
    return best;
}

/* Groups on a circle, those next to each other that are most alike; titles begin between the groups that they are like. */
function firstPlaces({ vectors, n, k }, groups) {
    const order = [0], rest = new Set(Array.from({ length: groups.count - 1 }, (_, i) => i + 1)), angle = [], places = new Float32Array(2 * n);
    while (rest.size) {
        const last = order.at(-1) * k;
        const next = [...rest].reduce((a, b) => dot(groups.centres, last, groups.centres, a * k, k) >= dot(groups.centres, last, groups.centres, b * k, k) ? a : b);
        rest.delete(next);
        order.push(next);
    }
    order.forEach((g, i) => { angle[g] = 2 * Math.PI * i / groups.count; });
    for (let i = 0; i < n; i++) {
        let x = 0, y = 0, sum = 0;
        for (let g = 0; g < groups.count; g++) {
            const weight = Math.exp(4 * dot(vectors, i * k, groups.centres, g * k, k));
            x += weight * Math.cos(angle[g]);
            y += weight * Math.sin(angle[g]);
            sum += weight;
        }
        places[2 * i] = 10 * x / sum;
        places[2 * i + 1] = 10 * y / sum;
    }
    return places;
}

/* Neighbours pull each other, others push each other away, less from round to round. Who pushes whom follows from a plain sequence. */
function settlePlaces(places, n, neighbours) {
    const ROUNDS = 120, PUSHES = 6;
    let seed = 1;
    const pick = () => (seed = seed * 48271 % 2147483647) % n;
    const move = (i, j, strength) => {
        for (const c of [0, 1]) places[2 * i + c] += clamp(strength * (places[2 * i + c] - places[2 * j + c]), -1.5, 1.5);
    };
    const square = (i, j) => (places[2 * i] - places[2 * j]) ** 2 + (places[2 * i + 1] - places[2 * j + 1]) ** 2;
    for (let round = 0; round < ROUNDS; round++) {
        const step = 0.5 * (1 - round / ROUNDS);
        for (let i = 0; i < n; i++) {
            const j = neighbours[i * NEIGHBOURS + round % NEIGHBOURS], pull = -step / (1 + square(i, j));
            move(i, j, pull);
            move(j, i, pull);
            for (let p = 0; p < PUSHES; p++) {
                const other = pick();
                if (other !== i) move(i, other, step * 0.9 / ((0.1 + square(i, other)) * (1 + square(i, other))));
            }
        }
    }
}

/* From -1 to 1 both ways, half by the place itself and half by its rank, so that titles share the room there is. */
function fitPlaces(places, n) {
    for (const c of [0, 1]) {
        const order = Array.from({ length: n }, (_, i) => i).sort((a, b) => places[2 * a + c] - places[2 * b + c]);
        const value = (rank) => places[2 * order[rank] + c], low = value(0), high = value(n - 1), span = Math.max(high - low, 1e-6);
        const fitted = order.map((_, rank) => (value(rank) - low) / span + rank / (n - 1) - 1);
        order.forEach((i, rank) => { places[2 * i + c] = 0.97 * fitted[rank]; });
    }
}

/* How many of the titles most like one are also among the nearest on the plane: by chance it would be near 0. */
function planeTruth(places, n, neighbours) {
    const NEAR = Math.min(50, Math.floor(n / 10)), TRIED = Math.min(60, n), far = new Float32Array(n);
    let hits = 0;
    for (let s = 0; s < TRIED; s++) {
        const i = Math.floor(s * n / TRIED);
        for (let j = 0; j < n; j++) far[j] = -((places[2 * i] - places[2 * j]) ** 2) - (places[2 * i + 1] - places[2 * j + 1]) ** 2;
        const near = new Set(bestOf(far, NEAR + 1));
        for (let m = 0; m < NEIGHBOURS; m++) hits += near.has(neighbours[i * NEIGHBOURS + m]) ? 1 : 0;
    }
    return hits / (TRIED * NEIGHBOURS);
}

/* All of it. `truth` is below 0 where there is too little for a plane. */
function makePlane() {
    const known = knownVectors(), { n } = known;
    if (release.factors < 2 || n < 30) return { known, groups: makeGroups(known), places: null, truth: -1 };
    const groups = makeGroups(known), neighbours = findNeighbours(known), places = firstPlaces(known, groups);
    settlePlaces(places, n, neighbours);
    fitPlaces(places, n);
    return { known, groups, neighbours, places, truth: planeTruth(places, n, neighbours) };
}

// ---- what groups are called -----------------------------------------------------------------------------------------

/* Kinds that a group has much more of than all titles have: at most two, the most telling first. */
function kindsOf(g, { known, groups }) {
    if (!facts) return [];
    const inside = facts.kinds.map(() => 0), all = facts.kinds.map(() => 0);
    let size = 0;
    known.items.forEach((item, i) => {
        const isIn = groups.of[i] === g;
        size += isIn ? 1 : 0;
        for (const kind of facts.of[item]) { all[kind]++; if (isIn) inside[kind]++; }
    });
    const share = (kind) => inside[kind] / Math.max(size, 1), usual = (kind) => all[kind] / known.n;
    return [...inside.keys()].filter((kind) => share(kind) >= 0.2 && share(kind) >= 1.4 * usual(kind))
        .sort((a, b) => share(b) * Math.log(share(b) / usual(b)) - share(a) * Math.log(share(a) / usual(a)))
        .slice(0, 2).map((kind) => facts.kinds[kind]);
}

/* The decade that most of a group is of, where most are of one or two: "1950–1969"; else "". */
function yearsOf(g, { known, groups }) {
    if (!facts?.hasYears) return "";
    const years = known.items.filter((item, i) => groups.of[i] === g && facts.years[item] > 0).map((item) => facts.years[item]).sort((a, b) => a - b);
    if (years.length < 10) return "";
    const low = years[Math.floor(0.15 * years.length)], high = years[Math.floor(0.85 * years.length)];
    return high - low <= 15 ? `${low - low % 10}–${high - high % 10 + 9}` : "";
}

/* The best-known titles that are near the middle of a group. */
function examplesOf(g, { known, groups }, wanted = 3) {
    const { items, vectors, k } = known, own = [];
    items.forEach((item, i) => { if (groups.of[i] === g) own.push([i, dot(vectors, i * k, groups.centres, g * k, k)]); });
    const middle = own.map(([, like]) => like).sort((a, b) => a - b)[Math.floor(own.length / 2)];
    return own.filter(([, like]) => like >= middle).slice(0, wanted).map(([i]) => items[i]);
}

function groupName(g, plane) {
    const kinds = kindsOf(g, plane), years = yearsOf(g, plane);
    if (kinds.length === 0) return years && facts.kinds.length === 0 ? years : t("groupNumber", { n: g + 1 });
    return [...kinds, years].filter((word) => word !== "").join(" · ");
}
