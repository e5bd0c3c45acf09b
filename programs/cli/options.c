/*
 * From words to an invocation: the parser that works from the option table. Fed by main.c with the
 * words after the verb; feeds the commands with values it has checked, so that a misspelt number
 * never reaches the library.
 */
#include "cli/options.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/text.h"
#include "dpmf_text.h"

enum { HINT_MAX = 512 };

/* ---- finding an option ----------------------------------------------------------------------- */

static bool is_called(const struct option *option, const char *name, size_t length) {
    if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) return true;
    return option->alias != NULL && strlen(option->alias) == length &&
           strncmp(option->alias, name, length) == 0;
}

/* By name, or by letter when `name` is NULL. */
static const struct option *find_option(const struct verb *verb, const char *name, size_t length,
                                        char letter) {
    const struct option_group *group;
    for (size_t i = 0; (group = verb_group(verb, i)) != NULL; i++)
        for (const struct option *option = group->options; option->name != NULL; option++)
            if (name != NULL ? is_called(option, name, length) : option->letter == letter)
                return option;
    return NULL;
}

static int refuse_unknown(const struct verb *verb, const char *name, size_t length) {
    char wanted[64], hint[HINT_MAX];
    const struct option_group *group;
    snprintf(wanted, sizeof wanted, "%.*s", (int)(length < 63 ? length : 63), name);
    struct dpmf_nearest nearest = {.wanted = wanted};
    for (size_t i = 0; (group = verb_group(verb, i)) != NULL; i++)
        for (const struct option *option = group->options; option->name != NULL; option++)
            dpmf_nearest_offer(&nearest, option->name);
    if (nearest.word != NULL)
        snprintf(hint, sizeof hint, "did you mean --%s?", nearest.word);
    else
        snprintf(hint, sizeof hint, "dpmf help %s lists its options", verb->name);
    return terminal_error_print(STATUS_USAGE, hint, "unknown option \"--%.*s\"",
                                (int)(length < 200 ? length : 200), name);
}

/* ---- checking values ------------------------------------------------------------------------- */

/* Cuts `text` at `separators` (one each, in this order) and reads the pieces as numbers.
 * @return how many were read, or 0 when a piece is no number or something is left over */
static size_t read_numbers(const char *text, const char *separators, double *numbers) {
    size_t n = 0;
    for (;; n++, separators++) {
        char piece[64];
        size_t length =
            *separators != '\0' ? strcspn(text, (char[]){*separators, '\0'}) : strlen(text);
        if (length >= sizeof piece) return 0;
        memcpy(piece, text, length);
        piece[length] = '\0';
        if (dpmf_parse_double(piece, &numbers[n]) != 0) return 0;
        if (text[length] == '\0') return n + 1;
        text += length + 1;
    }
}

static bool is_range(const char *text) {
    double number[2];
    return read_numbers(text, ":", number) == 2 && number[0] <= number[1];
}

static bool is_rescale(const char *text) {
    double number[4];
    return read_numbers(text, ":=:", number) == 4 && number[0] < number[1] &&
           number[2] != number[3] && isfinite(number[1] - number[0]) &&
           isfinite(number[3] - number[2]);
}

static bool is_scale(const char *text) {
    double number[3];
    size_t n = read_numbers(text, "::", number);
    return (n == 2 || (n == 3 && number[2] >= 0)) && number[0] < number[1];
}

/* Copies what precedes the next comma. @return what follows it, or NULL when there is no room */
static const char *take_piece(const char *text, char *piece, size_t room) {
    const size_t length = strcspn(text, ",");
    if (length >= room) return NULL;
    memcpy(piece, text, length);
    piece[length] = '\0';
    return text + length;
}

/* @return how many numbers the list holds, stored as far as there is room; 0 when it is no list */
static size_t read_counts(const char *text, uint64_t *counts, size_t room) {
    for (size_t n = 0;; n++) {
        char piece[24];
        uint64_t count;
        text = take_piece(text, piece, sizeof piece);
        if (!text || dpmf_parse_uint64(piece, &count) != 0) return 0;
        if (n < room) counts[n] = count;
        if (*text++ == '\0') return n + 1;
    }
}

/* The same of numbers that need not be whole. */
static size_t read_number_list(const char *text, double *numbers, size_t room) {
    for (size_t n = 0;; n++) {
        char piece[64];
        double number;
        text = take_piece(text, piece, sizeof piece);
        if (!text || dpmf_parse_double(piece, &number) != 0) return 0;
        if (n < room) numbers[n] = number;
        if (*text++ == '\0') return n + 1;
    }
}

/* A number above 0 and what it counts; epochs and blocks are whole. */
static bool read_interval(const char *text, struct options_interval *interval) {
    static const struct {
        const char *name;
        enum { EPOCHS, BLOCKS, TIME } kind;
        double seconds;
    } units[] = {
        {"", EPOCHS, 0},       {"epoch", EPOCHS, 0}, {"epochs", EPOCHS, 0}, {"block", BLOCKS, 0},
        {"blocks", BLOCKS, 0}, {"s", TIME, 1},       {"min", TIME, 60},     {"h", TIME, 3600},
    };
    char piece[64];
    double number;
    size_t length = strspn(text, "0123456789.");
    if (length >= sizeof piece) return false;
    memcpy(piece, text, length);
    piece[length] = '\0';
    *interval = (struct options_interval){0, 0, 0};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text + length, units[i].name) != 0) continue;
        if (units[i].kind == EPOCHS)
            return dpmf_parse_uint64(piece, &interval->epochs) == 0 && interval->epochs > 0;
        if (units[i].kind == BLOCKS)
            return dpmf_parse_uint64(piece, &interval->blocks) == 0 && interval->blocks > 0;
        if (dpmf_parse_double(piece, &number) != 0) return false;
        interval->seconds = number * units[i].seconds;
        return interval->seconds > 0 && isfinite(interval->seconds);
    }
    return false;
}

static bool is_choice(choice_list *choices, const char *text) {
    const char *choice;
    for (size_t i = 0; (choice = choices(i, NULL)) != NULL; i++)
        if (strcmp(choice, text) == 0) return true;
    return false;
}

static bool read_real(const char *text, double *number) {
    const char *word = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    if (dpmf_parse_double(text, number) == 0) return true;
    if (strcasecmp(word, "nan") != 0 && strcasecmp(word, "inf") != 0) return false;
    *number = strcasecmp(word, "nan") == 0 ? NAN : text[0] == '-' ? -INFINITY : INFINITY;
    return true;
}

/* @return the character, or 0 for what cannot separate columns */
static char read_separator(const char *text) {
    if (strcmp(text, "tab") == 0) return '\t';
    if (strcmp(text, "space") == 0) return ' ';
    return text[0] != '\0' && text[1] == '\0' && dpmf_separator_is(text[0]) ? text[0] : '\0';
}

/* @return NULL when `text` is a value of this kind, or else what it is not */
static const char *misfit(const struct value *value, const char *text) {
    uint64_t count;
    double number;
    switch (value->kind) {
    case VALUE_NONE:
    case VALUE_TEXT:
    case VALUE_TEXTS: return NULL;
    case VALUE_FILE:
    case VALUE_OUTPUT:
    case VALUE_DIRECTORY: return text[0] != '\0' ? NULL : "a file name";
    case VALUE_CHOICE: return is_choice(value->choices, text) ? NULL : "one of";
    case VALUE_SEPARATOR:
        return read_separator(text) != 0 ? NULL : "a character that can separate columns";
    case VALUE_COUNT: return dpmf_parse_uint64(text, &count) == 0 ? NULL : "a whole number";
    case VALUE_COUNTS:
        return read_counts(text, &count, 1) > 0 ? NULL : "whole numbers separated by commas";
    case VALUE_NUMBER: return dpmf_parse_double(text, &number) == 0 ? NULL : "a number";
    case VALUE_REAL: return read_real(text, &number) ? NULL : "a number";
    case VALUE_NUMBERS:
        return read_number_list(text, &number, 1) > 0 ? NULL : "numbers separated by commas";
    case VALUE_FRACTION:
        return dpmf_parse_double(text, &number) == 0 && number >= 0 && number <= 1
                   ? NULL
                   : "a number from 0 to 1";
    case VALUE_SIZE: return dpmf_parse_size(text, &count) == 0 ? NULL : "a size";
    case VALUE_RANGE: return is_range(text) ? NULL : "a range A:B with A at most B";
    case VALUE_RESCALE:
        return is_rescale(text) ? NULL : "of the form A:B=C:D with A less than B and C not D";
    case VALUE_INTERVAL: {
        struct options_interval interval;
        return read_interval(text, &interval) ? NULL : "a number of epochs or blocks, or a time";
    }
    case VALUE_SCALE:
        return is_scale(text) ? NULL : "of the form A:B or A:B:STEP with A less than B";
    }
    return NULL;
}

/* An option is written with its name, an operand is not. */
static void suggest_sample(char hint[HINT_MAX], const char *label, const char *sample) {
    bool is_option = label[0] == '-';
    snprintf(hint, HINT_MAX, "for example: %s%s%s", is_option ? label : "", is_option ? " " : "",
             sample);
}

static int refuse_choice(const struct value *value, const char *label, const char *text) {
    char list[HINT_MAX] = "", hint[HINT_MAX];
    struct dpmf_nearest nearest = {.wanted = text};
    const char *choice;
    size_t at = 0;
    for (size_t i = 0; (choice = value->choices(i, NULL)) != NULL; i++) {
        dpmf_nearest_offer(&nearest, choice);
        int n = snprintf(list + at, sizeof list - at, "%s%s", i > 0 ? ", " : "", choice);
        at = n > 0 && at + (size_t)n < sizeof list ? at + (size_t)n : at;
    }
    if (nearest.word != NULL)
        snprintf(hint, sizeof hint, "did you mean %s?", nearest.word);
    else
        suggest_sample(hint, label, value->sample);
    return terminal_error_print(STATUS_USAGE, hint, "%s \"%.200s\" is not one of %s", label, text,
                                list);
}

static int check_value(const struct value *value, const char *label, const char *text) {
    char hint[HINT_MAX];
    const char *kind = misfit(value, text);
    if (kind == NULL) return 0;
    if (value->kind == VALUE_CHOICE) return refuse_choice(value, label, text);
    suggest_sample(hint, label, value->sample);
    return terminal_error_print(STATUS_USAGE, hint, "%s \"%.200s\" is not %s", label, text, kind);
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* The words still to be read. */
struct words {
    int n;
    char **word;
};

static int add_repeat(struct invocation *invocation, const char *label, enum option_id id,
                      const char *text) {
    if (invocation->n_repeats == INVOCATION_REPEATS_MAX)
        return terminal_error_print(STATUS_USAGE, "leave some out",
                                    "%s is given more than %d times", label,
                                    INVOCATION_REPEATS_MAX);
    invocation->repeats[invocation->n_repeats++] = invocation->value[id] = text;
    return 0;
}

static int set_option(struct invocation *invocation, const struct option *option,
                      const char *text) {
    char label[64];
    snprintf(label, sizeof label, "--%s", option->name);
    if (option->value.kind == VALUE_TEXTS) return add_repeat(invocation, label, option->id, text);
    if (invocation->value[option->id] != NULL && option->value.kind != VALUE_NONE) {
        char hint[HINT_MAX];
        snprintf(hint, sizeof hint, "keep one of --%s %.100s and --%s %.100s", option->name,
                 invocation->value[option->id], option->name, text);
        return terminal_error_print(STATUS_USAGE, hint, "%s is given twice", label);
    }
    invocation->value[option->id] = text;
    return check_value(&option->value, label, text);
}

/* The value is in the next word. One that begins with -- is far more often a forgotten value than
 * a strange file name; --name=--value says that it is meant. */
static int take_value(struct invocation *invocation, const struct option *option,
                      struct words *words) {
    if (words->n == 0 || strncmp(words->word[0], "--", 2) == 0) {
        char hint[HINT_MAX];
        snprintf(hint, sizeof hint, "for example: --%s %s", option->name, option->value.sample);
        return terminal_error_print(STATUS_USAGE, hint, "--%s needs a value: %s", option->name,
                                    option->value.name);
    }
    words->n--;
    return set_option(invocation, option, *words->word++);
}

static int parse_long(struct invocation *invocation, const char *word, struct words *words) {
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    const char *text = name[length] == '=' ? name + length + 1 : NULL;
    const struct option *option = find_option(invocation->verb, name, length, 0);
    if (option == NULL) return refuse_unknown(invocation->verb, name, length);
    if (option->value.kind != VALUE_NONE)
        return text != NULL ? set_option(invocation, option, text)
                            : take_value(invocation, option, words);
    if (text != NULL) {
        char hint[HINT_MAX];
        snprintf(hint, sizeof hint, "write --%s alone", option->name);
        return terminal_error_print(STATUS_USAGE, hint, "--%s takes no value", option->name);
    }
    return set_option(invocation, option, "");
}

/* -q, -qv, -oFILE, -o FILE */
static int parse_letters(struct invocation *invocation, const char *word, struct words *words) {
    for (const char *at = word + 1; *at != '\0'; at++) {
        const struct option *option = find_option(invocation->verb, NULL, 0, *at);
        if (option == NULL) {
            char hint[HINT_MAX];
            snprintf(hint, sizeof hint, "dpmf help %s lists its options", invocation->verb->name);
            return terminal_error_print(STATUS_USAGE, hint, "unknown option \"-%c\"", *at);
        }
        if (option->value.kind != VALUE_NONE)
            return at[1] != '\0' ? set_option(invocation, option, at + 1)
                                 : take_value(invocation, option, words);
        int status = set_option(invocation, option, "");
        if (status != 0) return status;
    }
    return 0;
}

static int check_operands(const struct invocation *invocation) {
    const struct verb *verb = invocation->verb;
    const struct operands *expected = &verb->operands;
    char hint[HINT_MAX];
    snprintf(hint, sizeof hint, "usage: dpmf %s %s", verb->name, verb->synopsis);
    if (invocation->n_operands < expected->at_least)
        return terminal_error_print(STATUS_USAGE, hint, "%s needs %s", verb->name,
                                    expected->value.name);
    if (invocation->n_operands > expected->at_most)
        return terminal_error_print(STATUS_USAGE, hint, "%s does not take \"%.200s\"", verb->name,
                                    invocation->operands[expected->at_most]);
    size_t n = verb->checks_operands && invocation->n_operands > 1 ? 1 : invocation->n_operands;
    for (size_t i = 0; i < n; i++) {
        int status = check_value(&expected->value, expected->value.name, invocation->operands[i]);
        if (status != 0) return status;
    }
    return 0;
}

static int check_required(const struct invocation *invocation) {
    const struct option_group *group;
    for (size_t i = 0; (group = verb_group(invocation->verb, i)) != NULL; i++) {
        for (const struct option *option = group->options; option->name != NULL; option++) {
            if (!option->required || command_has(invocation, option->id)) continue;
            char hint[HINT_MAX];
            snprintf(hint, sizeof hint, "for example: --%s %s", option->name, option->value.sample);
            return terminal_error_print(STATUS_USAGE, hint, "%s needs --%s %s",
                                        invocation->verb->name, option->name, option->value.name);
        }
    }
    return 0;
}

/* ---- files that must not be one -------------------------------------------------------------- */

/* Whether two paths name one file, whether it is there already or not. */
bool options_same_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    bool has_a = stat(a, &of_a) == 0, has_b = stat(b, &of_b) == 0;
    if (has_a && has_b) return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    if (has_a != has_b) return false;
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    if (strcmp(slash_a != NULL ? slash_a + 1 : a, slash_b != NULL ? slash_b + 1 : b) != 0)
        return false;
    char *directory_a = slash_a != NULL ? strndup(a, (size_t)(slash_a - a) + 1) : strdup(".");
    char *directory_b = slash_b != NULL ? strndup(b, (size_t)(slash_b - b) + 1) : strdup(".");
    bool is_same = directory_a != NULL && directory_b != NULL && stat(directory_a, &of_a) == 0 &&
                   stat(directory_b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
                   of_a.st_ino == of_b.st_ino;
    free(directory_a);
    free(directory_b);
    return is_same;
}

/* Whether a path is one of the files that SQLite keeps beside a database, which hold what was last
 * written to it. Without memory it counts as one. */
static bool is_beside(const char *path, const char *database) {
    static const char *const endings[] = {"-wal", "-journal", "-shm"};
    bool is_one = false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && !is_one; i++) {
        const size_t size = strlen(database) + strlen(endings[i]) + 1;
        char *beside = malloc(size);
        if (beside != NULL) snprintf(beside, size, "%s%s", database, endings[i]);
        is_one = beside == NULL || options_same_file(path, beside);
        free(beside);
    }
    return is_one;
}

bool options_is_read(const char *path, const char *input) {
    char *file = strcmp(input, "-") != 0 ? dpmf_input_file(input) : NULL;
    bool is_read = file != NULL && options_same_file(path, file);
    /* a database: SQLite follows links, and keeps its files beside the database itself */
    if (file != NULL && !is_read && strcmp(file, input) != 0) {
        char *resolved = realpath(file, NULL);
        is_read = is_beside(path, file) || (resolved != NULL && is_beside(path, resolved));
        free(resolved);
    }
    free(file);
    return is_read;
}

/* Whether a file that is there is one of a directory's, at any depth: of shards, or of a folder of
 * ratings, which are read together. */
static bool is_file_below(const char *file, const char *directory) {
    struct stat status;
    if (stat(directory, &status) != 0 || !S_ISDIR(status.st_mode)) return false;
    char *whole = realpath(file, NULL), *above = realpath(directory, NULL);
    const size_t n = above != NULL ? strlen(above) : 0;
    bool is_in = whole != NULL && n > 0 && strncmp(whole, above, n) == 0 &&
                 (whole[n] == '/' || above[n - 1] == '/');
    free(whole);
    free(above);
    return is_in;
}

/* The same of folders of folders, and of what a pattern stands for, which are read together. */
static bool is_matched(const char *path, const char *pattern) {
    glob_t found = {0};
    bool is_read = false;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && !is_read; i++)
            is_read = options_same_file(path, found.gl_pathv[i]) ||
                      is_file_below(path, found.gl_pathv[i]);
    globfree(&found);
    return is_read;
}

static bool is_file_kind(enum value_kind kind) {
    return kind == VALUE_FILE || kind == VALUE_OUTPUT;
}

/* A run that continues may also keep writing its snapshots, and a model that is continued may be
 * replaced: the old one is replaced by a whole one or not. */
static bool takes_over(enum option_id output, enum option_id input) {
    return (output == OPTION_SNAPSHOT && input == OPTION_RESUME) ||
           (output == OPTION_OUTPUT && input == OPTION_CONTINUE);
}

/* One output against everything else that is read or written. */
static int check_output(const struct invocation *invocation, const struct option *output) {
    const char *path = invocation->value[output->id];
    const struct option_group *group;
    if (strcmp(path, "-") == 0)
        return terminal_error_print(STATUS_USAGE, "name a file, or ./- for one of that name",
                                    "--%s cannot be standard output", output->name);
    if (output->id != OPTION_LEDGER && dpmf_file_kind(path) == DPMF_FILE_LEDGER)
        return terminal_error_print(STATUS_USAGE, "name another file to write",
                                    "--%s %.200s would overwrite a ledger, or its lock",
                                    output->name, path);
    for (size_t i = 0; i < invocation->n_operands; i++)
        if (options_is_read(path, invocation->operands[i]) ||
            (strcmp(invocation->operands[i], "-") != 0 &&
             (is_file_below(path, invocation->operands[i]) ||
              is_matched(path, invocation->operands[i]))))
            return terminal_error_print(STATUS_USAGE, "name another file to write",
                                        "--%s %.200s would overwrite the input", output->name,
                                        path);
    for (size_t i = 0; (group = verb_group(invocation->verb, i)) != NULL; i++)
        for (const struct option *other = group->options; other->name != NULL; other++)
            if (other->id != output->id && is_file_kind(other->value.kind) &&
                !takes_over(output->id, other->id) && command_has(invocation, other->id) &&
                options_is_read(path, invocation->value[other->id]))
                return terminal_error_print(STATUS_USAGE, "give each a file of its own",
                                            "--%s and --%s name the same file", output->name,
                                            other->name);
    return 0;
}

/* A slip of the hand must not cost anyone their ratings. */
static int check_outputs(const struct invocation *invocation) {
    const struct option_group *group;
    for (size_t i = 0; (group = verb_group(invocation->verb, i)) != NULL; i++) {
        for (const struct option *option = group->options; option->name != NULL; option++) {
            bool is_given =
                option->value.kind == VALUE_OUTPUT && command_has(invocation, option->id);
            int status = is_given ? check_output(invocation, option) : 0;
            if (status != 0) return status;
        }
    }
    return 0;
}

/* Two that want standard input: one would get all of it, and the other nothing. */
static int check_standard_input(const struct invocation *invocation) {
    const struct option_group *group;
    size_t n = 0;
    if (invocation->verb->operands.value.kind == VALUE_FILE)
        for (size_t i = 0; i < invocation->n_operands; i++)
            n += strcmp(invocation->operands[i], "-") == 0;
    for (size_t i = 0; (group = verb_group(invocation->verb, i)) != NULL; i++)
        for (const struct option *option = group->options; option->name != NULL; option++)
            n += option->value.kind == VALUE_FILE && options_is(invocation, option->id, "-");
    if (n < 2) return 0;
    return terminal_error_print(STATUS_USAGE, "give all but one of them as a file",
                                "standard input can be read only once");
}

/* ---- all of it ------------------------------------------------------------------------------- */

int options_parse(struct invocation *invocation, int argc, char **argv) {
    struct words words = {argc, argv};
    bool only_operands = false;
    int status = 0;
    while (words.n > 0 && status == 0) {
        const char *word = *words.word++;
        words.n--;
        if (only_operands || word[0] != '-' || word[1] == '\0')
            invocation->operands[invocation->n_operands++] = word;
        else if (strcmp(word, "--") == 0)
            only_operands = true;
        else if (word[1] == '-')
            status = parse_long(invocation, word, &words);
        else
            status = parse_letters(invocation, word, &words);
        if (status == 0 && command_has(invocation, OPTION_HELP)) return 0;
    }
    if (status == 0) status = check_operands(invocation);
    if (status == 0) status = check_required(invocation);
    if (status == 0) status = check_standard_input(invocation);
    if (status == 0) status = check_outputs(invocation);
    if (status == 0 && command_has(invocation, OPTION_QUIET) &&
        command_has(invocation, OPTION_VERBOSE))
        status = terminal_error_print(STATUS_USAGE, "keep one of them",
                                      "--quiet and --verbose exclude each other");
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

bool command_has(const struct invocation *invocation, enum option_id id) {
    return invocation->value[id] != NULL;
}

const char *options_name(const struct invocation *invocation, enum option_id id) {
    const struct option_group *group;
    for (size_t i = 0; (group = verb_group(invocation->verb, i)) != NULL; i++)
        for (const struct option *option = group->options; option->name != NULL; option++)
            if (option->id == id) return option->name;
    return "";
}

int options_refuse(const struct invocation *invocation, const enum option_id *ids, size_t n,
                   const char *why, const char *hint) {
    for (size_t i = 0; i < n; i++)
        if (command_has(invocation, ids[i]))
            return terminal_error_print(STATUS_USAGE, hint, "--%s %s",
                                        options_name(invocation, ids[i]), why);
    return STATUS_DONE;
}

int options_refuse_group(const struct invocation *invocation, const struct option *group,
                         enum option_id but, const char *why, const char *hint) {
    for (const struct option *option = group; option->name != NULL; option++)
        if (option->id != but && command_has(invocation, option->id))
            return terminal_error_print(STATUS_USAGE, hint, "--%s %s", option->name, why);
    return STATUS_DONE;
}

uint64_t options_count(const struct invocation *invocation, enum option_id id) {
    uint64_t count = 0;
    dpmf_parse_uint64(invocation->value[id], &count);
    return count;
}

uint32_t options_count32(const struct invocation *invocation, enum option_id id, uint32_t usual) {
    if (!command_has(invocation, id)) return usual;
    const uint64_t count = options_count(invocation, id);
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

uint32_t options_lanes(const struct invocation *invocation) {
    if (!command_has(invocation, OPTION_LANES)) return 0;
    const uint64_t lanes = options_count(invocation, OPTION_LANES);
    return lanes == 0 || lanes > UINT32_MAX ? UINT32_MAX : (uint32_t)lanes;
}

size_t options_counts(const struct invocation *invocation, enum option_id id, uint64_t *counts,
                      size_t room) {
    return read_counts(invocation->value[id], counts, room);
}

size_t options_numbers(const struct invocation *invocation, enum option_id id, double *numbers,
                       size_t room) {
    return read_number_list(invocation->value[id], numbers, room);
}

double options_number(const struct invocation *invocation, enum option_id id) {
    double number = 0;
    read_real(invocation->value[id], &number);
    return number;
}

uint64_t options_size(const struct invocation *invocation, enum option_id id) {
    uint64_t bytes = 0;
    dpmf_parse_size(invocation->value[id], &bytes);
    return bytes;
}

bool options_is(const struct invocation *invocation, enum option_id id, const char *value) {
    return command_has(invocation, id) && strcmp(invocation->value[id], value) == 0;
}

struct options_interval options_interval(const struct invocation *invocation, enum option_id id) {
    struct options_interval interval;
    read_interval(invocation->value[id], &interval);
    return interval;
}

void options_range(const struct invocation *invocation, enum option_id id, double range[2]) {
    read_numbers(invocation->value[id], ":", range);
}

void options_scale(const struct invocation *invocation, enum option_id id, double scale[3]) {
    scale[2] = 0;
    read_numbers(invocation->value[id], "::", scale);
}

struct dpmf_input_options options_input(const struct invocation *invocation) {
    struct dpmf_input_options input = dpmf_input_options_default();
    input.format = invocation->value[OPTION_FORMAT];
    input.columns = invocation->value[OPTION_COLUMNS];
    input.user_column = invocation->value[OPTION_USER_COLUMN];
    input.item_column = invocation->value[OPTION_ITEM_COLUMN];
    input.rating_column = invocation->value[OPTION_RATING_COLUMN];
    input.time_column = invocation->value[OPTION_TIME_COLUMN];
    if (command_has(invocation, OPTION_SEPARATOR))
        input.separator = read_separator(invocation->value[OPTION_SEPARATOR]);
    if (command_has(invocation, OPTION_RESCALE)) {
        double number[4] = {0};
        read_numbers(invocation->value[OPTION_RESCALE], ":=:", number);
        input.rescale = true;
        input.from_min = number[0];
        input.from_max = number[1];
        input.to_min = number[2];
        input.to_max = number[3];
    }
    if (command_has(invocation, OPTION_RATING_RANGE)) {
        double range[2] = {0};
        options_range(invocation, OPTION_RATING_RANGE, range);
        input.has_range = true;
        input.range_min = range[0];
        input.range_max = range[1];
    }
    input.events = command_has(invocation, OPTION_EVENTS);
    input.skip_bad = options_is(invocation, OPTION_ON_ERROR, "skip");
    return input;
}

/* Whether this may be a file whose columns options can name. */
static bool may_be_table(const char *path) {
    const enum dpmf_file_kind kind = dpmf_file_kind(path);
    return kind == DPMF_FILE_NONE || kind == DPMF_FILE_OTHER;
}

struct dpmf_input_options options_input_of(const struct invocation *invocation, const char *path) {
    static const enum option_id others[] = {OPTION_VALID, OPTION_HISTORY, OPTION_MINE};
    struct dpmf_input_options input = options_input(invocation);
    bool is_for_another = false;
    if (dpmf_file_kind(path) != DPMF_FILE_STORE) return input;
    for (size_t i = 0; i < invocation->n_operands; i++)
        is_for_another |= may_be_table(invocation->operands[i]);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        is_for_another |=
            command_has(invocation, others[i]) && may_be_table(invocation->value[others[i]]);
    if (!is_for_another) return input;
    input.format = input.columns = NULL;
    input.user_column = input.item_column = input.rating_column = input.time_column = NULL;
    input.separator = 0;
    return input;
}

int options_like(const struct invocation *invocation, bool *has_like, double *like) {
    *has_like = false;
    *like = 0;
    if (!command_has(invocation, OPTION_LIKE) || options_is(invocation, OPTION_LIKE, "any"))
        return STATUS_DONE;
    *has_like = dpmf_parse_double(invocation->value[OPTION_LIKE], like) == 0;
    return *has_like ? STATUS_DONE
                     : terminal_error_print(STATUS_USAGE, "for example: --like 4, or --like any",
                                            "--like %s is neither a number nor any",
                                            invocation->value[OPTION_LIKE]);
}

bool options_goal_of(struct invocation *invocation, const struct dpmf_store *store) {
    struct dpmf_store_info info;
    if (command_has(invocation, OPTION_GOAL) || command_has(invocation, OPTION_SOLVER))
        return false;
    dpmf_store_info(store, &info);
    if (!info.holds_events) return false;
    invocation->value[OPTION_GOAL] = "ranking";
    terminal_note_print(&invocation->terminal,
                        "these are events, not ratings: learning to rank (--goal ranking)");
    return true;
}
