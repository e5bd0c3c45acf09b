/*
 * The checks of tests/unit/kernel_checks.h as a program that needs nothing but the C library, to be
 * compiled for another machine and run under an emulator. Prints a line a set; fails when any did.
 */
#include "unit/kernel_checks.h"

int main(void) {
    char message[400];
    int passed = 0, failed = 0, skipped = 0;
    for (size_t i = 0; kernel_set_at(i); i++) {
        const struct kernel_set *set = kernel_set_at(i);
        if (!set->is_supported()) {
            printf("skipped %s: not supported here\n", set->name);
            skipped++;
        } else if (kernel_checks_run(set, message, sizeof message) < 0) {
            printf("failed %s\n", message);
            failed++;
        } else {
            printf("passed %s\n", set->name);
            passed++;
        }
    }
    printf("%d passed, %d failed", passed, failed);
    printf(skipped ? ", %d skipped\n" : "\n", skipped);
    return failed > 0;
}
