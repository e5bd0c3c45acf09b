/*
 * dpmf export: ratings back to text, into a file, a directory or to standard output. Fed by a store
 * or any ratings input. Of a release it makes a web page, which is in export_web.c, and of a model
 * files and tables for other tools, which is in export_model.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/error_show.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "page/export_web.h"
#include "shared/model_use.h"
#include "verbs/export_model.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_CSV, .name = "csv", .value = {VALUE_DIRECTORY, "DIR", "out", NULL, NULL},
     .help = "write ratings as DIR/ratings.csv, making DIR if it is missing; a name that ends in "
             ".csv is the file itself; - writes to standard output; for a model, write "
             "DIR/items.csv, in a directory that is empty or does not exist yet"},
    {.id = OPTION_NPY, .name = "npy", .value = {VALUE_DIRECTORY, "DIR", "vectors", NULL, NULL},
     .help = "for a model, write vectors and biases for NumPy; DIR must be empty or not exist yet"},
    {.id = OPTION_LIBMF, .name = "libmf", .value = {VALUE_OUTPUT, "FILE", "model.txt", NULL, NULL},
     .help = "for a model, write a model that LIBMF's mf-predict reads, and ids beside it"},
    {.id = OPTION_SQLITE, .name = "sqlite",
     .value = {VALUE_OUTPUT, "FILE", "items.sqlite", NULL, NULL},
     .help = "for a model, write an SQLite database"},
    {.id = OPTION_PGVECTOR, .name = "pgvector",
     .value = {VALUE_TEXT, "URL", "postgres://localhost/films", NULL, NULL},
     .help = "for "
             "a model, make tables on a PostgreSQL server: postgres://HOST/DATABASE?table=NAME"},
    {.id = OPTION_WEB, .name = "web", .value = {VALUE_DIRECTORY, "DIR", "site", NULL, NULL},
     .help = "for a release, write a page that recommends by itself; DIR must be empty or not "
             "exist yet or, with --replace, hold such a page and nothing else"},
    {.id = OPTION_NOT_PRIVATE, .name = "not-private", .value = {.kind = VALUE_NONE},
     .help = "export vectors that are not proven to be private, such as a checkpoint's: they "
             "reveal much about people, and only you can read the files"},
    {.id = OPTION_WITH_USERS, .name = "users", .value = {.kind = VALUE_NONE},
     .help = "for a checkpoint, write the users' vectors too"},
    {.id = OPTION_COSINE, .name = "cosine", .value = {.kind = VALUE_NONE},
     .help = "with --npy, also write vectors with two more numbers each, whose cosines order items "
             "as scores do: for indexes of nearest neighbours"},
    {.id = OPTION_REPLACE, .name = "replace", .value = {.kind = VALUE_NONE},
     .help = "replace the file, the page or the tables if they exist already: those that such an "
             "export made, or an empty file; a page or a database that was changed since, or is "
             "someone else's, is refused; with --csv of ratings, whatever file it is"},
    PAGE_OPTIONS,
    {0},
};
/* clang-format on */

const struct verb verb_export = {
    .name = "export",
    .summary = "write ratings as text, vectors for tools, a release as a page",
    .synopsis = "FILE (--csv DIR | --npy DIR | --libmf FILE | --sqlite FILE | --pgvector URL | "
                "--web DIR) [options]",
    .paragraphs =
        {
            "Writes the ratings of FILE, a store or any input of dpmf import, as CSV with the "
            "header user,item,rating and, when there are times, timestamp. Numbers are written so "
            "that reading them back gives the same bits. Only you can read the file.",
            "For a model, vectors and biases are written for other tools, bit for bit as they are: "
            "--npy for NumPy, --csv for everything, --libmf for LIBMF (offset and biases become "
            "two more factors), --sqlite and --pgvector for databases, with titles from "
            "--catalogue and the privacy statement as a table. Titles of a release are published: "
            "a table that could be about people, such as one of ratings, is refused. A score is "
            "offset + bias + u.v; the offset is in model.json or in the table model. All of it "
            "appears at once or not at all. docs/formats/exports.md has every file and table.",
            "With --pgvector, vectors are of the type vector where the server has that extension, "
            "otherwise arrays, real[]; the report says which. The tables are NAME "
            "(dpmf_items unless the URL says table=NAME), NAME_model and, with --users, "
            "NAME_users. A password comes from PGPASSWORD, ~/.pgpass or a service file, and is "
            "refused in the URL.",
            "A checkpoint, a release that is stamped NOT PRIVATE and one whose statement does not "
            "hold are exported only with --not-private, and users only with --users. One that is "
            "conditional or partial is exported, with a warning that says what it assumes; -q "
            "does not silence it.",
            "With --web, FILE is a release, and DIR receives index.html, the release as "
            "release.safetensors and its privacy statement as statement.txt. The page holds "
            "everything it needs: it works opened from disk or from any web server, computes "
            "in the browser, and sends nothing anywhere. What may not be published is refused: "
            "a checkpoint, a release that is stamped NOT PRIVATE, and one whose statement does "
            "not hold. A conditional or a partial one is shown as what it is.",
        },
    .groups = {{"Options", own_options}, {"How the input is read", input_options}},
    .operands = {{VALUE_FILE, "FILE", "ratings.dpr", NULL, NULL}, 1, 1},
    .exit_note = "6 when --web is asked for what may not be published, when titles of a release "
                 "could be about people, and when vectors that "
                 "are not private are asked for without --not-private.",
    .examples =
        {
            {"To a file: this writes out/ratings.csv", "dpmf export ratings.dpr --csv out",
             SOME_STORE},
            {"To the next program", "dpmf export ratings.dpr --csv - | head -n 5", SOME_STORE},
            {"The vectors of a release for NumPy", "dpmf export release.safetensors --npy vectors",
             SOME_RELEASE},
            {"Everything in one database",
             "dpmf export release.safetensors --sqlite items.sqlite "
             "--catalogue items.csv",
             SOME_RELEASE},
            {"All of a model that is not for others, for LIBMF",
             "dpmf export m.safetensors --libmf model.txt --users --not-private", SOME_MODEL},
            {"A page for everyone, to be opened from disk or put on a web server",
             "dpmf export release.safetensors --web site --catalogue items.csv", SOME_RELEASE},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

struct target {
    char *path;       /* path of the file; NULL: standard output */
    const char *made; /* the directory, when it was missing */
};

static const char *word_of(enum dpmf_file_kind kind) {
    return kind == DPMF_FILE_RELEASE      ? "a release"
           : kind == DPMF_FILE_CHECKPOINT ? "a checkpoint"
           : kind == DPMF_FILE_STORE      ? "a ratings store"
           : kind == DPMF_FILE_LEDGER     ? "a ledger, or its lock"
                                          : "a file";
}

static int make_directory(const char *directory, struct target *target) {
    struct stat status;
    if (mkdir(directory, 0700) == 0) {
        target->made = directory;
        return STATUS_DONE;
    }
    int mkdir_errno = errno;
    if (stat(directory, &status) == 0 && S_ISDIR(status.st_mode)) return STATUS_DONE;
    if (mkdir_errno == EEXIST)
        return terminal_error_print(
            STATUS_IO, "name a directory, a file that ends in .csv, or - for standard output",
            "%s is %s: --csv takes a name that does not end in .csv for a directory", directory,
            word_of(dpmf_file_kind(directory)));
    return terminal_error_print(STATUS_IO, "make the directory above it first, or choose another",
                                "%s: cannot make this directory: %s", directory,
                                text_system_error(mkdir_errno).text);
}

/* A name that ends in .csv, in letters of any case, is a file's, never a directory's. */
static bool is_csv_name(const char *path) {
    const size_t n = strlen(path);
    return n > 4 && strcasecmp(path + n - 4, ".csv") == 0;
}

static int open_target(const char *place, const char *input, struct target *target) {
    const bool is_file = is_csv_name(place);
    const char *name = is_file ? "" : "/ratings.csv";
    if (strcmp(place, "-") == 0) return STATUS_DONE;
    size_t size = strlen(place) + strlen(name) + 1;
    target->path = malloc(size);
    if (target->path == NULL)
        return terminal_error_print(error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                    dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
    snprintf(target->path, size, "%s%s", place, name);
    if (options_is_read(target->path, input))
        return terminal_error_print(STATUS_USAGE,
                                    is_file ? "name another file to write"
                                            : "name another directory to write to",
                                    "--csv %.200s would overwrite the input", place);
    return is_file ? STATUS_DONE : make_directory(place, target);
}

static int print_report(struct invocation *invocation, const struct dpmf_store_info *info,
                        const char *path, uint64_t bytes, double seconds) {
    terminal_note_print(&invocation->terminal, "wrote %s to %s (%s) in %s",
                        text_count(info->ratings, report_record(info->holds_events)).text,
                        path != NULL ? path : "standard output", text_bytes(bytes).text,
                        text_seconds(seconds).text);
    terminal_phases_print(&invocation->terminal);
    if (!command_has(invocation, OPTION_JSON)) return STATUS_DONE;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_string(json, "holds", info->holds_events ? "events" : "ratings");
    dpmf_json_uint(json, "ratings", info->ratings);
    dpmf_json_uint(json, "bytes_written", bytes);
    dpmf_json_double(json, "seconds", seconds);
    dpmf_json_string(json, "output", path);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

/* Before anything is read: whether it could be written. */
static int try_target(struct invocation *invocation) {
    struct target target = {0};
    struct dpmf_error error = {0};
    int status = open_target(invocation->value[OPTION_CSV], invocation->operands[0], &target);
    if (status == STATUS_DONE && target.path != NULL &&
        dpmf_output_check_kind(target.path, DPMF_FILE_NONE, &invocation->run, &error) != 0)
        status = report_error_print(invocation, &error);
    if (target.made != NULL) rmdir(target.made);
    free(target.path);
    return status;
}

/* The library knows a descriptor; the user knows it as standard output. */
static int report_failure(struct invocation *invocation, const struct target *target,
                          struct dpmf_error *error) {
    if (target->path == NULL && error->file[0] == '<')
        snprintf(error->file, sizeof error->file, "standard output");
    if (target->made != NULL) rmdir(target->made);
    return report_error_print(invocation, error);
}

/* ---- which way ------------------------------------------------------------------------------- */

enum way {
    WAY_RATINGS = 1,
    WAY_WEB = 2,
    WAY_CSV = 4, /* vectors of a model, as all below */
    WAY_NPY = 8,
    WAY_LIBMF = 16,
    WAY_SQLITE = 32,
    WAY_PGVECTOR = 64,
    WAY_MODEL = WAY_CSV | WAY_NPY | WAY_LIBMF | WAY_SQLITE | WAY_PGVECTOR,
};

static const struct {
    enum option_id id;
    enum way way;
} ways[] = {
    {OPTION_CSV, WAY_RATINGS}, {OPTION_WEB, WAY_WEB},       {OPTION_NPY, WAY_NPY},
    {OPTION_LIBMF, WAY_LIBMF}, {OPTION_SQLITE, WAY_SQLITE}, {OPTION_PGVECTOR, WAY_PGVECTOR},
};

/* Options of some ways that mean nothing in the others. */
static int refuse_stray(const struct invocation *invocation, enum way way) {
    static const struct {
        enum option_id id;
        unsigned ways;
        const char *goes_with;
    } strays[] = {
        {OPTION_CATALOGUE, WAY_WEB | WAY_CSV | WAY_SQLITE | WAY_PGVECTOR,
         "--web, and with --csv, --sqlite and --pgvector of a model"},
        {OPTION_NAME, WAY_WEB, "--web alone"},
        {OPTION_NOT_PRIVATE, WAY_MODEL, "the vectors of a model alone"},
        {OPTION_WITH_USERS, WAY_MODEL, "the vectors of a model alone"},
        {OPTION_COSINE, WAY_NPY, "--npy alone"},
        {OPTION_COLOUR, WAY_WEB, "--web alone"},
        {OPTION_LOGO, WAY_WEB, "--web alone"},
        {OPTION_COVERS, WAY_WEB, "--web alone"},
        {OPTION_LINKS, WAY_WEB, "--web alone"},
        {OPTION_REPLACE, WAY_RATINGS | WAY_LIBMF | WAY_SQLITE | WAY_PGVECTOR | WAY_WEB,
         "--csv of ratings, --libmf, --sqlite, --pgvector and --web alone"},
    };
    for (size_t i = 0; i < sizeof strays / sizeof strays[0]; i++)
        if (command_has(invocation, strays[i].id) && (strays[i].ways & (unsigned)way) == 0)
            return terminal_error_print(STATUS_USAGE, "leave it out", "--%s goes with %s",
                                        options_name(invocation, strays[i].id),
                                        strays[i].goes_with);
    if (way == WAY_RATINGS) return STATUS_DONE;
    return options_refuse_group(invocation, input_options, OPTION_COUNT,
                                "goes with --csv of ratings alone", "leave it out");
}

static int check_way(const struct invocation *invocation, enum way *way) {
    size_t n = 0;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (command_has(invocation, ways[i].id)) {
            *way = ways[i].way;
            n++;
        }
    if (n == 0)
        return terminal_error_print(STATUS_USAGE, "for example: --csv out",
                                    "export needs --csv FILE.csv|DIR; or of a model --npy DIR, "
                                    "--libmf FILE, --sqlite FILE or "
                                    "--pgvector URL; or of a release --web DIR");
    if (n > 1)
        return terminal_error_print(
            STATUS_USAGE, "keep one of them",
            "one of --csv, --npy, --libmf, --sqlite, --pgvector and --web at a time");
    if (options_is(invocation, OPTION_WEB, "-"))
        return terminal_error_print(STATUS_USAGE, "for example: --web page",
                                    "--web needs a directory: a page is several files, which "
                                    "standard output cannot take");
    if (*way == WAY_RATINGS && model_use_is_model(invocation->operands[0])) *way = WAY_CSV;
    if (*way == WAY_CSV && is_csv_name(invocation->value[OPTION_CSV]))
        return terminal_error_print(STATUS_USAGE, "name a directory, for example: --csv vectors",
                                    "--csv of a model writes several files, and %.200s is the name "
                                    "of one",
                                    invocation->value[OPTION_CSV]);
    return refuse_stray(invocation, *way);
}

static int run(struct invocation *invocation) {
    struct dpmf_input_options input = options_input(invocation);
    struct dpmf_store_info info;
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;
    struct target target = {0};
    uint64_t bytes = 0;
    double started = terminal_clock();
    enum way way = WAY_RATINGS;
    int status = check_way(invocation, &way);

    if (status != STATUS_DONE) return status;
    if (way == WAY_WEB) return export_web_run(invocation);
    if (way != WAY_RATINGS) return export_model_run(invocation);
    if (options_is(invocation, OPTION_CSV, "-") && command_has(invocation, OPTION_JSON))
        return terminal_error_print(STATUS_USAGE, "write the CSV to a file: --csv FILE.csv --json",
                                    "--json and --csv - both want standard output");

    status = try_target(invocation);
    if (status != STATUS_DONE) return status;
    /* The input first: a missing one leaves no empty directory behind. */
    int rc = dpmf_store_open(invocation->operands[0], &input, &invocation->run, &store, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    status = open_target(invocation->value[OPTION_CSV], invocation->operands[0], &target);
    if (status != STATUS_DONE) goto out;
    rc = dpmf_store_export_csv(store, target.path, STDOUT_FILENO, &invocation->run, &bytes, &error);
    if (rc != 0) {
        status = report_failure(invocation, &target, &error);
        goto out;
    }
    dpmf_store_info(store, &info);
    terminal_progress_end(&invocation->terminal);
    status = print_report(invocation, &info, target.path, bytes, terminal_clock() - started);
out:
    dpmf_store_close(store);
    free(target.path);
    return status;
}
