/*
 * Everything the program says that is not data: errors, warnings, notes and the progress line, all
 * on standard error; and what is known about the terminals at both ends. Fed by the commands and by
 * the library's callbacks.
 */
#define _GNU_SOURCE
#include "cli/terminal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/command.h"
#include "cli/error_show.h"
#include "cli/signals.h"
#include "cli/text.h"

enum { LINE_MAX_BYTES = 2048, WIDTH_DEFAULT = 80, WIDTH_LEAST = 20 };

static const double DRAW_EVERY = 0.1; /* seconds */

/* ---- what the terminals can do --------------------------------------------------------------- */

/* @return the value of an environment variable, "" when it is not set */
static const char *environment(const char *name) {
    const char *value = getenv(name); /* NOLINT(concurrency-mt-unsafe): nobody here sets one */
    return value != NULL ? value : "";
}

const char *terminal_temporary_directory(void) {
    const char *directory = environment("TMPDIR");
    return directory[0] != '\0' ? directory : "/tmp";
}

bool terminal_has_colour(int fd) {
    const char *no_colour = environment("NO_COLOR");
    const char *term = environment("TERM");
    if (no_colour[0] != '\0') return false;
    return isatty(fd) && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

size_t terminal_width(int fd) {
    struct winsize size;
    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= WIDTH_LEAST)
        return size.ws_col;
    return WIDTH_DEFAULT;
}

/* A full block is three bytes of UTF-8, and something else or nothing in every other charset. */
bool terminal_is_utf8(void) {
    static const char block[] = "\xe2\x96\x88";
    mbstate_t state = {0};
    wchar_t character = 0;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): it is, with a state of its own */
    return mbrtowc(&character, block, 3, &state) == 3 && character == 0x2588;
}

double terminal_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* A message may quote a broken file, and a file name may hold anything: no control byte of theirs
 * reaches the terminal. The two-byte C1 controls of UTF-8 are as able as ESC. */
void terminal_text_print(FILE *out, const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        bool is_c1 = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;
        if (is_c1) at++;
        if (is_c1 || *at < 0x20 || *at == 0x7f)
            fprintf(out, "\\x%02x", *at);
        else
            fputc(*at, out);
    }
}

/* Nor does a login in an address that was taken for something else: "describe does not take
 * "postgres://ann:secret@h"". */
static void print_masked(FILE *out, const char *text) {
    char masked[LINE_MAX_BYTES];
    dpmf_error_mask(text, masked, sizeof masked);
    terminal_text_print(out, masked);
    fputc('\n', out);
}

/* The whole text, which is masked before it is cut: half of a login has not the form of one. */
static void print_format(FILE *out, const char *format, va_list arguments) {
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) {
        print_masked(out, dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
        return;
    }
    print_masked(out, text);
    free(text);
}

static void print_error(FILE *out, const char *hint, const char *format, va_list arguments) {
    const bool colour = terminal_has_colour(STDERR_FILENO);
    fputs(colour ? "dpmf: \033[1;31merror:\033[0m " : "dpmf: error: ", out);
    print_format(out, format, arguments);
    if (hint == NULL || hint[0] == '\0') return;
    fputs("  ", out);
    print_masked(out, hint);
}

/* An error is written in one piece: standard error has no buffer, and whoever else writes there, as
 * mpirun does, would get between its letters. Without memory for that, letter by letter. */
int terminal_error_print(int status, const char *hint, const char *format, ...) {
    char *text = NULL;
    size_t n = 0;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    FILE *whole = open_memstream(&text, &n);
    if (whole) print_error(whole, hint, format, arguments);
    bool is_whole = whole && !ferror(whole); /* closing it need not say that memory ran out */
    if (whole && fclose(whole) == 0 && is_whole && n > 0)
        fwrite(text, 1, n, stderr);
    else
        print_error(stderr, hint, format, again);
    va_end(again);
    va_end(arguments);
    free(text);
    return status;
}

/* ---- notes and warnings ---------------------------------------------------------------------- */

static void erase_line(struct terminal *terminal) {
    if (terminal->is_drawn) fputs("\r\033[K", stderr);
    terminal->is_drawn = false;
}

void terminal_warning_show(void *self, const char *message) {
    char text[4 * DPMF_ERROR_TEXT_MAX];
    error_show_text(message, text, sizeof text);
    terminal_warning_print(self, text);
}

void terminal_warning_print(struct terminal *terminal, const char *message) {
    if (terminal->quiet) return;
    erase_line(terminal);
    fputs("dpmf: warning: ", stderr);
    print_masked(stderr, message);
}

void terminal_note_print(struct terminal *terminal, const char *format, ...) {
    if (terminal->quiet) return;
    erase_line(terminal);
    va_list arguments;
    va_start(arguments, format);
    print_format(stderr, format, arguments);
    va_end(arguments);
}

void terminal_alert_print(struct terminal *terminal, const char *format, ...) {
    erase_line(terminal);
    fputs("dpmf: warning: ", stderr);
    va_list arguments;
    va_start(arguments, format);
    print_format(stderr, format, arguments);
    va_end(arguments);
}

bool terminal_wait_for_interrupt(struct terminal *terminal, int seconds) {
    enum { LOOKS = 20 }; /* a second */
    const struct timespec moment = {.tv_nsec = 1000000000L / LOOKS};
    if (seconds == 0 || !isatty(STDERR_FILENO)) return signals_heed() != 0;
    erase_line(terminal);
    fprintf(stderr,
            "nothing has been spent yet; it begins in %d seconds, unless you press Ctrl-C\n",
            seconds);
    for (int i = 0; i < seconds * LOOKS && signals_heed() == 0; i++) nanosleep(&moment, NULL);
    return signals_heed() != 0;
}

/* ---- progress -------------------------------------------------------------------------------- */

static void end_phase(struct terminal *terminal, double now) {
    if (terminal->n_phases > 0)
        terminal->phases[terminal->n_phases - 1].seconds += now - terminal->phase_started;
    terminal->phase_started = now;
}

/* Beyond the table's end, the last phase takes all the time. */
static void follow_phase(struct terminal *terminal, const char *name, double now) {
    size_t n = terminal->n_phases;
    if (n > 0 && strcmp(terminal->phases[n - 1].name, name) == 0) return;
    end_phase(terminal, now);
    if (n == TERMINAL_PHASES_MAX) return;
    struct terminal_phase *phase = &terminal->phases[n];
    snprintf(phase->name, sizeof phase->name, "%s", name);
    phase->seconds = 0;
    terminal->n_phases++;
}

static size_t append(char *line, size_t at, size_t size, const char *format, ...) DPMF_PRINTF(4, 5);

static size_t append(char *line, size_t at, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line + at, size - at, format, arguments);
    va_end(arguments);
    return n < 0 || at + (size_t)n >= size ? size - 1 : at + (size_t)n;
}

static void draw(struct terminal *terminal, const struct dpmf_progress *progress, double now) {
    char line[256];
    size_t at = append(line, 0, sizeof line, "%s", progress->phase);
    double elapsed = now - terminal->phase_started;
    double done = (double)progress->done, total = (double)progress->total;

    if (progress->total > 0)
        at = append(line, at, sizeof line, "  %3.0f %%", 100 * (done < total ? done / total : 1));
    else
        at = append(line, at, sizeof line, "  %s %s", text_number(progress->done).text,
                    progress->unit);
    if (elapsed > 0.2 && progress->ratings > 0)
        at = append(line, at, sizeof line, "  %s",
                    text_rate((double)progress->ratings / elapsed, "ratings").text);
    if (elapsed > 0.5 && done > 0 && done < total)
        at = append(line, at, sizeof line, "  %s left",
                    text_seconds(elapsed * (total - done) / done).text);

    /* A line that wraps cannot be rewritten. */
    size_t width = terminal_width(STDERR_FILENO) - 1;
    if (at > width) line[width] = '\0';
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    terminal->is_drawn = true;
    terminal->last_drawn = now;
}

int terminal_progress_show(void *self, const struct dpmf_progress *progress) {
    struct terminal *terminal = self;
    double now = terminal_clock();
    follow_phase(terminal, progress->phase, now);
    if (terminal->draws && now - terminal->last_drawn >= DRAW_EVERY) draw(terminal, progress, now);
    return signals_heed() != 0;
}

void terminal_progress_end(struct terminal *terminal) {
    end_phase(terminal, terminal_clock());
    erase_line(terminal);
}

void terminal_phases_print(struct terminal *terminal) {
    if (!terminal->verbose) return;
    for (size_t i = 0; i < terminal->n_phases; i++)
        terminal_note_print(terminal, "  %-12s %s", terminal->phases[i].name,
                            text_seconds(terminal->phases[i].seconds).text);
}
