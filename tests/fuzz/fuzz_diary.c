/*
 * Property: no file, however made, makes the reader of histories crash or read out of bounds. What
 * it counts adds up; titles are UTF-8 and ended by NUL; ratings are on the service's scale; what is
 * recognised by its first bytes is either read or refused with an error that says why.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "dpmf_client.h"
#include "titles/diary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text) {
    const size_t n = strlen(text);
    for (size_t i = 0, step; i < n; i += step) {
        step = utf8_sequence(text + i, n - i);
        if (step == 0) abort();
    }
}

static void check_entries(const struct dpmf_diary *diary) {
    struct dpmf_diary_info info;
    struct dpmf_diary_entry entry;
    dpmf_diary_info(diary, &info);
    if (info.bad + info.wishes + info.trifles + info.entries > info.rows) abort();
    if (info.sure + info.likely + info.unsure + info.none != info.entries) abort();
    if ((info.bad > 0) != (info.fault != NULL)) abort();
    for (size_t i = 0; i < info.entries; i++) {
        if (!dpmf_diary_entry(diary, i, &entry)) abort();
        const struct diary_service *service = diary_service_find(entry.service);
        if (service == NULL || entry.plays == 0) abort();
        check_text(entry.title);
        check_text(entry.creator);
        if (service->scale_max > 0 && !isnan(entry.rating) &&
            !(entry.rating >= service->scale_min && entry.rating <= service->scale_max))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct dpmf_diary *diary = NULL;
    struct dpmf_error error = {0};
    char *bytes = malloc(size + 1); /* so that reading past the end is noticed */
    if (bytes == NULL || dpmf_diary_new(&diary, NULL) != 0) abort();
    if (size > 0) memcpy(bytes, data, size);
    const char *service = dpmf_diary_service(bytes, size);
    const int code = dpmf_diary_add(diary, bytes, size, "file", &error);
    if (code > 0 || code != error.code) abort();
    if ((service == NULL) != (code == DPMF_ERR_INPUT_UNKNOWN_FORMAT)) abort();
    check_entries(diary);
    dpmf_diary_free(diary);
    free(bytes);
    return 0;
}
