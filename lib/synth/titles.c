/*
 * Made-up titles: every combination of a pattern, its words and a year has a number, and a
 * catalogue walks over the numbers with a stride that shares no factor with how many there are. So
 * titles are distinct without anything being remembered. Some hold commas, quotes or letters beyond
 * ASCII, as real catalogues do. Fed with a seed by synth.c, for the catalogue it writes.
 */
#include "synth/titles.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "random/random.h"
#include "synth/synth_shape.h"

#define COUNT(words) (sizeof(words) / sizeof(words)[0])

static const char *const ADJECTIVES[] = {
    "Amber",    "Ancient",  "Autumn",   "Bitter",    "Blue",     "Borrowed", "Brave",
    "Broken",   "Burning",  "Careful",  "Crimson",   "Curious",  "Dancing",  "Distant",
    "Drowsy",   "Electric", "Emerald",  "Empty",     "Endless",  "Faded",    "Fearless",
    "Final",    "Floating", "Foreign",  "Forgotten", "Frozen",   "Gentle",   "Gilded",
    "Golden",   "Hidden",   "Hollow",   "Honest",    "Hungry",   "Iron",     "Ivory",
    "Jealous",  "Last",     "Little",   "Lonely",    "Lost",     "Lucky",    "Midnight",
    "Misty",    "Modest",   "Naïve",    "Narrow",    "Nervous",  "Northern", "Open",
    "Painted",  "Paper",    "Patient",  "Perfect",   "Plain",    "Quiet",    "Rainy",
    "Reckless", "Red",      "Restless", "Rustic",    "Sacred",   "Salty",    "Scarlet",
    "Second",   "Secret",   "Silent",   "Silver",    "Sleeping", "Slow",     "Smiling",
    "Southern", "Stolen",   "Strange",  "Stubborn",  "Sudden",   "Sunlit",   "Tangled",
    "Tender",   "Thirsty",  "Tiny",     "Twisted",   "Velvet",   "Violet",   "Wandering",
    "Wild",     "Winter",   "Wooden",   "Yellow",
};

static const char *const NOUNS[] = {
    "Accordion",  "Almanac",   "Anchor",    "Archive",    "Balcony",   "Ballad",   "Beacon",
    "Bicycle",    "Bridge",    "Café",      "Canal",      "Candle",    "Carousel", "Castle",
    "Cellar",     "Chapel",    "Circus",    "Citadel",    "Clockwork", "Comet",    "Compass",
    "Corridor",   "Courier",   "Crossing",  "Detour",     "Diary",     "Doorway",  "Dragonfly",
    "Echo",       "Engine",    "Envelope",  "Fable",      "Façade",    "Falcon",   "Ferry",
    "Fiddle",     "Fountain",  "Fox",       "Garden",     "Ghost",     "Glacier",  "Guest",
    "Harbour",    "Harvest",   "Heron",     "Horizon",    "Hotel",     "Island",   "Journey",
    "Kingdom",    "Kite",      "Labyrinth", "Ladder",     "Lantern",   "Letter",   "Library",
    "Lighthouse", "Lullaby",   "Machine",   "Magician",   "Map",       "Marathon", "Market",
    "Mask",       "Melody",    "Mirror",    "Monsoon",    "Mountain",  "Museum",   "Neighbour",
    "Nocturne",   "Oasis",     "Orchard",   "Orchestra",  "Passenger", "Pianist",  "Pilgrim",
    "Planet",     "Portrait",  "Postcard",  "Promise",    "Puzzle",    "Quarry",   "Railway",
    "Rainbow",    "Riddle",    "River",     "Rooftop",    "Saxophone", "Season",   "Shadow",
    "Shepherd",   "Shoreline", "Signal",    "Sonata",     "Sparrow",   "Stairway", "Stranger",
    "Submarine",  "Suitcase",  "Summit",    "Telescope",  "Theatre",   "Thief",    "Thunder",
    "Tide",       "Tower",     "Train",     "Treasure",   "Trumpet",   "Umbrella", "Valley",
    "Violin",     "Voyage",    "Waltz",     "Watchmaker", "Whale",     "Whisper",  "Window",
    "Witness",
};

static const char *const PLACES[] = {
    "Aarhus",     "Alexandria", "Bahía",     "Bergen",  "Besançon", "Bordeaux",  "Bruges",
    "Cádiz",      "Calcutta",   "Coimbra",   "Córdoba", "Dakar",    "Dresden",   "Galway",
    "Genoa",      "Göteborg",   "Granada",   "Havana",  "Istanbul", "Jaipur",    "Kraków",
    "Kyoto",      "Lisbon",     "Ljubljana", "Łódź",    "Málaga",   "Marrakesh", "Montréal",
    "Nairobi",    "Odessa",     "Örebro",    "Oslo",    "Palermo",  "Porto",     "Quito",
    "Reykjavík",  "Salzburg",   "Samarkand", "Tallinn", "Tbilisi",  "Trieste",   "Tromsø",
    "Valparaíso", "Vilnius",    "Zanzibar",  "Zürich",
};

static const char *const NAMES[] = {
    "Ada",    "Amélie", "Anselm", "Beatriz", "Björn",  "Camille", "Chloé",  "Cyril",
    "Dmitri", "Edith",  "Émile",  "Esther",  "Fatima", "Gwen",    "Håkon",  "Hugo",
    "Ines",   "Ivo",    "José",   "Kaito",   "Lena",   "Lucía",   "Magnus", "Mirela",
    "Nadia",  "Noor",   "Olga",   "Oscar",   "Petra",  "Quentin", "Renée",  "Rosa",
    "Samir",  "Søren",  "Tomasz", "Ursula",  "Vera",   "Winston", "Yara",   "Zoë",
};

static const char *const SURNAMES[] = {
    "Abernathy", "Bergström", "Castellano", "Delacroix", "Eriksen",  "Fontaine",
    "García",    "Hollis",    "Ibáñez",     "Jensen",    "Kowalski", "Lindqvist",
    "Moreau",    "Novák",     "Okafor",     "Peralta",   "Quimby",   "Rasmussen",
    "Šimek",     "Takahashi", "Underhill",  "Vaughn",    "Weiß",     "Zielińska",
};

static const char *const RANKS[] = {"Captain", "Colonel",   "Doctor",
                                    "Madame",  "Professor", "Sister"};

static const char *const DEEDS[] = {
    "Arriving", "Borrowing",   "Counting",   "Dancing",  "Digging",   "Drifting",
    "Falling",  "Fishing",     "Forgetting", "Knocking", "Laughing",  "Leaving",
    "Painting", "Remembering", "Returning",  "Running",  "Sailing",   "Singing",
    "Sleeping", "Smiling",     "Waiting",    "Walking",  "Whistling",
};

static const char *const MANNERS[] = {
    "Again",  "Alone",  "Barefoot",  "Carefully", "Gladly", "Homeward", "Northward", "Quietly",
    "Slowly", "Softly", "Sometimes", "Together",  "Twice",  "Upstream", "Yesterday",
};

static const char *const GREETINGS[] = {
    "Farewell", "Forgive Me", "Good Morning", "Good Night", "Goodbye", "Hello", "Listen", "Welcome",
};

static const char *const NICKNAMES[] = {
    "Bear",      "Comet",   "Duchess", "Fox",     "Lucky",
    "Moonlight", "Needles", "Pepper",  "Sparrow", "Thunder",
};

enum { FIRST_YEAR = 1921, N_YEARS = 103 };

struct word_list {
    const char *const *words;
    uint64_t n;
};

#define LIST(words)                                                                                \
    { words, COUNT(words) }

/* No pattern can make the text of another one, whatever the words. */
struct pattern {
    enum { TWO_WORDS = 2, THREE_WORDS = 3 } n_words;
    const char *format;
    struct word_list list[THREE_WORDS];
};

static const struct pattern PATTERNS[] = {
    {TWO_WORDS, "The %s %s", {LIST(ADJECTIVES), LIST(NOUNS)}},
    {TWO_WORDS, "%s %s", {LIST(ADJECTIVES), LIST(NOUNS)}},
    {TWO_WORDS, "The %s of %s", {LIST(NOUNS), LIST(PLACES)}},
    {TWO_WORDS, "A %s in %s", {LIST(NOUNS), LIST(PLACES)}},
    {TWO_WORDS, "%s's %s", {LIST(NAMES), LIST(NOUNS)}},
    {TWO_WORDS, "%s and the %s", {LIST(NAMES), LIST(NOUNS)}},
    {TWO_WORDS, "%s in %s", {LIST(DEEDS), LIST(PLACES)}},
    {TWO_WORDS, "%s, %s", {LIST(DEEDS), LIST(MANNERS)}},
    {TWO_WORDS, "%s, %s", {LIST(GREETINGS), LIST(PLACES)}},
    {TWO_WORDS, "%s, %s", {LIST(GREETINGS), LIST(NAMES)}},
    {THREE_WORDS, "%s \"%s\" %s", {LIST(RANKS), LIST(NICKNAMES), LIST(SURNAMES)}},
};

static uint64_t pattern_size(const struct pattern *pattern) {
    uint64_t n = N_YEARS;
    for (int w = 0; w < (int)pattern->n_words; w++) n *= pattern->list[w].n;
    return n;
}

static uint64_t count_titles(void) {
    uint64_t n = 0;
    for (size_t p = 0; p < COUNT(PATTERNS); p++) n += pattern_size(&PATTERNS[p]);
    return n;
}

static uint64_t common_factor(uint64_t a, uint64_t b) {
    assert(a > 0);
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void titles_init(struct titles *titles, uint64_t seed) {
    uint64_t total = count_titles();
    struct random_stream stream;
    random_stream_init(&stream, seed, SYNTH_TITLE, 0);
    titles->start = random_below(&stream, total);
    do titles->stride = total / 3 + random_below(&stream, total / 3);
    while (common_factor(titles->stride, total) != 1);
}

/* The words of the pattern's title number n, without the year. */
static void put_words(const struct pattern *pattern, uint64_t n, char text[TITLE_MAX]) {
    const char *word[THREE_WORDS] = {"", "", ""};
    for (int w = 0; w < (int)pattern->n_words; w++) {
        word[w] = pattern->list[w].words[n % pattern->list[w].n];
        n /= pattern->list[w].n;
    }
    size_t at = 0, next = 0;
    for (const char *f = pattern->format; *f; f++) {
        if (f[0] != '%') {
            if (at + 1 < TITLE_MAX) text[at++] = *f;
            continue;
        }
        f++;                                                       /* the s */
        if (next == 0 && at == 2 && strchr("AEIOU", word[0][0])) { /* "A " has become "An " */
            text[1] = 'n';
            text[at++] = ' ';
        }
        for (const char *w = word[next++]; *w; w++)
            if (at + 1 < TITLE_MAX) text[at++] = *w;
    }
    text[at] = 0;
}

size_t titles_make(const struct titles *titles, uint64_t n, char text[TITLE_MAX]) {
    assert(text);
    uint64_t total = count_titles(), lap = n / total;
    uint64_t place = (titles->start + n % total * titles->stride) % total; /* total^2 < 2^63 */
    const struct pattern *pattern = PATTERNS;
    for (; place >= pattern_size(pattern); pattern++) place -= pattern_size(pattern);

    char words[TITLE_MAX];
    put_words(pattern, place / N_YEARS, words);
    int year = FIRST_YEAR + (int)(place % N_YEARS), length;
    if (lap == 0)
        length = snprintf(text, TITLE_MAX, "%.96s (%d)", words, year);
    else /* a catalogue of many millions: sequels */
        length = snprintf(text, TITLE_MAX, "%.80s %" PRIu64 " (%d)", words, lap + 1, year);
    return length < 0 ? 0 : (size_t)length;
}
