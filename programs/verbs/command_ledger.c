/*
 * dpmf ledger: making one, what the releases of each population have spent, giving back what was
 * never published, and budgets. The table of its commands, which are verbs in their own right, and
 * what they do. Fed by the ledger.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/ledger_words.h"
#include "shared/privacy_figures.h"

/* ---- the table ------------------------------------------------------------------------------- */

static int run_init(struct invocation *invocation);
static int run_show(struct invocation *invocation);
static int run_return(struct invocation *invocation);
static int run_budget(struct invocation *invocation);
static int run_without_part(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */

#define LEDGER_OPTION                                                                              \
    {.id = OPTION_LEDGER, .name = "ledger",                                                        \
     .value = {VALUE_FILE, "FILE", "team.ledger", NULL, NULL},                                     \
     .help = "the ledger (default: $XDG_STATE_HOME/dpmf/ledger, or ~/.local/state/dpmf/ledger)"}

static const struct option show_options[] = {
    {.id = OPTION_POPULATION, .name = "population",
     .value = {VALUE_TEXT, "NAME", "movies", NULL, NULL},
     .help = "only what this population has spent"},
    LEDGER_OPTION,
    {0},
};

static const struct option no_options[] = {{0}};

static const struct option change_options[] = {LEDGER_OPTION, {0}};

static const struct option budget_options[] = {
    LEDGER_OPTION,
    {.id = OPTION_ACCEPT_EPSILON, .name = "accept-epsilon", .value = {.kind = VALUE_NONE},
     .help = "allow a budget above mu 3.45, for releases made with train --accept-epsilon"},
    {0},
};

/* clang-format on */

/* A run that was killed, for the examples: it left a reservation. */
#define SOME_LEDGER                                                                                \
    "printf '%s\\n' "                                                                              \
    "'{\"dpmf\":\"ledger\",\"version\":1,\"generation\":1,\"check\":\"26d2a461c742d7d8\"}' "       \
    "'{\"release\":\"0b9c4f3e7d1a48f2a6e55c8812d0f3aa\",\"population\":\"movies\","                \
    "\"state\":\"reserved\",\"kind\":\"proven\",\"mu\":0.2,\"delta\":0.00001,\"epsilon\":0.8,"     \
    "\"time\":1718000000,\"check\":\"43ba2f2be2cab83f\"}' "                                        \
    "'{\"end\":1,\"check\":\"f5aa0a19b1cd57cc\"}' >team.ledger; chmod 600 team.ledger; "           \
    "dpmf ledger init -q team.ledger"

static const struct verb ledger_init = {
    .name = "ledger init",
    .summary = "make a new ledger",
    .synopsis = "[FILE] [options]",
    .paragraphs =
        {
            "Makes an empty ledger, and the directories it needs: FILE, or "
            "$XDG_STATE_HOME/dpmf/ledger, or ~/.local/state/dpmf/ledger. If there is a ledger "
            "already, or there was one that has vanished, this is refused. A ledger that was "
            "copied here without its lock file, FILE.lock, for example from another machine, is "
            "refused by all other commands, since it could be an old copy: this command accepts it "
            "as the newest.",
            "Only this command makes a ledger at a path of your own (or answering yes at a "
            "terminal does): a path that is mistyped in a script must not begin a second ledger "
            "that knows nothing of the first. The one in the usual place is also made by the first "
            "release, which says so.",
        },
    .groups = {{"Options", no_options}},
    .operands = {{VALUE_OUTPUT, "FILE", "team.ledger", NULL, NULL}, 0, 1},
    .exit_note = "3 when there is a ledger already.",
    .examples = {{"Before the first release", "dpmf ledger init team.ledger", NULL}},
    .run = run_init,
};

static const struct verb ledger_show = {
    .name = "ledger show",
    .summary = "list what each population has spent, release by release",
    .synopsis = "[--population NAME] [--ledger FILE] [options]",
    .paragraphs =
        {
            "Prints for each population what its releases have spent together: mu, composed "
            "exactly, and epsilon at the budget's delta; without a budget that was declared with "
            "one, at 1e-5 or the smallest delta that a release claims, whichever is smaller. Below "
            "it are the releases, in the order they were reserved.",
            "A release is reserved before it is made and committed when it is published; both "
            "count. Where a run died in between, the reservation stays until someone who knows "
            "that nothing was published returns it; what is returned no longer counts, and mu is "
            "also printed as it would be if it did. Runs with --research, and of dpmf tune with "
            "--population, are listed and counted, but are not in the sum: no epsilon bounds what "
            "they showed. If one release is conditional on convergence, so is the total; "
            "otherwise, if one is partial, so is the total. A ledger of 0.1.0 does not record what "
            "is partial: what it calls proven is shown as partial.",
            "Releases of users by their first record (train --users-since, --users-before) add up "
            "in full, since a user who returns may be in several: in an extract without their "
            "first record they look new. Only where --complete-histories was declared does such a "
            "release count for the days of its period alone; then the largest sum of any day is "
            "what is spent. Where that is less than the sum of all, the total is partial at best, "
            "and mu in full is printed beside it.",
            "Without a budget the total is an odometer: it shows what was spent, and stops "
            "nothing. If how much to spend, or whether to continue, was decided by looking at "
            "earlier releases, only a budget set before them is a proven bound.",
            "With --json it prints one object per line: for each population one with event "
            "\"population\", population, epsilon, delta, mu, mu_with_returned, mu_in_full, periods "
            "(releases of users by their first record), kind, budget_mu, "
            "budget_epsilon and budget_delta (null: none, or not declared), committed, reserved, "
            "returned, research and tuning, and for each of its releases one with event "
            "\"release\", population, release, state, kind, epsilon, delta, mu and time, in "
            "seconds since 1970, and users_since, users_before and complete_histories where it is "
            "of users by their first record; for other runs one with event \"run\", population, "
            "run, use and "
            "time.",
        },
    .groups = {{"Options", show_options}},
    .operands = {{.kind = VALUE_NONE}, 0, 0},
    .exit_note = "1 when the ledger does not know the population; 3 when it is damaged.",
    .examples =
        {
            {"What has been spent", "dpmf ledger show --ledger team.ledger", SOME_LEDGER},
            {"What one population has spent, for a script",
             "dpmf ledger show --population movies --ledger team.ledger --json", SOME_LEDGER},
        },
    .run = run_show,
};

static const struct verb ledger_return = {
    .name = "ledger return",
    .summary = "give back what was reserved for a release that was never published",
    .synopsis = "ID [--ledger FILE] [options]",
    .paragraphs =
        {
            "Returns the reservation of the release with this id, as dpmf ledger show lists "
            "it. Do so only when the run that reserved it has ended and its release was "
            "neither published nor looked at by anyone. A release that is committed cannot be "
            "returned: what is public stays spent.",
        },
    .groups = {{"Options", change_options}},
    .operands = {{VALUE_TEXT, "ID", "0b9c4f3e7d1a48f2a6e55c8812d0f3aa", NULL, NULL}, 1, 1},
    .exit_note = "3 when the ledger does not know the id; 6 when the release was published.",
    .examples = {{"A run was killed before it published anything",
                  "dpmf ledger return 0b9c4f3e7d1a48f2a6e55c8812d0f3aa --ledger team.ledger",
                  SOME_LEDGER}},
    .run = run_return,
};

static const struct verb ledger_release = {
    .name = "ledger release",
    .summary = "another name of dpmf ledger return",
    .synopsis = "ID [--ledger FILE] [options]",
    .paragraphs = {"Releases a reservation, as dpmf ledger return does."},
    .groups = {{"Options", change_options}},
    .operands = {{VALUE_TEXT, "ID", "0b9c4f3e7d1a48f2a6e55c8812d0f3aa", NULL, NULL}, 1, 1},
    .examples = {{"A run was killed before it published anything",
                  "dpmf ledger release 0b9c4f3e7d1a48f2a6e55c8812d0f3aa --ledger team.ledger",
                  SOME_LEDGER}},
    .run = run_return,
};

static const struct verb ledger_budget = {
    .name = "ledger budget",
    .summary = "set how much a population may spend",
    .synopsis = "NAME MU|E@DELTA|none [--ledger FILE] [options]",
    .paragraphs =
        {
            "From now on, a release is refused if it would bring what the population NAME has "
            "spent above this: a mu, such as 1.2, or an epsilon at a delta, such as 5@1e-5, which "
            "is mu 1.1212. A number alone is a mu, and what it means as an epsilon is printed. "
            "Above mu 3.45 (epsilon 20 at delta 1e-5) it is refused without --accept-epsilon, and "
            "at a delta above 1e-4 always. It may be more than before, or less; with less than is "
            "spent already, nothing more can be released. none removes the budget.",
            "A population is named by whoever keeps the ledger: the people whose ratings "
            "releases are made from. Ratings that have changed, or another set with many of "
            "the same people in it, are the same population.",
        },
    .groups = {{"Options", budget_options}},
    .operands = {{VALUE_TEXT, "NAME and MU", "movies", NULL, NULL}, 2, 2},
    .examples = {{"All releases of movies together may cost epsilon 5 at delta 1e-5",
                  "dpmf ledger budget movies 5@1e-5", NULL},
                 {"The same as a mu, rounded down", "dpmf ledger budget movies 1.1212", NULL}},
    .run = run_budget,
};

static const struct verb *const parts[] = {
    &ledger_init, &ledger_show, &ledger_return, &ledger_release, &ledger_budget, NULL,
};

static const char *part_choices(size_t i, const char **description) {
    return verb_choice(parts, i, description);
}

const struct verb verb_ledger = {
    .name = "ledger",
    .summary = "keep account of what private releases have spent",
    .synopsis = "COMMAND [options]",
    .paragraphs =
        {
            "Releases made from the ratings of the same people add up. The ledger is a file, which "
            "only its owner can read, of every release and of what each population has spent; a "
            "population is named with --population when a release is made, and may have a budget "
            "that its releases together cannot pass. A budget is a mu, or an epsilon at a delta, "
            "which comes to a mu. Any number of runs may use one ledger at once.",
            "dpmf train prints what a population has spent after every release, and when a "
            "population is new to a ledger: a name that is misspelled has a budget of its own.",
            "A ledger that is damaged, has vanished, or was put back from an old copy is "
            "refused: it would forget what was spent. Keep the file and its .lock together. "
            "dpmf ledger COMMAND --help explains each command.",
        },
    .operands = {{VALUE_CHOICE, "COMMAND", "show", NULL, part_choices}, 1, 1},
    .examples = {{"What has been spent", "dpmf ledger show", NULL}},
    .run = run_without_part,
    .parts = parts,
};

/* Reached only when options stand before the command. */
static int run_without_part(struct invocation *invocation) {
    char hint[128];
    snprintf(hint, sizeof hint, "for example: dpmf ledger %s --help", invocation->operands[0]);
    return terminal_error_print(STATUS_USAGE, hint, "ledger needs its command before any option");
}

/* ---- show ------------------------------------------------------------------------------------ */

struct show {
    bool is_json;
    uint64_t n_populations;
    int status;
};

static const char *state_name(enum dpmf_ledger_state state) {
    static const char *const names[] = {"reserved", "committed", "returned", "research", "tuning"};
    return names[state];
}

static bool is_release(const struct dpmf_ledger_entry *entry) {
    return entry->state < DPMF_LEDGER_RESEARCH;
}

/* A number, or null for 0. */
static void json_above_0(struct dpmf_json *json, const char *key, double value) {
    if (value > 0)
        dpmf_json_double(json, key, value);
    else
        dpmf_json_null(json, key);
}

static void budget_json(struct dpmf_json *json, const struct dpmf_budget *budget) {
    json_above_0(json, "budget_mu", budget->mu);
    json_above_0(json, "budget_epsilon", budget->epsilon);
    json_above_0(json, "budget_delta", budget->delta);
}

static int population_json(const struct dpmf_ledger_population *population) {
    bool is_spent = population->committed + population->reserved > 0;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "population");
    dpmf_json_string(json, "population", population->name);
    dpmf_json_double(json, "epsilon", population->epsilon);
    if (is_spent)
        dpmf_json_double(json, "delta", population->delta);
    else
        dpmf_json_null(json, "delta");
    dpmf_json_double(json, "mu", population->mu);
    dpmf_json_double(json, "mu_with_returned", population->mu_with_returned);
    dpmf_json_double(json, "mu_in_full", population->mu_in_full);
    dpmf_json_uint(json, "periods", population->periods);
    dpmf_json_string(json, "kind", dpmf_claim_name(population->claim));
    budget_json(json, &population->budget);
    dpmf_json_uint(json, "committed", population->committed);
    dpmf_json_uint(json, "reserved", population->reserved);
    dpmf_json_uint(json, "returned", population->returned);
    dpmf_json_uint(json, "research", population->research);
    dpmf_json_uint(json, "tuning", population->tuning);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static bool has_period(const struct dpmf_ledger_entry *entry) {
    return entry->users_since[0] != '\0' || entry->users_before[0] != '\0';
}

static void date_json(struct dpmf_json *json, const char *key, const char *date) {
    if (date[0] != '\0')
        dpmf_json_string(json, key, date);
    else
        dpmf_json_null(json, key);
}

static void period_json(struct dpmf_json *json, const struct dpmf_ledger_entry *entry) {
    if (!has_period(entry)) return;
    date_json(json, "users_since", entry->users_since);
    date_json(json, "users_before", entry->users_before);
    dpmf_json_bool(json, "complete_histories", entry->complete_histories);
}

static int entry_json(const struct dpmf_ledger_population *population,
                      const struct dpmf_ledger_entry *entry) {
    const char *what = is_release(entry) ? "release" : "run";
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", what);
    dpmf_json_string(json, "population", population->name);
    dpmf_json_string(json, what, entry->id);
    dpmf_json_string(json, is_release(entry) ? "state" : "use", state_name(entry->state));
    if (is_release(entry)) {
        dpmf_json_string(json, "kind", dpmf_claim_name(entry->claim));
        dpmf_json_double(json, "epsilon", entry->epsilon);
        dpmf_json_double(json, "delta", entry->delta);
        dpmf_json_double(json, "mu", entry->mu);
        period_json(json, entry);
    }
    dpmf_json_int(json, "time", entry->time);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void population_text(const struct dpmf_ledger_population *population, bool is_first) {
    const struct ledger_words counts = ledger_words_counts(population);
    printf("%s%s: %s\n", is_first ? "" : "\n", population->name,
           ledger_words_spent(population).text);
    if (counts.text[0] != '\0') printf("  %s\n", counts.text);
    if (population->periods > 0) printf("  %s\n", ledger_words_periods(population).text);
}

static void print_period(const struct dpmf_ledger_entry *entry) {
    fputs("; users", stdout);
    if (entry->users_since[0] != '\0') printf(" since %s", entry->users_since);
    if (entry->users_before[0] != '\0') printf(" before %s", entry->users_before);
    printf(", histories %s complete", entry->complete_histories ? "declared" : "not declared");
}

static void entry_text(const struct dpmf_ledger_entry *entry) {
    printf("  %s  %s  %s", entry->id, text_time(entry->time).text, state_name(entry->state));
    if (is_release(entry))
        printf("%*s  %-11s  mu %s, epsilon %s", (int)(9 - strlen(state_name(entry->state))), "",
               dpmf_claim_name(entry->claim), figures_up(entry->mu).text,
               figures_up(entry->epsilon).text);
    if (entry->delta > 0) printf(" at delta %s", figures_exact(entry->delta).text);
    if (has_period(entry)) print_period(entry);
    putchar('\n');
}

static int show_one(void *self, const struct dpmf_ledger_population *population,
                    const struct dpmf_ledger_entry *entry) {
    struct show *show = self;
    if (entry == NULL) show->n_populations++;
    if (show->is_json)
        show->status = entry ? entry_json(population, entry) : population_json(population);
    else if (entry != NULL)
        entry_text(entry);
    else
        population_text(population, show->n_populations == 1);
    return show->status;
}

/* Nobody has released anything with the ledger that is there by default: not an error, unlike a
 * path that was given and leads nowhere. */
static bool is_unused(const struct invocation *invocation, const struct dpmf_error *error) {
    return error->code == DPMF_ERR_IO_MISSING && error->file[0] != '\0' &&
           !command_has(invocation, OPTION_LEDGER) && !command_has(invocation, OPTION_POPULATION);
}

static int run_show(struct invocation *invocation) {
    const char *population = invocation->value[OPTION_POPULATION];
    struct show show = {.is_json = command_has(invocation, OPTION_JSON)};
    struct dpmf_error error = {0};
    int rc =
        dpmf_ledger_visit(invocation->value[OPTION_LEDGER], population, show_one, &show, &error);
    if (rc < 0 && !is_unused(invocation, &error)) return report_error_print(invocation, &error);
    if (show.status != STATUS_DONE) return show.status;
    if (show.n_populations == 0 && population != NULL)
        return terminal_error_print(STATUS_NO, "dpmf ledger show lists all of them",
                                    "the ledger knows no population \"%.200s\"", population);
    if (show.n_populations == 0)
        terminal_note_print(&invocation->terminal, "nothing has been released yet");
    return STATUS_DONE;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Ids are in small letters; those of someone who typed them need not be. */
static void to_small(const char *text, char *small, size_t size) {
    snprintf(small, size, "%s", text);
    for (char *at = small; *at != '\0'; at++) *at = (char)tolower((unsigned char)*at);
}

static int done_json(const char *key, const char *value, const struct dpmf_budget *budget) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_string(json, key, value);
    if (budget != NULL) budget_json(json, budget);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static int run_init(struct invocation *invocation) {
    const char *path = invocation->n_operands > 0 ? invocation->operands[0] : NULL;
    struct dpmf_error error = {0};
    int rc = dpmf_ledger_init(path, &invocation->run, &error);
    if (rc < 0) return report_error_print(invocation, &error);
    char *own = path != NULL ? NULL : dpmf_ledger_path();
    const char *made = path != NULL ? path : own != NULL ? own : "";
    int status = STATUS_DONE;
    if (command_has(invocation, OPTION_JSON))
        status = done_json("ledger", made, NULL);
    else
        terminal_note_print(&invocation->terminal,
                            rc == 0 ? "new ledger %s" : "ledger %s is used from here on", made);
    free(own);
    return status;
}

static int run_return(struct invocation *invocation) {
    char id[64];
    struct dpmf_error error = {0};
    to_small(invocation->operands[0], id, sizeof id);
    int rc = dpmf_ledger_return(invocation->value[OPTION_LEDGER], id, &invocation->run, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    if (command_has(invocation, OPTION_JSON)) return done_json("returned", id, NULL);
    terminal_note_print(&invocation->terminal, "release %s no longer counts", id);
    return STATUS_DONE;
}

static int note_budget(void *self, const struct dpmf_ledger_population *population,
                       const struct dpmf_ledger_entry *entry) {
    if (entry == NULL)
        terminal_note_print(self, "%s: %s", population->name, ledger_words_spent(population).text);
    return 0;
}

static int run_budget(struct invocation *invocation) {
    const char *path = invocation->value[OPTION_LEDGER], *name = invocation->operands[0];
    const char *wanted = invocation->operands[1];
    struct dpmf_budget budget = {0};
    struct ledger_names names = {.name = name};
    struct dpmf_error error = {0};
    int rc = strcmp(wanted, "none") == 0
                 ? 0
                 : dpmf_budget_parse(wanted, command_has(invocation, OPTION_ACCEPT_EPSILON),
                                     &budget, &error);
    if (rc == 0) ledger_words_look(path, &names);
    if (rc == 0) rc = dpmf_ledger_set_budget(path, name, &budget, &invocation->run, &error);
    if (rc == 0) ledger_words_tell_new(&invocation->terminal, &names);
    if (rc == 0) rc = dpmf_ledger_visit(path, name, note_budget, &invocation->terminal, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    return command_has(invocation, OPTION_JSON) ? done_json("population", name, &budget)
                                                : STATUS_DONE;
}
