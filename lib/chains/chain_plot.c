/*
 * The chains' traces as SVG: a panel for each functional, a line for each chain, the rounds of the
 * burn-in shaded, R-hat and effective sample size beside the name. Each line has at most two points
 * a pixel column (the smallest and the largest there), so that the file stays small for any number
 * of rounds. Self-contained; follows the reader's light or dark scheme. Fed by chain_monitor.c;
 * private, because traces of private data are.
 */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "chains/chain_trace.h"
#include "chains/mixing.h"
#include "files/output_file.h"

enum {
    WIDTH = 760,
    LEFT = 84,
    RIGHT = 20,
    HEAD = 44,       /* above the first panel */
    PANEL = 132,     /* from panel to panel */
    PANEL_HEAD = 24, /* height of the name above the traces */
    PANEL_PLOT = 92, /* and the traces */
    FOOT = 44,       /* below the last panel */
    COLOURS = 6,
    COLUMNS = WIDTH - LEFT - RIGHT,
};

struct picture {
    const struct chain_monitor *monitor;
    struct output_file *file;
    struct dpmf_error *error;
    int code;
    size_t rounds, burn_in;
};

/* What a panel shows, and where. */
struct panel {
    size_t functional;
    int top; /* top of the traces, in pixels */
    double low, high;
};

static void put(struct picture *picture, const char *format, ...) DPMF_PRINTF(2, 3);

static void put(struct picture *picture, const char *format, ...) {
    char text[1536];
    va_list arguments;
    if (picture->code != 0) return;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof text)
        picture->code =
            error_set(picture->error, DPMF_ERR_BASE_BUG, "a line of the plot is too long");
    else
        picture->code = output_file_write(picture->file, text, (size_t)n, picture->error);
}

/* Names may hold what XML means something by. */
static void put_escaped(struct picture *picture, const char *text) {
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<' || c == '>' || c == '&' || c == '"')
            put(picture, "&#%d;", c);
        else
            put(picture, "%c", c < 0x20 ? ' ' : c);
    }
}

/* Four digits, read the same in every locale. */
static void put_number(struct picture *picture, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    for (char *at = text; *at != '\0'; at++)
        if (*at == ',') *at = '.';
    put(picture, "%s", text);
}

static void put_head(struct picture *picture, int height) {
    assert(height > 0);
    put(picture,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
        "height=\"%d\" role=\"img\" aria-labelledby=\"t\">\n"
        "<title id=\"t\">Traces of %u chains over %zu rounds</title>\n",
        WIDTH, height, WIDTH, height, picture->monitor->n_chains, picture->rounds);
    put(picture,
        "<style>\n"
        ".paper{fill:#fff}.burn{fill:#000;fill-opacity:.07}.frame{fill:none;stroke:#999}\n"
        "text{fill:#222;font:12px system-ui,sans-serif}.title{font-size:16px;font-weight:600}\n"
        ".name{font-weight:600}.bad{fill:#b3261e}\n"
        ".line{fill:none;stroke-width:4;stroke-linejoin:round;stroke-opacity:.85}\n"
        ".c0{stroke:#1f6fb2}.c1{stroke:#c2570c}.c2{stroke:#2b8a3e}.c3{stroke:#9c36b5}"
        ".c4{stroke:#8a6d00}.c5{stroke:#0b7285}\n"
        "@media (prefers-color-scheme:dark){.paper{fill:#16181c}.burn{fill:#fff;fill-opacity:.1}"
        ".frame{stroke:#777}text{fill:#e4e4e4}.bad{fill:#ff8a80}.c0{stroke:#6cb6ff}"
        ".c1{stroke:#ffa94d}.c2{stroke:#69db7c}.c3{stroke:#e599f7}.c4{stroke:#ffe066}"
        ".c5{stroke:#66d9e8}}\n"
        "</style>\n");
    put(picture, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH, height);
    put(picture, "<text class=\"title\" x=\"%d\" y=\"27\">%u chain%s, %zu rounds</text>\n", LEFT,
        picture->monitor->n_chains, picture->monitor->n_chains == 1 ? "" : "s", picture->rounds);
}

/* ---- scales ---------------------------------------------------------------------------------- */

static void widen(struct panel *panel, const struct picture *picture, size_t from) {
    for (uint32_t c = 0; c < picture->monitor->n_chains; c++)
        for (size_t i = from; i < picture->rounds; i++) {
            double value = chain_trace_at(picture->monitor, c, i, panel->functional);
            if (!isfinite(value)) continue;
            panel->low = fmin(panel->low, value);
            panel->high = fmax(panel->high, value);
        }
}

/* What comes after the burn-in, and of what is before as much again above and below: a chain that
 * starts far away would else be all that can be seen. */
static struct panel scale_panel(const struct picture *picture, size_t functional, int top) {
    struct panel whole = {functional, top, INFINITY, -INFINITY}, panel = whole;
    widen(&whole, picture, 0);
    widen(&panel, picture, picture->burn_in);
    if (!(panel.low <= panel.high)) panel = whole;
    if (!(panel.low <= panel.high)) return (struct panel){functional, top, -1, 1};
    double spread = panel.high / 2 - panel.low / 2; /* halved: the whole might be infinite */
    panel.low = fmax(whole.low, panel.low - 2 * spread);
    panel.high = fmin(whole.high, panel.high + 2 * spread);
    if (panel.low == panel.high) {
        double room = fmax(fabs(panel.low) * 0.01, 1e-9);
        panel.low -= room;
        panel.high += room;
    }
    return panel;
}

/* In quarters of a pixel: whole numbers read the same in every locale. Outside of the panel is its
 * edge. */
static int y_of(const struct panel *panel, double value) {
    double at = (value / 2 - panel->low / 2) / (panel->high / 2 - panel->low / 2);
    at = fmin(fmax(at, 0), 1);
    return (int)lround(4.0 * (panel->top + PANEL_PLOT * (1 - at)));
}

static size_t column_of(const struct picture *picture, size_t round) {
    size_t last = picture->rounds > 1 ? picture->rounds - 1 : 1;
    return (size_t)((double)round * (COLUMNS - 1) / (double)last);
}

/* ---- a panel --------------------------------------------------------------------------------- */

static void put_line(struct picture *picture, const struct panel *panel, uint32_t chain) {
    char mark = 'M';
    put(picture, "<path class=\"line c%u\" transform=\"scale(.25)\" d=\"", chain % COLOURS);
    for (size_t i = 0; i < picture->rounds && picture->code == 0;) {
        size_t column = column_of(picture, i);
        double low = INFINITY, high = -INFINITY;
        bool falls = false;
        for (; i < picture->rounds && column_of(picture, i) == column; i++) {
            double value = chain_trace_at(picture->monitor, chain, i, panel->functional);
            if (!isfinite(value)) continue;
            falls = value < low && high > -INFINITY;
            low = fmin(low, value);
            high = fmax(high, value);
        }
        if (!(low <= high)) continue;
        int x = 4 * (LEFT + (int)column), first = y_of(panel, falls ? high : low);
        put(picture, "%c%d %d\n", mark, x, first);
        if (low != high) put(picture, "L%d %d\n", x, y_of(panel, falls ? low : high));
        mark = 'L';
    }
    put(picture, "\"/>\n");
}

static void put_name(struct picture *picture, const struct panel *panel) {
    struct mixing mixing = {.rhat = INFINITY};
    int y = panel->top - 8;
    if (picture->code == 0)
        picture->code = chain_trace_judge(picture->monitor, panel->functional,
                                          (uint32_t)picture->burn_in, &mixing, picture->error);
    if (picture->code < 0) return;
    put(picture, "<text class=\"name\" x=\"%d\" y=\"%d\">", LEFT, y);
    put_escaped(picture, picture->monitor->names[panel->functional]);
    put(picture, "</text>\n");
    bool is_bad =
        !mixing.is_constant && !(mixing.rhat < CHAIN_RHAT_MAX && mixing.ess >= CHAIN_ESS_MIN);
    put(picture, "<text%s x=\"%d\" y=\"%d\" text-anchor=\"end\">", is_bad ? " class=\"bad\"" : "",
        WIDTH - RIGHT, y);
    if (mixing.is_constant)
        put(picture, "constant");
    else if (!isfinite(mixing.rhat))
        put(picture, "R-hat and ESS cannot be computed");
    else {
        put(picture, "R-hat ");
        put_number(picture, mixing.rhat);
        put(picture, ", ESS %.0f", floor(mixing.ess));
    }
    put(picture, "</text>\n");
}

static void put_panel(struct picture *picture, const struct panel *panel) {
    size_t shaded =
        picture->burn_in < picture->rounds ? column_of(picture, picture->burn_in) : COLUMNS;
    put_name(picture, panel);
    if (shaded > 0)
        put(picture, "<rect class=\"burn\" x=\"%d\" y=\"%d\" width=\"%zu\" height=\"%d\"/>\n", LEFT,
            panel->top, shaded, PANEL_PLOT);
    put(picture, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT,
        panel->top, COLUMNS, PANEL_PLOT);
    for (int end = 0; end < 2; end++) {
        put(picture, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 6,
            panel->top + (end == 0 ? 10 : PANEL_PLOT));
        put_number(picture, end == 0 ? panel->high : panel->low);
        put(picture, "</text>\n");
    }
    for (uint32_t c = 0; c < picture->monitor->n_chains; c++) put_line(picture, panel, c);
}

static void put_foot(struct picture *picture, int height) {
    put(picture, "<text x=\"%d\" y=\"%d\">round 1</text>\n", LEFT, height - FOOT + 4);
    put(picture, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%zu</text>\n", WIDTH - RIGHT,
        height - FOOT + 4, picture->rounds);
    put(picture,
        "<text x=\"%d\" y=\"%d\">%zu rounds of burn-in are shaded. Chains that agree are no proof "
        "of "
        "convergence.</text>\n</svg>\n",
        LEFT, height - 14, picture->burn_in);
}

int chain_monitor_plot(const struct chain_monitor *monitor, uint32_t burn_in, const char *path,
                       struct dpmf_error *error) {
    struct picture picture = {.monitor = monitor, .error = error};
    int height = HEAD + FOOT + PANEL * (int)monitor->n_functionals;
    picture.rounds = chain_trace_rounds(monitor);
    picture.burn_in = burn_in < picture.rounds ? burn_in : picture.rounds;
    int code = output_file_open(&picture.file, path, OUTPUT_PRIVATE, error);
    if (code < 0) return code;
    put_head(&picture, height);
    for (size_t f = 0; f < monitor->n_functionals && picture.code == 0; f++) {
        struct panel panel = scale_panel(&picture, f, HEAD + PANEL * (int)f + PANEL_HEAD);
        put_panel(&picture, &panel);
    }
    put_foot(&picture, height);
    if (picture.code == 0) return output_file_commit(picture.file, error);
    output_file_abandon(picture.file);
    return picture.code;
}
