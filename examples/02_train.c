/*
 * Learning: a tenth of the ratings is held back, a model is trained on the others, and what it
 * expects of those held back is compared with what they are.
 *
 *     cc 02_train.c $(pkg-config --cflags --libs dpmf) -o 02_train
 *     ./02_train ratings.csv model.safetensors
 */
#include <dpmf.h>
#include <stdio.h>

static int train(struct dpmf_store *ratings, const char *output, struct dpmf_error *error) {
    struct dpmf_split_options split = dpmf_split_options_default();
    struct dpmf_train_options options = dpmf_train_options_default();
    struct dpmf_evaluate_options evaluate = dpmf_evaluate_options_default();
    struct dpmf_split_report parts;
    struct dpmf_evaluation found;
    struct dpmf_store *most = NULL, *rest = NULL;
    struct dpmf_model *model = NULL;
    options.deterministic = true; /* the same model on any number of cores */
    int code = dpmf_store_split(ratings, "most.dpr", "rest.dpr", &split, NULL, &parts, error);
    if (code == 0) code = dpmf_store_open("most.dpr", NULL, NULL, &most, error);
    if (code == 0) code = dpmf_store_open("rest.dpr", NULL, NULL, &rest, error);
    if (code == 0) code = dpmf_train(most, NULL, output, &options, NULL, NULL, NULL, NULL, error);
    if (code == 0) code = dpmf_model_open(output, &model, error);
    if (code == 0) code = dpmf_model_evaluate(model, rest, most, &evaluate, NULL, &found, error);
    if (code == 0)
        printf("RMSE %.4f and MAE %.4f of %zu ratings held back\n", found.rmse, found.mae,
               (size_t)found.n);
    dpmf_model_close(model);
    dpmf_store_close(rest);
    dpmf_store_close(most);
    return code;
}

int main(int argc, char **argv) {
    struct dpmf_error error = {0};
    struct dpmf_store *ratings = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: 02_train RATINGS MODEL\n");
        return 2;
    }
    int code = dpmf_store_open(argv[1], NULL, NULL, &ratings, &error);
    if (code == 0) code = train(ratings, argv[2], &error);
    dpmf_store_close(ratings);
    if (code != 0) {
        char text[2 * DPMF_ERROR_TEXT_MAX];
        dpmf_error_format(&error, NULL, NULL, text, sizeof text);
        fprintf(stderr, "02_train: %s\n", text);
    }
    return code != 0;
}
