/*
 * How the command line shows what the library reports: the exit status of each code, and settings
 * as the options that they are here. Fed by everything in programs/ that prints an error or a
 * warning.
 */
#include "cli/error_show.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"

/* ---- exit statuses --------------------------------------------------------------------------- */

/* One code that differs from the rest of its hundred, or a hundred. The first that fits counts. */
static const struct {
    int code, status;
} statuses[] = {
    {DPMF_OK, STATUS_DONE},

    {DPMF_ERR_BASE_CANCELLED, STATUS_INTERRUPTED},
    {DPMF_ERR_BASE_BUG, STATUS_BUG},
    {DPMF_ERR_BASE_NOT_DEFINITE, STATUS_DIVERGED},
    {DPMF_ERR_RATINGS_SHAPE, STATUS_USAGE},
    {DPMF_ERR_TRAIN_DIVERGED, STATUS_DIVERGED},
    {DPMF_ERR_PRIVACY_REFUSED, STATUS_REFUSED},
    {DPMF_ERR_PRIVACY_BUDGET, STATUS_REFUSED},
    {DPMF_ERR_PRIVACY_NOT_VERIFIED, STATUS_NO},
    {DPMF_ERR_PRIVACY_ACCUSED, STATUS_NO},

    {-100, STATUS_IO},    /* BASE: memory, threads, random bytes */
    {-200, STATUS_USAGE}, /* USAGE */
    {-300, STATUS_IO},    /* IO */
    {-400, STATUS_INPUT}, /* INPUT */
    {-500, STATUS_INPUT}, /* STORE */
    {-600, STATUS_INPUT}, /* RATINGS */
    {-700, STATUS_INPUT}, /* MODEL */
    {-800, STATUS_INPUT}, /* TRAIN: the snapshot of another run */
    {-900, STATUS_INPUT}, /* PRIVACY: a damaged ledger */
    {-1000, STATUS_IO},   /* CLUSTER */
};

int error_exit_status(int code) {
    if (dpmf_error_name(code) == NULL) return STATUS_BUG; /* no code of the library */
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].code == code || statuses[i].code == code / 100 * 100)
            return statuses[i].status;
    return STATUS_BUG;
}

/* ---- settings -------------------------------------------------------------------------------- */

/* Whether a shell would take the value for one word that stands for itself. */
static bool is_plain(const char *value) {
    return value[0] != '\0' && strpbrk(value, " \t\n'\"\\$`&|;<>()*#!{}") == NULL;
}

/* In quotes where a shell needs them: the line is there to be copied. */
static int write_value(const char *value, char *text, size_t size) {
    size_t n = 0;
    if (is_plain(value)) return snprintf(text, size, "%s", value);
    for (const char *at = value; *at && n + 8 < size; at++) {
        if (at == value) text[n++] = '\'';
        if (*at == '\'') n += (size_t)snprintf(text + n, size - n, "'\\'");
        text[n++] = *at;
    }
    return (int)n + snprintf(text + n, size - n, "'");
}

/* {memory 2GiB} is --memory 2GiB here, and {:ledger show} is dpmf ledger show. */
static int write_option(void *self, const char *name, const char *value, char *text, size_t size) {
    (void)self;
    char shown[2 * DPMF_ERROR_TEXT_MAX] = "";
    bool is_task = name[0] == ':';
    if (value && is_task) snprintf(shown, sizeof shown, "%s", value);
    if (value && !is_task) write_value(value, shown, sizeof shown);
    return snprintf(text, size, "%s%s%s%s", is_task ? "dpmf " : "--", name + is_task,
                    value ? " " : "", shown);
}

void error_show_text(const char *text, char *out, size_t size) {
    dpmf_error_text(text, write_option, NULL, out, size);
}

void error_show(const struct dpmf_error *error, char *out, size_t size) {
    dpmf_error_format(error, write_option, NULL, out, size);
}
