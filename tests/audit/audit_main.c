/*
 * Audits this very executable: made-up ratings, one audit, and what it found. Linked alone it
 * audits the mechanism as it is; linked with one of the mutant_*.c, which put something wrong in
 * the place of one function of the library (the linker's --wrap), it audits that. run.sh says what
 * must come out.
 *
 *     audit_main MECHANISM RUNS USERS ITEMS  prints the names of the findings; 1 when there are any
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dpmf.h"

static unsigned step(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Users like one of two kinds of items and rate about half of all; the catalogue has items that
 * nobody rated. */
static int write_world(const char *folder, int users, int items) {
    char path[512];
    unsigned state = 1;
    snprintf(path, sizeof path, "%s/ratings.csv", folder);
    FILE *ratings = fopen(path, "w");
    snprintf(path, sizeof path, "%s/items.csv", folder);
    FILE *catalogue = fopen(path, "w");
    if (!ratings || !catalogue) return -1;
    fputs("user,item,rating\n", ratings);
    fputs("item\n", catalogue);
    for (int j = 0; j < items; j++) fprintf(catalogue, "i%d\n", j);
    for (int u = 0; u < users; u++)
        for (int j = 0; j < items - 2; j++) {
            int likes = u % 2 == j % 2, noise = (int)(step(&state) % 3) - 1;
            if (step(&state) % 2) continue;
            fprintf(ratings, "u%d,i%d,%d\n", u, j, (likes ? 4 : 2) + noise);
        }
    return fclose(ratings) | fclose(catalogue);
}

static void print_findings(const struct dpmf_audit_report *report) {
    static const char *const names[] = {"loss",      "norm",      "noise", "draws",
                                        "statement", "catalogue", "worlds"};
    printf("found:");
    for (int i = 0; i < 7; i++)
        if (report->findings >> i & 1) printf(" %s", names[i]);
    printf("\n");
    for (size_t i = 0; i < report->n; i++) printf("  %s\n", report->finding[i]);
    printf("  mu %.4f claimed, %.4f shown; %llu runs, %llu right; %llu rounds; %.1f s\n",
           report->mu, report->mu_low, (unsigned long long)(report->runs_in + report->runs_out),
           (unsigned long long)report->guessed_right, (unsigned long long)report->noisy_rounds,
           report->seconds);
    printf("  epsilon %.4f claimed, %.4f shown; %llu guesses, %llu right\n", report->epsilon,
           report->epsilon_low, (unsigned long long)report->guesses,
           (unsigned long long)report->guesses_right);
}

static int audit(const char *folder, const char *mechanism, unsigned long runs) {
    char ratings[512], items[512];
    struct dpmf_release_options release = dpmf_release_options_default();
    struct dpmf_audit_options options = dpmf_audit_options_default();
    struct dpmf_audit_report report;
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;
    snprintf(ratings, sizeof ratings, "%s/ratings.csv", folder);
    snprintf(items, sizeof items, "%s/items.csv", folder);
    release.epsilon = 1;
    if (strcmp(mechanism, "events") != 0) {
        release.range_min = 1;
        release.range_max = 5;
    }
    release.mechanism = mechanism;
    release.catalogue = items;
    options.runs = runs;
    options.confidence = 0.9999;
    int code = dpmf_store_open(ratings, NULL, NULL, &store, &error);
    if (code == 0) code = dpmf_audit(store, &release, &options, NULL, &report, &error);
    dpmf_store_close(store);
    unlink(ratings);
    unlink(items);
    if (code != 0 && code != DPMF_ERR_PRIVACY_ACCUSED) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    print_findings(&report);
    return code != 0;
}

int main(int argc, char **argv) {
    const char *base = getenv("TMPDIR");
    char folder[256];
    if (argc != 5) return 2;
    snprintf(folder, sizeof folder, "%s/dpmf-audit-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder)) return 2;
    int status = write_world(folder, atoi(argv[3]), atoi(argv[4])) == 0
                     ? audit(folder, argv[1], strtoul(argv[2], NULL, 10))
                     : 2;
    rmdir(folder);
    return status;
}
