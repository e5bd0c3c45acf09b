/*
 * dpmf demo: the commands at work on made-up ratings, in a temporary directory that is gone
 * afterwards. Each step is a real command line, printed as a user would type it and run as if it
 * had been typed. The page that it makes stays when it was told where.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/error_show.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "page/export_web.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_WEB, .name = "web", .value = {VALUE_DIRECTORY, "DIR", "site", NULL, NULL},
     .help = "keep the page that the demo makes, in a directory that is empty or does not exist "
             "yet"},
    KERNELS_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_demo = {
    .name = "demo",
    .summary = "show the commands at work on made-up ratings",
    .synopsis = "[options]",
    .paragraphs =
        {
            "Makes a small synthetic store in a temporary directory, describes it, splits it, "
            "exports a part of it, trains a model, evaluates it and recommends from it; then makes "
            "a private release, recommends from that to someone with a few ratings of their own, "
            "and makes a web page of it. Finally it turns what people liked into events, learns to "
            "recommend from these alone, and makes a private release of them too. It prints each "
            "command before its output. Nothing is left behind, except the page with --web.",
        },
    .groups = {{"Options", own_options}},
    .operands = {{.kind = VALUE_NONE}, 0, 0},
    .examples = {{"See what dpmf does", "dpmf demo", NULL},
                 {"And keep the page, to open it in a browser", "dpmf demo --web site", NULL}},
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

enum { STEP_WORDS_MAX = 24, LINES_SHOWN = 5 };

static const char train_release[] =
    "train train.dpr --epsilon 5 --rating-range 1:5 --catalogue titles.csv --ledger ledger -o "
    "release.safetensors";

static const char train_events_release[] =
    "train likes.dpr --epsilon 5 --catalogue titles.csv --ledger ledger -o events.safetensors";

static const char *const steps[] = {
    "synth --users 2000 --items 400 --ratings 60000 --catalogue-out titles.csv -o ratings.dpr",
    "describe ratings.dpr",
    "split ratings.dpr --test-fraction 0.1 --train train.dpr --test test.dpr",
    "export test.dpr --csv out",
    "train train.dpr --valid test.dpr -k 32 -o model.safetensors",
    "evaluate model.safetensors test.dpr --ranking --history train.dpr",
    "recommend model.safetensors --user 7 --history train.dpr --catalogue titles.csv -n 5",
    "ledger init ledger",
    train_release,
    "privacy verify release.safetensors",
    "evaluate release.safetensors test.dpr --history train.dpr",
    "export release.safetensors --web page --catalogue titles.csv",
    "recommend release.safetensors --ratings mine.csv --catalogue titles.csv -n 5",
    "import train.dpr --like 4 --on-error skip -o likes.dpr",
    "import test.dpr --like 4 -o liked.dpr",
    "train likes.dpr -k 32 -o ranking.safetensors",
    "evaluate ranking.safetensors liked.dpr --history likes.dpr",
    "recommend ranking.safetensors --user 7 --history likes.dpr --catalogue titles.csv -n 5",
    train_events_release,
    "privacy verify events.safetensors",
    "evaluate events.safetensors liked.dpr --history likes.dpr",
    NULL,
};

/* Where the page goes: beside everything else, or to the place it was asked for. */
static char *page_directory(const struct invocation *invocation) {
    const char *wanted = invocation->value[OPTION_WEB];
    if (wanted == NULL) return strdup("page");
    if (wanted[0] == '/') return strdup(wanted);
    char *here = getcwd(NULL, 0), *path = NULL;
    if (here == NULL || asprintf(&path, "%s/%s", here, wanted) < 0) path = NULL;
    free(here);
    return path;
}

/* What was asked of the demo is asked of its steps too. */
static int pass_on(const struct invocation *invocation, char **words, int n) {
    static const enum option_id passed[] = {OPTION_JSON,     OPTION_QUIET,   OPTION_VERBOSE,
                                            OPTION_PROGRESS, OPTION_THREADS, OPTION_MEMORY};
    static char names[COUNT_OF(passed)][16]; /* in use for as long as a step runs */
    for (size_t i = 0; i < COUNT_OF(passed) && n + 2 <= STEP_WORDS_MAX; i++) {
        const char *value = invocation->value[passed[i]];
        if (value == NULL) continue;
        snprintf(names[i], sizeof names[i], "--%s", options_name(invocation, passed[i]));
        words[n++] = names[i];
        if (value[0] != '\0') words[n++] = (char *)value;
    }
    return n;
}

/* Runs one step in this process. Words hold no quotes, so cutting at spaces is enough. */
static int run_step(const struct invocation *invocation, const char *step, char *page) {
    char line[256];
    char *words[STEP_WORDS_MAX], *rest = NULL;
    int n = 0;
    bool is_json = command_has(invocation, OPTION_JSON);
    snprintf(line, sizeof line, "%s", step);
    if (!is_json) printf("$ dpmf");
    for (char *word = strtok_r(line, " ", &rest); word != NULL && n < STEP_WORDS_MAX;
         word = strtok_r(NULL, " ", &rest)) {
        words[n] = strcmp(word, "page") == 0 ? page : word;
        if (!is_json) putchar(' ');
        if (!is_json) terminal_text_print(stdout, words[n]);
        n++;
    }
    if (!is_json) putchar('\n');
    fflush(stdout); /* what comes next may go to standard error, and belongs below */
    n = pass_on(invocation, words, n);
    int status = command_run(verb_find(words[0]), n - 1, words + 1);
    if (!is_json) putchar('\n');
    fflush(stdout);
    return signals_pending() != 0 ? 128 + signals_pending() : status;
}

/* What a person at home might have rated, for the last step. */
static void write_mine(void) {
    FILE *file = fopen("mine.csv", "we");
    if (file == NULL) return; /* the step that reads it will say so */
    fputs("item,rating\n3,5\n12,1\n33,4\n50,2\n", file);
    fclose(file);
}

static void show_lines(const char *path) {
    char line[256];
    FILE *file = fopen(path, "re");
    printf("$ head -n %d %s\n", LINES_SHOWN, path);
    for (int i = 0; file != NULL && i < LINES_SHOWN && fgets(line, sizeof line, file); i++)
        fputs(line, stdout);
    if (file != NULL) fclose(file);
    putchar('\n');
}

/* What the steps write, by name: nothing else in the world is ever removed. */
static void remove_files(int directory) {
    static const char *const files[] = {"ratings.dpr",
                                        "titles.csv",
                                        "train.dpr",
                                        "test.dpr",
                                        "out/ratings.csv",
                                        "model.safetensors",
                                        "ledger",
                                        "ledger.lock",
                                        "release.safetensors",
                                        "mine.csv",
                                        "likes.dpr",
                                        "liked.dpr",
                                        "ranking.safetensors",
                                        "events.safetensors",
                                        "page/index.html",
                                        "page/statement.txt",
                                        "page/release.safetensors"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) unlinkat(directory, files[i], 0);
    unlinkat(directory, "out", AT_REMOVEDIR);
    unlinkat(directory, "page", AT_REMOVEDIR);
}

/* The last line: how to see it all in a browser. */
static void point_to_page(const struct invocation *invocation, const char *page) {
    char *url = command_has(invocation, OPTION_WEB) ? export_web_url(page) : NULL;
    if (url != NULL)
        printf("The same in a browser: open %s\n", url);
    else
        puts("The same in a browser: dpmf demo --web DIR keeps the page, and dpmf serve serves "
             "one.");
    free(url);
}

static int run_steps(const struct invocation *invocation, char *page) {
    bool is_json = command_has(invocation, OPTION_JSON);
    int status = STATUS_DONE;
    for (size_t i = 0; steps[i] != NULL && status == STATUS_DONE; i++) {
        bool at_home = strstr(steps[i], "mine.csv") != NULL;
        if (at_home) write_mine();
        if (at_home && !is_json) show_lines("mine.csv");
        status = run_step(invocation, steps[i], page);
        bool exported = strncmp(steps[i], "export test.dpr ", 16) == 0;
        if (exported && status == STATUS_DONE && !is_json) show_lines("out/ratings.csv");
    }
    if (status == STATUS_DONE && !is_json) point_to_page(invocation, page);
    return status;
}

static int run(struct invocation *invocation) {
    char path[4096], *page = page_directory(invocation);
    int before = -1, directory = -1, status;
    if (page == NULL)
        return terminal_error_print(error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                    dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
    snprintf(path, sizeof path, "%s/dpmf-demo-XXXXXX", terminal_temporary_directory());
    if (mkdtemp(path) == NULL) {
        free(page);
        return terminal_error_print(STATUS_IO, "set TMPDIR to a directory that you may write to",
                                    "%s: cannot make a temporary directory: %s", path,
                                    text_system_error(errno).text);
    }
    before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || fchdir(directory) != 0) {
        status = terminal_error_print(STATUS_IO, "set TMPDIR to another directory",
                                      "%s: cannot change to this directory: %s", path,
                                      text_system_error(errno).text);
        goto out;
    }
    signals_pipe_ignore(); /* `dpmf demo | head` must still come to the cleaning up */
    status = run_steps(invocation, page);
    remove_files(directory);
out:
    if (before >= 0) {
        (void)!fchdir(before);
        close(before);
    }
    if (directory >= 0) close(directory);
    rmdir(path);
    free(page);
    return status;
}
