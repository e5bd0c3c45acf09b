/*
 * The ledger in words. Figures are rounded against the release: what is spent up, what is allowed
 * down. Fed by the structs of dpmf.h; feeds standard error and `dpmf ledger show`.
 */
#define _GNU_SOURCE
#include "shared/ledger_words.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/text.h"
#include "shared/privacy_figures.h"

/* At which a budget given as a mu is shown. */
static const double usual_delta = 1e-5;

/* Behind what is there already; what does not fit is left out. */
static void append(struct ledger_words *words, const char *format, ...) DPMF_PRINTF(2, 3);
static void append(struct ledger_words *words, const char *format, ...) {
    size_t n = strlen(words->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words->text + n, sizeof words->text - n, format, arguments);
    va_end(arguments);
}

struct ledger_words ledger_words_budget(const struct dpmf_budget *budget) {
    struct ledger_words words = {""};
    if (budget->epsilon > 0)
        append(&words, "epsilon %s at delta %s (mu %s)", figures_exact(budget->epsilon).text,
               figures_exact(budget->delta).text, figures_down(budget->mu).text);
    else
        append(&words, "mu %s (epsilon %s at delta %s)", figures_exact(budget->mu).text,
               figures_up(dpmf_privacy_epsilon(budget->mu, usual_delta)).text,
               figures_exact(usual_delta).text);
    return words;
}

static bool is_over_budget(const struct dpmf_ledger_population *population) {
    const struct dpmf_budget *budget = &population->budget;
    return budget->mu > 0 && !(population->mu <= budget->mu) &&
           !(budget->epsilon > 0 && population->epsilon <= budget->epsilon);
}

struct ledger_words ledger_words_spent(const struct dpmf_ledger_population *population) {
    const struct dpmf_budget *budget = &population->budget;
    const uint64_t releases = population->committed + population->reserved;
    struct ledger_words words = {"nothing is spent"};
    if (releases > 0) {
        words.text[0] = '\0';
        append(&words, "mu %s in %s, epsilon %s", figures_up(population->mu).text,
               text_count(releases, "release").text, figures_up(population->epsilon).text);
        if (population->delta > 0)
            append(&words, " at delta %s", figures_exact(population->delta).text);
    }
    if (population->claim == DPMF_CLAIM_CONDITIONAL)
        append(&words, ", conditional on convergence");
    else if (population->claim != DPMF_CLAIM_PROVEN)
        append(&words, ", %s, not proven", dpmf_claim_name(population->claim));
    if (budget->mu > 0)
        append(&words, "; budget %s", ledger_words_budget(budget).text);
    else
        append(&words, "; no budget: an odometer");
    if (is_over_budget(population)) append(&words, ", OVER BUDGET");
    return words;
}

static void append_count(struct ledger_words *words, uint64_t n, const char *what) {
    if (n > 0) append(words, "%s%s %s", words->text[0] ? ", " : "", text_number(n).text, what);
}

struct ledger_words ledger_words_counts(const struct dpmf_ledger_population *population) {
    struct ledger_words words = {""};
    append_count(&words, population->committed, "published");
    append_count(&words, population->reserved, "reserved");
    append_count(&words, population->returned, "returned");
    if (population->returned > 0)
        append(&words, " (mu %s if published after all)",
               figures_up(population->mu_with_returned).text);
    append_count(&words, population->research,
                 population->research == 1 ? "research run" : "research runs");
    append_count(&words, population->tuning,
                 population->tuning == 1 ? "tuning run" : "tuning runs");
    return words;
}

struct ledger_words ledger_words_periods(const struct dpmf_ledger_population *population) {
    struct ledger_words words = {""};
    append(&words, "%s of users by their first record",
           text_count(population->periods, "release").text);
    if (population->mu < population->mu_in_full)
        append(&words,
               ", added up only where periods overlap: histories are declared complete, which dpmf "
               "cannot check; in full mu %s",
               figures_up(population->mu_in_full).text);
    else
        append(&words, ", added up in full: users may be in several, unless histories are declared "
                       "complete and periods do not overlap");
    return words;
}

/* ---- a new ledger ---------------------------------------------------------------------------- */

static int stop_at_once(void *self, const struct dpmf_ledger_population *population,
                        const struct dpmf_ledger_entry *entry) {
    (void)self, (void)population, (void)entry;
    return 1;
}

/* That something is wrong with a ledger that is there is for the library to say. */
static bool is_missing(const char *path) {
    struct dpmf_error error = {0};
    return dpmf_ledger_visit(path, NULL, stop_at_once, NULL, &error) == DPMF_ERR_IO_MISSING &&
           error.file[0] != '\0';
}

static bool says_yes(void) {
    char answer[16];
    if (fgets(answer, sizeof answer, stdin) == NULL) return false;
    return strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0;
}

int ledger_words_offer(struct invocation *invocation) {
    const char *path = invocation->value[OPTION_LEDGER];
    struct dpmf_error error = {0};
    if (invocation->cluster != NULL || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) ||
        !is_missing(path))
        return STATUS_DONE;
    char *own = path ? NULL : dpmf_ledger_path();
    fputs("there is no ledger at ", stderr);
    terminal_text_print(stderr, path ? path : own ? own : "its usual place");
    fputs(" yet: what was spent before will not be in it. Make it? [y/N] ", stderr);
    free(own);
    if (!says_yes())
        return terminal_error_print(STATUS_REFUSED,
                                    "give the path of the ledger that has what was spent",
                                    "no ledger was made, and nothing was spent");
    if (dpmf_ledger_init(path, &invocation->run, &error) < 0)
        return report_error_print(invocation, &error);
    return STATUS_DONE;
}

static int look_for_name(void *self, const struct dpmf_ledger_population *population,
                         const struct dpmf_ledger_entry *entry) {
    struct ledger_names *names = self;
    if (entry != NULL) return 0;
    if (strcmp(population->name, names->name) == 0)
        names->is_known = true;
    else
        names->others++;
    return 0;
}

void ledger_words_look(const char *ledger, struct ledger_names *names) {
    dpmf_ledger_visit(ledger, NULL, look_for_name, names, NULL);
}

/* As before a release: a name that is misspelled gets a budget of its own. */
void ledger_words_tell_new(struct terminal *terminal, const struct ledger_names *names) {
    if (names->is_known) return;
    if (names->others > 0)
        terminal_alert_print(terminal,
                             "population \"%s\" is new to the ledger, which knows %s: check the "
                             "name, since each has a budget of its own",
                             names->name, text_count(names->others, "other").text);
    else
        terminal_note_print(terminal, "population \"%s\" is new to the ledger", names->name);
}
