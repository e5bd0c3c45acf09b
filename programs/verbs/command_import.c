/*
 * dpmf import: ratings of any format into one store. Fed by text files and standard input; feeds
 * every command that takes a store.
 */
#include <math.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    STORE_OUTPUT_OPTION,
    REPLACE_OPTION,
    {.id = OPTION_LIKE, .name = "like", .value = {VALUE_TEXT, "X", "4", NULL, NULL},
     .help = "turn ratings into events: those of at least X or, with any, all of them"},
    {0},
};
/* clang-format on */

const struct verb verb_import = {
    .name = "import",
    .summary = "pack ratings or events of any format into a store",
    .synopsis = "INPUT... -o FILE.dpr [options]",
    .paragraphs =
        {
            "Reads ratings from one or more inputs and packs them, grouped by user, into one "
            "checked and compact ratings store. Users and items are named by any text of up to "
            "64 KiB, to which blanks around it belong; how many have such is reported. The format "
            "is detected from the text itself; a header, quotes, CR LF line ends, a byte order "
            "mark and compression with gzip or zstd are understood. An "
            "INPUT of - is standard input; a store is an input too, and so is a directory of "
            "shards.",
            "So is a database: sqlite:FILE?query=SELECT ..., "
            "postgres://USER@HOST/DATABASE?query=SELECT ..., or ?table=NAME when its columns have "
            "the usual names. A query returns user, item, rating and perhaps a timestamp, the "
            "last two under names such as these; in it, % is written %25 and & is written %26. It "
            "is run read-only. Passwords come from "
            "PGPASSWORD, ~/.pgpass or a service file: one in the address is refused.",
            "When a user rated an item more than once, the last rating wins, or where a table of a "
            "database is read the latest, then the highest; the number of such pairs is reported. "
            "A rating that is not a finite number, or that is out of "
            "--rating-range, is an error that names its file, line and column.",
            "What people played, bought or clicked needs no ratings: records of a user, an item "
            "and perhaps a count and a time are events. A header without a rating says so, such as "
            "user,item or user,item,plays, and so does --columns user,item,count; rows of two "
            "columns are always events; elsewhere --events declares them. A count is a whole "
            "number from 1 to 2^53 - 1. When a pair occurs more than once its counts are added, "
            "and the number of such records is reported. Ratings and events cannot be mixed in one "
            "store: --like 4 turns ratings of 4 and more into events, and --like any all of them; "
            "the last rating of each pair decides.",
            "Ids such as NULL, None and nan, ratings as large as times, and inputs on different "
            "scales are reported, and taken as they are.",
            "With --on-error skip each bad record is dropped by itself, and a record is one line, "
            "so a quote that is left open harms no other record. Otherwise a quoted field may "
            "contain line feeds. The store records how it was read. A store for train --epsilon "
            "must be imported with --on-error skip and with a layout that no record decided: a "
            "header names the columns, or --format, --columns and --separator declare them. The "
            "formats netflix and yahoo are in blocks and cannot be used for it.",
            "Ratings that do not fit in --memory are sorted through a temporary file beside "
            "the output.",
        },
    .groups = {{"Options", own_options}, {"How the input is read", input_options}},
    .operands = {{VALUE_FILE, "INPUT", "ratings.csv", NULL, NULL}, 1, SIZE_MAX},
    .exit_note = "3 when an input is not understood or holds a bad record; the output is then "
                 "not written.",
    .examples =
        {
            {"Pack a CSV file", "dpmf import ratings.csv -o ratings.dpr", SOME_CSV},
            {"Pack what another program prints, without its header's help",
             "tail -n +2 ratings.csv | dpmf import - --columns user,item,rating -o r.dpr",
             SOME_CSV},
            {"Bring percentages to five stars, and leave bad lines out",
             "dpmf import scores.tsv --rescale 0:100=0:5 --on-error skip -o scores.dpr",
             "printf 'user\\titem\\trating\\nann\\tdune\\t90\\nbob\\tdune\\tgood\\n' "
             ">scores.tsv"},
            {"A store for private releases, from a file without a header",
             "dpmf import ratings.dat --format movielens --on-error skip -o ratings.dpr",
             "printf '1::1193::5::978300760\\n2::661::3\\n' >ratings.dat"},
            {"Several files into one store",
             "dpmf import january.csv.gz february.csv.gz -o winter.dpr",
             SOME_CSV "; gzip -c ratings.csv >january.csv.gz; "
                      "printf 'user,item,rating\\ncleo,dune,1\\n' | gzip >february.csv.gz"},
            {"Plays of songs, with how often", "dpmf import plays.csv -o plays.dpr",
             "printf 'user,song,plays\\nann,dune,7\\nbob,dune,1\\n' >plays.csv"},
            {"Ratings of 4 and more, as events", "dpmf import ratings.csv --like 4 -o likes.dpr",
             SOME_CSV},
            {"The ratings of a database, as they are now",
             "dpmf import 'sqlite:shop.db?query=SELECT customer, product, stars FROM reviews' "
             "-o ratings.dpr",
             "python3 -c 'import sqlite3; d = sqlite3.connect(\"shop.db\"); "
             "d.executescript(\"CREATE TABLE reviews (customer, product, stars); "
             "INSERT INTO reviews VALUES (1, 7, 4.5)\")'"},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static int run(struct invocation *invocation) {
    struct dpmf_input_options input = options_input(invocation);
    struct dpmf_import_report report = {0};
    struct dpmf_error error = {0};
    const char *output = invocation->value[OPTION_OUTPUT];

    int status = options_like(invocation, &input.has_like, &input.like);
    if (status != STATUS_DONE) return status;
    if (command_has(invocation, OPTION_LIKE) && !input.has_like) input.like = -INFINITY;
    input.has_like = command_has(invocation, OPTION_LIKE);
    int rc = dpmf_import(invocation->operands, invocation->n_operands, output, &input,
                         &invocation->run, &report, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    return report_import_print(invocation, output, &report);
}
