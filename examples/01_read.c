/* Ratings in: any format, compressed or not. */
#include <dpmf.h>
#include <stdio.h>

int main(int argc, char **argv) {
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;
    struct dpmf_store_info info;
    if (argc != 2) return 2;
    if (dpmf_store_open(argv[1], NULL, NULL, &store, &error) != 0) {
        char text[2 * DPMF_ERROR_TEXT_MAX];
        dpmf_error_format(&error, NULL, NULL, text, sizeof text);
        fprintf(stderr, "01_read: %s\n", text);
        return 1;
    }
    dpmf_store_info(store, &info);
    printf("%zu users, %zu items, from %g to %g\n", (size_t)info.users, (size_t)info.items,
           info.min, info.max);
    dpmf_store_close(store);
    return 0;
}
