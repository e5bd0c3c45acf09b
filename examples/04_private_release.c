/*
 * Publishing: item vectors that say little about any one person, with a statement of what was
 * proven. What the ratings may not tell is declared: the list of all items, and the range of
 * ratings.
 *
 *     cc 04_private_release.c $(pkg-config --cflags --libs dpmf) -o 04_private_release
 *     dpmf ledger init ledger   # once
 *     ./04_private_release ratings.csv titles.csv release.safetensors
 */
#include <dpmf.h>
#include <stdio.h>

/* What the file itself proves to whoever gets it. */
static int verify(const char *release, struct dpmf_error *error) {
    struct dpmf_verification held;
    int code = dpmf_release_verify(release, 0, &held, error);
    if (code == 0) printf("verified in %zu steps\n", held.n);
    return code;
}

int main(int argc, char **argv) {
    struct dpmf_error error = {0};
    struct dpmf_store *ratings = NULL;
    struct dpmf_release_report report;
    struct dpmf_release_options options = dpmf_release_options_default();
    struct dpmf_input_options reading = dpmf_input_options_default();
    if (argc != 4) {
        fprintf(stderr, "usage: 04_private_release RATINGS CATALOGUE RELEASE\n");
        return 2;
    }
    options.epsilon = 2;
    options.range_min = 1;
    options.range_max = 5;
    options.catalogue = argv[2];
    options.ledger = "ledger"; /* made with dpmf ledger init; NULL: the user's own */
    reading.by_record =
        true; /* nobody's record decides how another's is read, or whether there is a release */
    int code = dpmf_store_open(argv[1], &reading, NULL, &ratings, &error);
    if (code == 0) code = dpmf_release_make(ratings, argv[3], &options, NULL, &report, &error);
    if (code == 0) printf("epsilon %g at delta %g\n", report.epsilon, report.delta);
    if (code == 0) code = verify(argv[3], &error);
    dpmf_store_close(ratings);
    if (code != 0) {
        char text[2 * DPMF_ERROR_TEXT_MAX], hint[2 * DPMF_ERROR_TEXT_MAX];
        dpmf_error_format(&error, NULL, NULL, text, sizeof text);
        dpmf_error_text(error.hint, NULL, NULL, hint, sizeof hint);
        fprintf(stderr, "04_private_release: %s\n  %s\n", text, hint);
    }
    return code != 0;
}
