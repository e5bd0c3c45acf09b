/*
 * Small text: numbers as people read them, and wrapped paragraphs. Fed by every command; feeds the
 * help, the summaries and the error messages.
 */
#include "cli/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "dpmf.h"
#include "dpmf_text.h"

struct short_text text_number(uint64_t n) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    struct short_text out;
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

struct short_text text_count(uint64_t n, const char *singular) {
    struct short_text out;
    snprintf(out.text, sizeof out.text, "%.26s %.30s%s", text_number(n).text, singular,
             n == 1 ? "" : "s");
    return out;
}

/* Three digits at least, and a unit of `base`'s powers. */
static struct short_text scaled(double value, double base, const char *const *units) {
    struct short_text out;
    size_t unit = 0;
    while (value >= base && units[unit + 1] != NULL) {
        value /= base;
        unit++;
    }
    bool is_whole = value == floor(value);
    snprintf(out.text, sizeof out.text, "%.*f %s", is_whole || value >= 100 ? 0 : 1, value,
             units[unit]);
    return out;
}

struct short_text text_bytes(uint64_t n) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", NULL};
    if (n == 1) return (struct short_text){"1 byte"};
    return scaled((double)n, 1000, units);
}

struct short_text text_binary_bytes(uint64_t n) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", NULL};
    return scaled((double)n, 1024, units);
}

struct short_text text_rate(double per_second, const char *unit) {
    static const char *const scales[] = {"", "k", "M", "G", NULL};
    struct short_text out = scaled(floor(per_second), 1000, scales);
    size_t length = strlen(out.text);
    bool has_scale = out.text[length - 1] != ' ';
    snprintf(out.text + length, sizeof out.text - length, "%s%s/s", has_scale ? " " : "", unit);
    return out;
}

struct short_text text_seconds(double seconds) {
    struct short_text out;
    if (!(seconds >= 0)) seconds = 0;
    if (seconds < 10) {
        snprintf(out.text, sizeof out.text, "%.*f s", seconds < 0.095 ? 2 : 1, seconds);
    } else if (seconds < 60) {
        snprintf(out.text, sizeof out.text, "%.0f s", seconds);
    } else if (seconds < 3600) {
        snprintf(out.text, sizeof out.text, "%d min %d s", (int)seconds / 60, (int)seconds % 60);
    } else {
        double minutes = floor(seconds / 60);
        snprintf(out.text, sizeof out.text, "%.0f h %.0f min", floor(minutes / 60),
                 fmod(minutes, 60));
    }
    return out;
}

struct short_text text_double(double value) {
    struct short_text out;
    char text[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(value, text);
    snprintf(out.text, sizeof out.text, "%s", text);
    return out;
}

struct short_text text_figure(double value) {
    struct short_text out;
    double size = fabs(value);
    snprintf(out.text, sizeof out.text,
             size == 0 || (size >= 1e-3 && size < 1e12) ? "%.4f" : "%.5g", value);
    return out;
}

struct short_text text_measure(double value) {
    struct short_text out;
    const double size = fabs(value);
    snprintf(out.text, sizeof out.text,
             size == 0 || !isfinite(value) || (size >= 0.1 && size < 1e12) ? "%.4f" : "%.4g",
             value);
    return out;
}

int text_places(int usual, double low, double high) {
    const int most = 40; /* ratings are floats: the smallest is about 1e-38 */
    double width = high - low;
    if (!(width > 0)) width = fmax(fabs(low), fabs(high));
    if (!(width > 0) || width >= 1) return usual;
    const double more = ceil(-log10(width) - 1e-9);
    return more < most ? usual + (int)more : usual + most;
}

struct short_text text_time(int64_t unix_seconds) {
    struct short_text out;
    struct tm parts;
    time_t when = (time_t)unix_seconds;
    /* A year of five digits is no date: such files count something else, or other units. */
    if (gmtime_r(&when, &parts) == NULL || parts.tm_year + 1900 < 1900 ||
        parts.tm_year + 1900 > 9999 ||
        strftime(out.text, sizeof out.text, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        snprintf(out.text, sizeof out.text, "%" PRId64, unix_seconds);
    return out;
}

struct short_text text_system_error(int number) {
    struct short_text out;
    if (strerror_r(number, out.text, sizeof out.text) != 0)
        snprintf(out.text, sizeof out.text, "system error %d", number);
    /* "Is a directory", but not "I/O error" or "RFS-specific error" */
    if (islower((unsigned char)out.text[1]) || out.text[1] == ' ')
        out.text[0] = (char)tolower((unsigned char)out.text[0]);
    return out;
}

void text_wrap(FILE *out, const char *text, size_t column, size_t indent, size_t width) {
    bool is_first = true;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (!is_first && column + 1 + length > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, length, out);
        column += length;
        is_first = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}
