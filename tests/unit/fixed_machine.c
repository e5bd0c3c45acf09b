/*
 * The machine that unit tests run on is always the same one, whatever it is: unless the environment
 * says otherwise, they work for caches of 32 KiB, 512 KiB and 32 MiB. scripts/run_tests.sh runs
 * those that depend on caches for other shapes too. Linked into every unit and failure test.
 */
#define _GNU_SOURCE
#include <stdlib.h>

__attribute__((constructor)) static void fix_machine(void) {
    setenv("DPMF_CACHES", "32K,512K,32M", 0);
}
