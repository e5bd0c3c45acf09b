/*
 * An export whose titles are bytes that are no text, as a program of others may hand them over:
 * dpmf itself reads catalogues into UTF-8. Run by tests/database/exports.sh; prints what the
 * library says, and ends with its exit status.
 *
 *     raw_title MODEL ADDRESS
 */
#include <dpmf.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    struct dpmf_error error = {0};
    struct dpmf_model *model = NULL;
    struct dpmf_model_info info;
    struct dpmf_export_options options = dpmf_export_options_default();
    if (argc != 3 || dpmf_model_open(argv[1], &model, &error) != 0) return 70;
    dpmf_model_info(model, &info);
    const char **titles = calloc(info.items, sizeof titles[0]);
    if (!titles) return 70;
    titles[1] = "caf\xe9";
    options.form = DPMF_EXPORT_PGVECTOR;
    options.not_private = true;
    options.titles = titles;
    int code = dpmf_model_export(model, NULL, argv[2], &options, NULL, NULL, &error);
    if (code != 0) fprintf(stderr, "%s\n  %s\n", error.message, error.hint);
    free(titles);
    dpmf_model_close(model);
    return code == 0 ? 0 : code == DPMF_ERR_INPUT_ID ? 3 : 70;
}
