/*
 * The paper's power-law figure, written by hand as SVG: how many items have a given number of
 * ratings, both axes logarithmic. Points that would cover each other are drawn once, so that the
 * file stays small for any catalogue. It follows the reader's light or dark scheme. Fed by
 * describe.c; private, because counts of ratings are.
 */
#include "describe/power_law_plot.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "files/output_file.h"

enum {
    WIDTH = 720,
    HEIGHT = 480,
    LEFT = 76,
    RIGHT = 24,
    TOP = 52,
    BOTTOM = 64,
    CELL = 2,        /* the grid on which points become one, in pixels */
    LABELS_MAX = 10, /* ticks with a number on them */
};

struct plot {
    struct output_file *file;
    struct dpmf_error *error;
    int code;
    int x_decades, y_decades;
};

/* Writes on as long as nothing has gone wrong. */
static void put(struct plot *plot, const char *format, ...) DPMF_PRINTF(2, 3);

static void put(struct plot *plot, const char *format, ...) {
    if (plot->code != 0) return;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof text)
        plot->code = error_set(plot->error, DPMF_ERR_BASE_BUG, "a line of the plot is too long");
    else
        plot->code = output_file_write(plot->file, text, (size_t)n, plot->error);
}

/* The decades an axis needs from 1 to hold `largest`: at least one. */
static int decades_for(uint64_t largest) {
    int n = 1;
    for (uint64_t power = 10; n < 19 && power < largest; power *= 10) n++;
    return n;
}

/* In quarters of a pixel: whole numbers read the same in every locale. */
static int x_of(const struct plot *plot, double count) {
    assert(count >= 1);
    return (int)lround(4.0 * (LEFT + (WIDTH - LEFT - RIGHT) * log10(count) / plot->x_decades));
}

static int y_of(const struct plot *plot, double items) {
    assert(items >= 1);
    return (int)lround(
        4.0 * (HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * log10(items) / plot->y_decades));
}

static void put_head(struct plot *plot, size_t n) {
    put(plot,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
        "height=\"%d\" role=\"img\" aria-labelledby=\"t\">\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    put(plot, "<title id=\"t\">Number of items by number of ratings, %zu items, log-log</title>\n",
        n);
    put(plot, "<style>\n"
              "path{fill:none}.paper{fill:#fff}.grid{stroke:#ddd}.axis{stroke:#222}\n"
              ".dots{stroke:#1f6fb2;stroke-width:14;stroke-linecap:round;stroke-opacity:.75}\n"
              "text{fill:#222;font:13px system-ui,sans-serif}\n"
              ".title{font-size:16px;font-weight:600}\n"
              "@media (prefers-color-scheme:dark){.paper{fill:#16181c}.grid{stroke:#383c44}"
              ".axis{stroke:#e4e4e4}.dots{stroke:#6cb6ff}text{fill:#e4e4e4}}\n"
              "</style>\n");
    put(plot, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH, HEIGHT);
    put(plot, "<text class=\"title\" x=\"%d\" y=\"30\">Items by number of ratings</text>\n", LEFT);
}

/* 1, 10, 100, ... in full while they are short, then as powers. */
static void put_label(struct plot *plot, const char *place, int decade) {
    static const char *const words[] = {"1", "10", "100", "1 000", "10 000", "100 000"};
    if (decade < (int)(sizeof words / sizeof words[0]))
        put(plot, "<text %s>%s</text>\n", place, words[decade]);
    else
        put(plot, "<text %s>10<tspan dy=\"-5\" font-size=\"10\">%d</tspan></text>\n", place,
            decade);
}

static void put_axes(struct plot *plot) {
    char place[96];
    int x_every = plot->x_decades / LABELS_MAX + 1, y_every = plot->y_decades / LABELS_MAX + 1;
    for (int d = 0; d <= plot->x_decades; d += x_every) {
        int x = LEFT + (WIDTH - LEFT - RIGHT) * d / plot->x_decades;
        put(plot, "<path class=\"grid\" d=\"M%d %dV%d\"/>\n", x, TOP, HEIGHT - BOTTOM + 5);
        snprintf(place, sizeof place, "x=\"%d\" y=\"%d\" text-anchor=\"middle\"", x,
                 HEIGHT - BOTTOM + 21);
        put_label(plot, place, d);
    }
    for (int d = 0; d <= plot->y_decades; d += y_every) {
        int y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * d / plot->y_decades;
        put(plot, "<path class=\"grid\" d=\"M%d %dH%d\"/>\n", LEFT - 5, y, WIDTH - RIGHT);
        snprintf(place, sizeof place, "x=\"%d\" y=\"%d\" text-anchor=\"end\"", LEFT - 9, y + 4);
        put_label(plot, place, d);
    }
    put(plot, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, HEIGHT - BOTTOM,
        WIDTH - RIGHT);
    put(plot,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">number of ratings of an item</text>\n",
        LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 16);
    put(plot,
        "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">"
        "number of items</text>\n",
        TOP + (HEIGHT - TOP - BOTTOM) / 2);
}

/* One path of dots (a line of no length with round ends is a dot). Equal counts stand together; in
 * a column of the grid, each row is drawn once. */
static void put_points(struct plot *plot, const uint64_t *counts, size_t n) {
    bool drawn[HEIGHT / CELL + 1] = {false};
    int column = -1;
    put(plot, "<path class=\"dots\" transform=\"scale(.25)\" d=\"");
    for (size_t i = 0; i < n && plot->code == 0;) {
        size_t end = i + 1;
        while (end < n && counts[end] == counts[i]) end++;
        if (counts[i] > 0) { /* an item without ratings has no place on a logarithmic axis */
            int x = x_of(plot, (double)counts[i]), y = y_of(plot, (double)(end - i));
            if (x / (4 * CELL) != column) {
                column = x / (4 * CELL);
                for (size_t r = 0; r < sizeof drawn / sizeof drawn[0]; r++) drawn[r] = false;
            }
            if (!drawn[y / (4 * CELL)]) put(plot, "M%d %dh0\n", x, y);
            drawn[y / (4 * CELL)] = true;
        }
        i = end;
    }
    put(plot, "\"/>\n</svg>\n");
}

/* The largest number of items that have the same number of ratings. */
static uint64_t most_items(const uint64_t *counts, size_t n) {
    uint64_t most = 0;
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        while (end < n && counts[end] == counts[i]) end++;
        if (counts[i] > 0 && end - i > most) most = end - i;
        i = end;
    }
    return most;
}

int power_law_plot_write(const char *path, const uint64_t *counts, size_t n,
                         struct dpmf_error *error) {
    struct plot plot = {.error = error,
                        .x_decades = decades_for(n > 0 ? counts[n - 1] : 1),
                        .y_decades = decades_for(most_items(counts, n))};
    int code = output_file_open(&plot.file, path, OUTPUT_PRIVATE, error);
    if (code != 0) return code;
    put_head(&plot, n);
    put_axes(&plot);
    put_points(&plot, counts, n);
    if (plot.code == 0) return output_file_commit(plot.file, error);
    output_file_abandon(plot.file);
    return plot.code;
}
