/*
 * Inside another program: ratings that are in memory already, progress on the way, and an end when
 * it is asked for.
 *
 *     cc 06_in_memory.c $(pkg-config --cflags --libs dpmf) -o 06_in_memory
 *     ./06_in_memory model.safetensors
 */
#include <dpmf.h>
#include <stdio.h>

enum { USERS = 400, ITEMS = 60, RATINGS = 8000, EPOCHS_ENOUGH = 4 };

/* What a database, a message queue or a form would have: everyone likes items with a number near
 * their own. */
static void fill(int64_t *users, int64_t *items, double *ratings) {
    for (int64_t i = 0; i < RATINGS; i++) {
        users[i] = i % USERS;
        items[i] = (i * 7 + i / USERS) % ITEMS;
        int64_t apart = (users[i] % ITEMS) - items[i];
        ratings[i] = 5 - (double)(4 * (apart < 0 ? -apart : apart)) / ITEMS;
    }
}

/* Called after every epoch; anything but 0 ends training with what there is by then. */
static int watch(void *self, const struct dpmf_epoch *epoch) {
    int *seen = self;
    *seen += 1;
    return epoch->epoch >= EPOCHS_ENOUGH;
}

int main(int argc, char **argv) {
    static int64_t users[RATINGS], items[RATINGS];
    static double ratings[RATINGS];
    struct dpmf_arrays arrays = {.size = sizeof arrays,
                                 .n = RATINGS,
                                 .n_users = USERS,
                                 .n_items = ITEMS,
                                 .users = users,
                                 .items = items,
                                 .ratings = ratings};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;
    struct dpmf_train_options options = dpmf_train_options_default();
    struct dpmf_train_report report;
    struct dpmf_run run = dpmf_run_default();
    int seen = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: 06_in_memory MODEL\n");
        return 2;
    }
    fill(users, items, ratings);
    run.memory = 64 << 20;
    options.factors = 8;
    options.deterministic = true;
    int code = dpmf_store_from_arrays(&arrays, NULL, &run, &store, &error);
    if (code == 0)
        code = dpmf_train(store, NULL, argv[1], &options, &run, watch, &seen, &report, &error);
    if (code == 0) printf("%d epochs, error on the ratings %.4f\n", seen, report.train_rmse);
    dpmf_store_close(store);
    if (code != 0) {
        char text[2 * DPMF_ERROR_TEXT_MAX];
        dpmf_error_format(&error, NULL, NULL, text, sizeof text);
        fprintf(stderr, "06_in_memory: %s\n", text);
    }
    return code != 0;
}
