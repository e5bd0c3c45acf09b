/*
 * Property: whatever a verb is given to read, with whatever options, it ends with one of its exit
 * statuses and never as a bug of its own. Status 0 means that every output is there, opens and
 * passes its own checks, that JSON lines are JSON, and that a private release is in the ledger; any
 * other leaves no output, and an error says so. Nothing else is left, and no input is changed but
 * the ledger. The first byte of the input chooses a line of verbs_lines.h, the next ones decide
 * what is in it, and the rest edits one or two of its files (verbs_files.h):
 *
 *     place among the line's files, file to edit (its own, given bytes, or another), length in two
 *     bytes, edits; and the same again
 *
 * Everything that is random comes from a counter, so that an input does the same every time.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/report.h"
#include "verbs_files.h"
#include "verbs_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH_MAX_BYTES = 256, PLACE_FILES = 16 };

/* A file of the folder that a line runs in: read, or written. */
struct place_file {
    char name[64], path[PATH_MAX_BYTES];
    const uint8_t *bytes; /* of an input; NULL: an output */
    size_t n;
    uint8_t *owned;
    bool may_change, may_be_there;
};

struct place_files {
    struct place_file files[PLACE_FILES];
    size_t n;
};

/* One run of the program. */
struct verb_run {
    int status;
    char *output, *messages;
    size_t n_output, n_messages;
};

static char root[PATH_MAX_BYTES / 2]; /* the folder of this process, in memory where there is one */
static const char *shown = "";        /* the line under way, for whoever reads of a fault */
static uint64_t random_state;

static void remove_folder(const char *path);

static void must(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "\nfuzz_verbs: %s\n  dpmf %s\n", what, shown);
    remove_folder(root);
    abort();
}

static void must_run(bool holds, const char *what, const struct verb_run *run) {
    if (!holds) fprintf(stderr, "\nstatus %d\n%s%s", run->status, run->output, run->messages);
    must(holds, what);
}

/* In the place of the system's: what a seed does is the same every time, fresh noise included. */
ssize_t getrandom(void *out, size_t n, unsigned flags) {
    uint8_t *bytes = out;
    (void)flags;
    for (size_t i = 0; i < n; i++) {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(random_state >> 56);
    }
    return (ssize_t)n;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void write_bytes(const char *path, const void *bytes, size_t n) {
    FILE *file = fopen(path, "wb");
    must(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0, path);
}

/* @return NULL when there is no such file */
static uint8_t *read_bytes(const char *path, size_t *n) {
    struct stat facts;
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    must(fstat(fileno(file), &facts) == 0, path);
    *n = (size_t)facts.st_size;
    uint8_t *bytes = malloc(*n + 1);
    must(bytes && fread(bytes, 1, *n, file) == *n, path);
    bytes[*n] = '\0';
    (void)fclose(file);
    return bytes;
}

static void remove_folder(const char *path) {
    char below[2 * PATH_MAX_BYTES];
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(below, sizeof below, "%.255s/%s", path, entry->d_name);
        if (unlink(below) != 0) remove_folder(below);
    }
    if (folder) (void)closedir(folder);
    (void)rmdir(path);
}

static void remove_root(void) { remove_folder(root); }

static void make_folder(const char *name) {
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%s/%s", root, name);
    remove_folder(path);
    must(mkdir(path, 0700) == 0, path);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* As main() does it, with both of its streams in memory; the sanitizers have the real ones. */
static struct verb_run run_words(int n, char **words) {
    struct verb_run run = {0};
    FILE *const own_output = stdout, *const own_messages = stderr;
    const struct verb *verb = verb_find(words[0]);
    must(verb != NULL, words[0]);
    stdout = open_memstream(&run.output, &run.n_output);
    stderr = open_memstream(&run.messages, &run.n_messages);
    if (!stdout || !stderr) abort();
    run.status = report_stdout_check(command_run(verb, n - 1, words + 1));
    (void)fclose(stdout);
    (void)fclose(stderr);
    stdout = own_output;
    stderr = own_messages;
    unsetenv("DPMF_KERNELS"); /* --kernels sets it */
    return run;
}

static void run_free(struct verb_run *run) {
    free(run->output);
    free(run->messages);
}

static int words_of(char *line, char **words) {
    int n = 0;
    for (char *rest, *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        must(n < LINE_WORDS, "a line has too many words");
        words[n++] = word;
    }
    return n;
}

/* A command line of our own, which looks at what another one made. */
static struct verb_run run_line(const char *format, const char *path, const char *more) {
    char line[3 * PATH_MAX_BYTES], *words[LINE_WORDS];
    snprintf(line, sizeof line, format, path, more);
    return run_words(words_of(line, words), words);
}

/* ---- what must hold of a run ----------------------------------------------------------------- */

static bool is_text(const char *text, size_t n) { return strlen(text) == n; }

static void check_messages(const struct verb_run *run) {
    static const char mark[] = "dpmf: error: ";
    const char *error = strstr(run->messages, mark);
    must_run(is_text(run->messages, run->n_messages), "a message has a NUL", run);
    must_run(run->status >= 0 && run->status <= 6, "the exit status is none that is documented",
             run);
    if (run->status == STATUS_DONE)
        must_run(!error, "there is an error, and the status is 0", run);
    else
        must_run(error && (error == run->messages || strchr("\n\r\033K", error[-1])),
                 "it failed without an error", run);
}

static void check_json(const struct verb_run *run) {
    for (const char *at = run->output, *end; *at; at = end + 1) {
        struct json_reader reader;
        end = strchr(at, '\n');
        must_run(end != NULL && *at == '{', "a line of --json is no object", run);
        json_reader_init(&reader, at, (size_t)(end - at));
        must_run(json_skip(&reader, json_next(&reader)) && json_next(&reader).kind == JSON_END,
                 "a line of --json is not JSON", run);
    }
}

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool has_word(int n, char **words, const char *word) {
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

/* What a verb made is read again by the verbs that look at such files. */
static void check_output(const struct place_file *file, int n, char **words) {
    struct stat facts;
    must(stat(file->path, &facts) == 0, "status 0, and an output is missing");
    const bool is_store = ends_with(file->path, ".dpr"),
               is_model = ends_with(file->path, ".safetensors");
    if (is_store || is_model || strcmp(words[0], "shard") == 0) {
        struct verb_run run = run_line("describe %s%s", file->path, "");
        must_run(run.status == STATUS_DONE, "what was made cannot be read", &run);
        run_free(&run);
    }
    const bool is_marked =
        has_word(n, words, "--insecure-noise-seed") || has_word(n, words, "--research");
    if (is_model && has_word(n, words, "--epsilon")) {
        struct verb_run run = run_line("privacy verify %s --accept both%s", file->path, "");
        must_run(run.status == (is_marked ? STATUS_NO : STATUS_DONE),
                 "the release is not what it says", &run);
        run_free(&run);
    }
}

static const char *value_of(int n, char **words, const char *option) {
    for (int i = 0; i + 1 < n; i++)
        if (strcmp(words[i], option) == 0) return words[i + 1];
    return NULL;
}

/* The id of a release is in its statement; with noise of a seed it spends nothing. */
static void check_ledger(const struct place_file *file, int n, char **words) {
    static const char key[] = "\\\"release_id\\\":\\\"";
    char id[33] = "", path[PATH_MAX_BYTES];
    size_t length;
    if (has_word(n, words, "--insecure-noise-seed")) return;
    uint8_t *bytes = read_bytes(file->path, &length);
    const char *at = bytes ? memmem(bytes, length, key, sizeof key - 1) : NULL;
    if (at) snprintf(id, sizeof id, "%.32s", at + sizeof key - 1);
    free(bytes);
    const char *ledger = value_of(n, words, "--ledger");
    snprintf(path, sizeof path, "%s/state/dpmf/ledger", root);
    struct verb_run run = run_line("ledger show --json --ledger %s%s", ledger ? ledger : path, "");
    must_run(run.status == STATUS_DONE && strlen(id) == 32 && strstr(run.output, id),
             "a release is not in the ledger", &run);
    run_free(&run);
}

/* ---- the folder that a line runs in ---------------------------------------------------------- */

static struct place_file *add_file(struct place_files *place, const char *name) {
    must(place->n < PLACE_FILES, "a line has too many files");
    struct place_file *file = &place->files[place->n];
    *file = (struct place_file){.n = 0};
    if (name[0] == '@') /* a file may be there twice, and changed once */
        snprintf(file->name, sizeof file->name, "%zu-%.50s", place->n, name + 1);
    else
        snprintf(file->name, sizeof file->name, "%.50s", name + 1);
    snprintf(file->path, sizeof file->path, "%s/place/%s", root, file->name);
    place->n++;
    return file;
}

/* Words for files become paths, of files that are added to the place. */
static void name_files(int n, char **words, struct place_files *place) {
    for (int i = 0; i < n; i++) {
        if (!strchr("@%?", words[i][0])) continue;
        struct place_file *file = add_file(place, words[i]);
        file->may_be_there = words[i][0] == '?';
        if (words[i][0] == '@') {
            const struct input_file *from = input_file_find(words[i] + 1);
            file->bytes = from->bytes;
            file->n = from->n;
            file->may_change = i > 0 && strcmp(words[i - 1], "--ledger") == 0;
            if (words[0][0] == 'l') file->may_change = true; /* dpmf ledger itself */
        }
        words[i] = file->path;
    }
}

/* The next file of the input that is to be edited. @return how many bytes it took */
static size_t edit_next(struct place_files *place, const uint8_t *data, size_t size) {
    struct place_file *inputs[PLACE_FILES];
    size_t n_inputs = 0, length = data[2] | (size_t)data[3] << 8;
    if (length > size - 4) length = size - 4;
    for (size_t i = 0; i < place->n; i++)
        if (place->files[i].bytes) inputs[n_inputs++] = &place->files[i];
    if (n_inputs == 0) return 4 + length;
    struct place_file *file = inputs[data[0] % n_inputs];
    const struct input_file *from = input_file_find(strchr(file->name, '-') + 1);
    if (data[1] > 1) from = &input_files[(data[1] - 2u) % INPUT_FILES];
    free(file->owned);
    if (data[1] == 1) {
        file->owned = malloc(length + 1);
        if (!file->owned) abort();
        memcpy(file->owned, data + 4, file->n = length);
    } else {
        file->owned = edit_file(from, data + 4, length, &file->n);
    }
    file->bytes = file->owned;
    return 4 + length;
}

static const struct place_file *find_file(const struct place_files *place, const char *name) {
    for (size_t i = 0; i < place->n; i++)
        if (strcmp(place->files[i].name, name) == 0) return &place->files[i];
    return NULL;
}

/* What a line may leave: its inputs as they were, outputs if it ended well, and locks of ledgers;
 * of an export for LIBMF also the ids beside it. */
static void check_place(const struct place_files *place, bool is_done) {
    char path[PATH_MAX_BYTES], what[2 * PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%s/place", root);
    DIR *folder = opendir(path);
    must(folder != NULL, path);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        const struct place_file *file = find_file(place, name);
        const bool is_beside = (is_done && strncmp(name, "m.", 2) == 0) || ends_with(name, ".lock");
        snprintf(what, sizeof what, "%s is left behind", name);
        must(is_beside || (file && (file->bytes || is_done || file->may_be_there)), what);
    }
    (void)closedir(folder);
    for (size_t i = 0; i < place->n; i++) {
        const struct place_file *file = &place->files[i];
        size_t n;
        if (!file->bytes || file->may_change) continue;
        uint8_t *now = read_bytes(file->path, &n);
        must(now && n == file->n && memcmp(now, file->bytes, n) == 0, "an input is changed");
        free(now);
    }
}

static void check_run(const struct verb_run *run, const struct place_files *place, int n,
                      char **words) {
    check_messages(run);
    if (has_word(n, words, "--json") && run->status == STATUS_DONE && !has_word(n, words, "-"))
        check_json(run);
    check_place(place, run->status == STATUS_DONE);
    for (size_t i = 0; i < place->n && run->status == STATUS_DONE; i++) {
        const struct place_file *file = &place->files[i];
        if (file->bytes || file->may_be_there) continue;
        check_output(file, n, words);
        if (strcmp(words[0], "train") == 0 && has_word(n, words, "--epsilon"))
            check_ledger(file, n, words);
    }
}

/* ---- a line ---------------------------------------------------------------------------------- */

static char *joined(int n, char **words) {
    char *text = calloc(1, 2 * LINE_MAX + PLACE_FILES * PATH_MAX_BYTES);
    if (!text) abort();
    for (int i = 0; i < n; i++) strcat(strcat(text, words[i]), " ");
    return text;
}

/* `line` is written over. `edits` may be empty. */
static void try_line(char *line, const uint8_t *edits, size_t size) {
    struct place_files place = {.n = 0};
    char *words[LINE_WORDS];
    const int n = words_of(line, words);
    random_state = 1;
    make_folder("place");
    make_folder("state");
    name_files(n, words, &place);
    for (int i = 0; i < 2 && size >= 4; i++) {
        const size_t taken = edit_next(&place, edits, size);
        edits += taken;
        size -= taken;
    }
    for (size_t i = 0; i < place.n; i++)
        if (place.files[i].bytes)
            write_bytes(place.files[i].path, place.files[i].bytes, place.files[i].n);
    char *text = joined(n, words);
    shown = text;
    struct verb_run run = run_words(n, words);
    check_run(&run, &place, n, words);
    run_free(&run);
    free(text);
    for (size_t i = 0; i < place.n; i++) free(place.files[i].owned);
}

/* ---- the files that lines begin with --------------------------------------------------------- */

static int remember_epoch(void *self, const struct dpmf_epoch *epoch) {
    (void)epoch;
    *(bool *)self = true;
    return 0;
}

static int stop_after_epoch(void *self, const struct dpmf_progress *progress) {
    (void)progress;
    return *(bool *)self;
}

/* The snapshot of a run that was interrupted after an epoch. */
static void make_snapshot(const char *path) {
    char store_path[PATH_MAX_BYTES], output[PATH_MAX_BYTES];
    struct dpmf_train_options options = dpmf_train_options_default();
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_train_report report;
    struct dpmf_store *store;
    bool is_over = false;
    snprintf(store_path, sizeof store_path, "%s/made/made.store", root);
    snprintf(output, sizeof output, "%s/made/interrupted", root);
    options.factors = 2;
    options.epochs = 3;
    options.snapshot = path;
    run.threads = 1;
    run.progress = stop_after_epoch;
    run.progress_self = &is_over;
    must(dpmf_store_open(store_path, NULL, NULL, &store, NULL) == 0, store_path);
    must(dpmf_train(store, NULL, output, &options, &run, remember_epoch, &is_over, &report, NULL) <
             0,
         "a run was not interrupted");
    dpmf_store_close(store);
}

/* Words @NAME and %NAME are paths here, and outputs stay for the next ones. */
static void run_maker(const struct input_file *file) {
    char text[LINE_MAX], *words[LINE_WORDS], paths[LINE_WORDS][PATH_MAX_BYTES];
    snprintf(text, sizeof text, "%s %%made.%s", file->text, file->name);
    const int n = words_of(text, words);
    for (int i = 0; i < n; i++) {
        if (!strchr("@%", words[i][0])) continue;
        snprintf(paths[i], sizeof paths[i], "%s/made/%s%s", root, words[i][0] == '@' ? "made." : "",
                 words[i] + 1);
        words[i] = paths[i];
    }
    struct verb_run run = run_words(n, words);
    must_run(run.status == STATUS_DONE, file->name, &run);
    run_free(&run);
}

static void make_files(void) {
    char path[PATH_MAX_BYTES];
    const char *memory = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
    snprintf(root, sizeof root, "%.80s/dpmf-fuzz-verbs-XXXXXX", memory ? memory : "/tmp");
    must(mkdtemp(root) != NULL, root);
    (void)atexit(remove_root);
    make_folder("temporary");
    make_folder("made");
    make_folder("state");
    snprintf(path, sizeof path, "%s/state", root);
    setenv("XDG_STATE_HOME", path, 1);
    setenv("HOME", path, 1);
    snprintf(path, sizeof path, "%s/temporary", root);
    setenv("TMPDIR", path, 1);
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC); /* nobody is asked, or reads it */
    must(dup2(nowhere, STDIN_FILENO) >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0, "/dev/null");
    random_state = 1;
    for (size_t i = 0; i < INPUT_FILES; i++) {
        struct input_file *file = &input_files[i];
        snprintf(path, sizeof path, "%s/made/made.%s", root, file->name);
        if (file->kind == FILE_TEXT) write_bytes(path, file->text, strlen(file->text));
        if (!file->text) make_snapshot(path);
        if (file->kind != FILE_TEXT && file->text) run_maker(file);
    }
    for (size_t i = 0; i < INPUT_FILES; i++) { /* at the end: makers add to the ledger */
        struct input_file *file = &input_files[i];
        snprintf(path, sizeof path, "%s/made/made.%s", root, file->name);
        file->bytes = read_bytes(path, &file->n);
        must(file->bytes != NULL, path);
    }
    make_folder("made");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char line[LINE_MAX] = "";
    size_t n = 0, n_choices = 0;
    if (root[0] == '\0') make_files();
    if (size < 1 + LINE_CHOICES) return 0;
    const char *at = verb_lines[data[0] % VERB_LINES];
    line_decide(&at, data + 1, &n_choices, true, line, &n);
    try_line(line, data + 1 + LINE_CHOICES, size - 1 - LINE_CHOICES);
    return 0;
}
