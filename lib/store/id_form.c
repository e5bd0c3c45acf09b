/*
 * From texts to the ids that the readers of ratings would make of them. The numbers go through
 * number_parse_whole, as those of the readers do. Fed by what a store says about how it was read;
 * feeds the wishes of users.
 */
#include "store/id_form.h"

#include <string.h>

#include "base/number.h"
#include "base/utf8.h"
#include "store/store.h"

enum { DIGITS_MAX = 39 }; /* digits of 128 bits */

/* ---- the forms ------------------------------------------------------------------------------- */

static const struct format_ids {
    const char *format;
    struct id_form form;
} known_formats[] = {
    {"csv", {.takes_text = true}},
    {"tsv", {.takes_text = true}},
    {"movielens", {.takes_text = true, .without = "::"}},
    {"u.data", {.takes_text = true, .without = "\t"}},
    {"inter", {.takes_text = true, .without = "\t"}},
    {"netflix", {.takes_text = true, .without = ","}},
    {"yahoo", {.takes_text = true, .without = "|"}},
    {"libmf", {.takes_whole = true}},
    {"matrixmarket", {.takes_whole = true, .from_one = true}},
    {"jsonl", {.takes_text = true, .takes_whole = true, .is_utf8 = true}},
};

struct id_form id_form_of_format(const char *format) {
    for (size_t i = 0; i < sizeof known_formats / sizeof known_formats[0]; i++)
        if (strcmp(known_formats[i].format, format) == 0) return known_formats[i].form;
    /* Databases and arrays have texts and numbers, each by itself. */
    return (struct id_form){.takes_text = true, .takes_whole = true};
}

struct id_form id_form_either(const struct id_form *a, const struct id_form *b) {
    bool same = a->without && b->without && strcmp(a->without, b->without) == 0;
    return (struct id_form){
        .takes_text = a->takes_text || b->takes_text || a->is_uuid != b->is_uuid,
        .takes_whole = a->takes_whole || b->takes_whole,
        .is_signed = a->is_signed || b->is_signed,
        .is_64 = a->is_64 && b->is_64,
        .from_one = a->from_one && b->from_one,
        .is_trimmed = a->is_trimmed || b->is_trimmed,
        .is_float = a->is_float || b->is_float,
        .is_uuid = a->is_uuid || b->is_uuid,
        .is_padded = a->is_padded && b->is_padded,
        .is_utf8 = a->is_utf8 && b->is_utf8,
        .without = same ? a->without : NULL,
    };
}

/* The form of the ids of a format whose schema or header says what they are. A column of SQLite
 * that was declared as texts, or as nothing, may hold both, and a UUID that a database makes text
 * by a cast of its own may be anything. */
static struct id_form form_of_schema(const char *format, enum store_ids ids, bool is_queried) {
    static const struct id_form numbers = {.takes_whole = true, .is_signed = true},
                                numbers_64 = {
                                    .takes_whole = true, .is_signed = true, .is_64 = true};
    const bool by_schema = strcmp(format, "arrow") == 0 || strcmp(format, "parquet") == 0 ||
                           strcmp(format, "postgres") == 0 || strcmp(format, "sqlite") == 0;
    if (strcmp(format, "inter") == 0 && ids == STORE_IDS_WHOLE)
        return (struct id_form){.is_float = true};
    /* Arrow has numbers of up to 128 bits; databases have none beyond 64. */
    const bool is_database = strcmp(format, "postgres") == 0 || strcmp(format, "sqlite") == 0;
    if (by_schema && ids == STORE_IDS_WHOLE) return is_database ? numbers_64 : numbers;
    if (ids == STORE_IDS_NUMERIC)
        return (struct id_form){.takes_text = true, .takes_whole = true, .is_trimmed = true};
    if (by_schema && ids == STORE_IDS_UUID)
        return (struct id_form){.is_uuid = true, .takes_text = is_queried};
    if (ids == STORE_IDS_PADDED) return (struct id_form){.takes_text = true, .is_padded = true};
    return id_form_of_format(format);
}

/* Where a store does not say by which readers its ids were made, an id means all that it could
 * mean. */
struct id_form store_id_form(const struct dpmf_store *store) {
    const struct store_layout *layout = store_layout_of(store);
    struct id_form all = id_form_of_format("");
    enum store_ids ids;
    bool any = false;
    const char *name;
    if (layout->origin == STORE_ORIGIN_UNKNOWN) return all;
    for (int i = 0; i < 32; i++) {
        const uint32_t bit = layout->formats & UINT32_C(1) << i;
        if (bit == 0 || !(name = store_layout_bit(bit, &ids))) continue;
        const struct id_form form = form_of_schema(name, ids, layout->is_queried);
        all = any ? id_form_either(&all, &form) : form;
        any = true;
    }
    return all;
}

/* ---- spelling -------------------------------------------------------------------------------- */

static bool is_utf8(const char *text, size_t n) {
    for (size_t i = 0, step; i < n; i += step) {
        step = utf8_sequence(text + i, n - i);
        if (step == 0) return false;
    }
    return true;
}

static bool holds(const char *text, size_t n, const char *part) {
    const size_t length = strlen(part);
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(text + i, part, length) == 0) return true;
    return false;
}

/* What no reader takes for an id, or nobody could tell from a row that was not closed. @return NULL
 * when there is none of it */
static const char *find_fault(const struct id_form *form, const char *text, size_t n, int *code) {
    *code = DPMF_ERR_INPUT_ID;
    if (n == 0) return "the id is empty";
    if (n > STORE_ID_MAX) {
        *code = DPMF_ERR_INPUT_ID_TOO_LONG;
        return "the id is longer than 64 KiB";
    }
    if (memchr(text, '\0', n)) return "the id holds a NUL byte";
    if (memchr(text, '\n', n)) return "the id holds a line feed";
    if (utf8_has_mark(text, n)) return "the id begins with a byte order mark";
    if (form->is_utf8 && !is_utf8(text, n))
        return "the id is not UTF-8, as all ids of the ratings are";
    return NULL;
}

static const char *why_no_text(const struct id_form *form) {
    if (form->is_64)
        return "the ids of the ratings are whole numbers of 64 bits, and this is not one";
    if (form->takes_text) return "the id holds what separates columns in the ratings";
    if (form->is_uuid) return "the ids of the ratings are UUIDs, and this is not one";
    if (form->from_one)
        return "the ids of the ratings are whole numbers from 1, and this is not one";
    if (form->is_float && !form->takes_whole)
        return "the ids of the ratings are whole numbers below 2^53, and this is not one";
    return "the ids of the ratings are whole numbers, and this is not one";
}

/* The number that a text stands for, where numbers are kept as numbers. @return how many
 * there are, 0 or 1 */
static size_t respell(const char *text, size_t n, struct id_text *out) {
    out->text = out->number;
    out->n = number_respell(text, n, out->number);
    return out->n > 0;
}

/* Digits, perhaps with a sign, as Arrow's widest numbers have them. @return how many there are, 0
 * or 1 */
static size_t spell_signed(const char *text, size_t n, struct id_text *out) {
    size_t at = text[0] == '+' || text[0] == '-';
    if (at == n) return 0;
    for (size_t i = at; i < n; i++)
        if (text[i] < '0' || text[i] > '9') return 0;
    while (at + 1 < n && text[at] == '0') at++;
    if (n - at > DIGITS_MAX) return 0;
    out->text = out->number;
    out->n = 0;
    if (text[0] == '-' && text[at] != '0') out->number[out->n++] = '-';
    memcpy(out->number + out->n, text + at, n - at);
    out->n += n - at;
    return 1;
}

/* Whether a number that spell_signed wrote is one of 64 bits. */
static bool is_of_64_bits(const struct id_text *id) {
    static const char least[] = "9223372036854775808"; /* without its sign */
    const size_t length = sizeof least - 1;
    const bool is_negative = id->text[0] == '-';
    const size_t n = id->n - is_negative;
    if (n != length) return n < length;
    return memcmp(id->text + is_negative, least, length) < (is_negative ? 1 : 0);
}

/* A float that is an id, as the reader of such a column spells it. @return how many there are, 0 or
 * 1 */
static size_t spell_float(const char *text, size_t n, struct id_text *out) {
    out->text = out->number;
    out->n = number_spell_float_id(text, n, out->number);
    return out->n > 0;
}

/* A UUID as databases take it: 32 digits in letters of any size, perhaps in braces, and with a
 * hyphen after any four digits or without. @return how many there are, 0 or 1 */
static size_t spell_uuid(const char *text, size_t n, struct id_text *out) {
    enum { DIGITS = 32 };
    static const char hexadecimal[] = "0123456789abcdefABCDEF";
    size_t digits = 0, at = 0;
    if (n >= 2 && text[0] == '{' && text[n - 1] == '}') text++, n -= 2;
    out->text = out->number;
    out->n = 0;
    for (; at < n && digits < DIGITS; at++) {
        if (text[at] == '-' && digits > 0 && digits % 4 == 0 && text[at - 1] != '-') continue;
        const char *digit = memchr(hexadecimal, text[at], sizeof hexadecimal - 1);
        if (!digit) return 0;
        if (digits >= 8 && digits <= 20 && digits % 4 == 0) out->number[out->n++] = '-';
        out->number[out->n++] = *digit >= 'A' && *digit <= 'F' ? digit[-6] : *digit;
        digits++;
    }
    return digits == DIGITS && at == n;
}

/* Blanks as SQLite leaves them out around a number. */
static void trim(const char **text, size_t *n) {
    static const char blanks[] = " \t\n\v\f\r";
    while (*n > 0 && memchr(blanks, **text, sizeof blanks - 1)) ++*text, --*n;
    while (*n > 0 && memchr(blanks, (*text)[*n - 1], sizeof blanks - 1)) --*n;
}

size_t id_form_spell(const struct id_form *form, const char *text, size_t n,
                     struct id_text out[ID_SPELLINGS], int *code, const char **why) {
    while (form->is_padded && n > 0 && text[n - 1] == ' ') n--;
    const char *digits = text, *bare = text;
    size_t n_digits = n, n_bare = n, count = 0;
    uint64_t number = 0;
    *why = find_fault(form, text, n, code);
    if (*why) return 0;
    if (form->is_trimmed) trim(&bare, &n_bare);
    digits = bare;
    n_digits = n_bare;
    if (form->takes_text && !(form->without && holds(text, n, form->without)))
        out[count++] = (struct id_text){.text = text, .n = n};
    if (form->is_uuid && spell_uuid(text, n, &out[count]))
        count += count == 0 || out[count].n != n || memcmp(out[count].text, text, n) != 0;
    else if (form->is_signed && count == 0 && spell_signed(text, n, &out[0]))
        count = !form->is_64 || is_of_64_bits(&out[0]);
    else if (form->takes_whole && number_parse_whole(&digits, &n_digits, &number) &&
             !(form->from_one && number == 0) && (count == 0 || n_digits != n))
        out[count++] = (struct id_text){.text = digits, .n = n_digits};
    else if (form->is_float && spell_float(text, n, &out[count]))
        count += count == 0 || out[count].n != n || memcmp(out[count].text, text, n) != 0;
    else if (count == 1 && form->takes_whole)
        count += respell(bare, n_bare, &out[count]);
    if (count == 0) *why = why_no_text(form);
    return count;
}
