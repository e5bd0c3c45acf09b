/*
 * The format strings of the Arrow C data interface, and types by their parts. Fed by arrow_stream.c
 * and ipc_schema.c.
 */
#include "arrow/arrow_type.h"

#include <stdlib.h>
#include <string.h>

enum { SCALE_MAX = 1000 };

static const struct arrow_type plain[] = {
    [ARROW_NULL] = {.described = "a column of nulls"},
    [ARROW_INT8] = {.bytes = 1, .described = "whole numbers"},
    [ARROW_UINT8] = {.bytes = 1, .described = "whole numbers"},
    [ARROW_INT16] = {.bytes = 2, .described = "whole numbers"},
    [ARROW_UINT16] = {.bytes = 2, .described = "whole numbers"},
    [ARROW_INT32] = {.bytes = 4, .described = "whole numbers"},
    [ARROW_UINT32] = {.bytes = 4, .described = "whole numbers"},
    [ARROW_INT64] = {.bytes = 8, .described = "whole numbers"},
    [ARROW_UINT64] = {.bytes = 8, .described = "whole numbers"},
    [ARROW_FLOAT16] = {.bytes = 2, .described = "real numbers"},
    [ARROW_FLOAT32] = {.bytes = 4, .described = "real numbers"},
    [ARROW_FLOAT64] = {.bytes = 8, .described = "real numbers"},
    [ARROW_TEXT] = {.bytes = 4, .described = "text"},
    [ARROW_TEXT_LONG] = {.bytes = 8, .described = "text"},
    [ARROW_TEXT_VIEW] = {.bytes = 16, .described = "text"},
    [ARROW_TEXT_HELD] = {.bytes = 16, .described = "text"},
    [ARROW_DATE_DAYS] = {.bytes = 4, .described = "dates"},
    [ARROW_BOOL] = {.described = "truth values"},
};

struct arrow_type arrow_type_of(enum arrow_kind kind) {
    struct arrow_type type = plain[kind];
    type.kind = kind;
    return type;
}

struct arrow_type arrow_type_other(const char *described) {
    return (struct arrow_type){.kind = ARROW_OTHER, .described = described};
}

struct arrow_type arrow_type_decimal(int bytes, int scale) {
    if ((bytes != 4 && bytes != 8 && bytes != 16 && bytes != 32) || scale > SCALE_MAX ||
        scale < -SCALE_MAX)
        return arrow_type_other("decimals of an unusual size");
    return (struct arrow_type){
        .kind = ARROW_DECIMAL, .bytes = bytes, .scale = scale, .described = "decimal numbers"};
}

struct arrow_type arrow_type_timestamp(int64_t per_second) {
    return (struct arrow_type){
        .kind = ARROW_TIMESTAMP, .bytes = 8, .per_second = per_second, .described = "timestamps"};
}

/* d:precision,scale or d:precision,scale,bits */
static bool parse_decimal(const char *format, struct arrow_type *type) {
    long part[3] = {0, 0, 128};
    const char *at = format + 1;
    int n = 0;
    do {
        char *end;
        part[n] = strtol(at + 1, &end, 10);
        if (end == at + 1) return false;
        at = end;
    } while (++n < 3 && *at == ',');
    if (*at != '\0' || n < 2) return false;
    const bool is_usual = part[2] % 8 == 0 && part[2] > 0 && part[2] <= 256 &&
                          part[1] >= -SCALE_MAX && part[1] <= SCALE_MAX;
    *type = is_usual ? arrow_type_decimal((int)(part[2] / 8), (int)part[1])
                     : arrow_type_other("decimals of an unusual size");
    return true;
}

static bool parse_time(const char *format, struct arrow_type *type) {
    static const struct {
        char letter;
        int64_t per_second;
    } units[] = {{'s', 1}, {'m', 1000}, {'u', 1000000}, {'n', 1000000000}};
    if (strcmp(format, "tdD") == 0) {
        *type = arrow_type_of(ARROW_DATE_DAYS);
        return true;
    }
    if (strcmp(format, "tdm") == 0) {
        *type = arrow_type_timestamp(1000);
        return true;
    }
    for (size_t i = 0; format[1] == 's' && i < sizeof units / sizeof units[0]; i++)
        if (format[2] == units[i].letter && format[3] == ':') {
            *type = arrow_type_timestamp(units[i].per_second);
            return true;
        }
    if (format[1] == 's') return false;
    *type = arrow_type_other(format[1] == 't'   ? "times of day"
                             : format[1] == 'D' ? "durations"
                                                : "intervals");
    return true;
}

static bool parse_nested(const char *format, struct arrow_type *type) {
    static const struct {
        const char *begin, *described;
    } nested[] = {{"+l", "a list"},         {"+L", "a list"},    {"+vl", "a list"},
                  {"+vL", "a list"},        {"+w:", "a list"},   {"+s", "a struct"},
                  {"+m", "a map"},          {"+ud:", "a union"}, {"+us:", "a union"},
                  {"+r", "run-end encoded"}};
    for (size_t i = 0; i < sizeof nested / sizeof nested[0]; i++)
        if (strncmp(format, nested[i].begin, strlen(nested[i].begin)) == 0) {
            *type = arrow_type_other(nested[i].described);
            return true;
        }
    return false;
}

bool arrow_type_parse(const char *format, struct arrow_type *type) {
    static const struct {
        const char *format;
        enum arrow_kind kind;
    } known[] = {{"n", ARROW_NULL},      {"b", ARROW_BOOL},      {"c", ARROW_INT8},
                 {"C", ARROW_UINT8},     {"s", ARROW_INT16},     {"S", ARROW_UINT16},
                 {"i", ARROW_INT32},     {"I", ARROW_UINT32},    {"l", ARROW_INT64},
                 {"L", ARROW_UINT64},    {"e", ARROW_FLOAT16},   {"f", ARROW_FLOAT32},
                 {"g", ARROW_FLOAT64},   {"u", ARROW_TEXT},      {"z", ARROW_TEXT},
                 {"U", ARROW_TEXT_LONG}, {"Z", ARROW_TEXT_LONG}, {"vu", ARROW_TEXT_VIEW},
                 {"vz", ARROW_TEXT_VIEW}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(format, known[i].format) == 0) {
            *type = arrow_type_of(known[i].kind);
            return true;
        }
    if (strncmp(format, "d:", 2) == 0) return parse_decimal(format, type);
    if (strncmp(format, "w:", 2) == 0) {
        *type = arrow_type_other("bytes of a fixed length");
        return true;
    }
    if (format[0] == 't' && format[1] != '\0') return parse_time(format, type);
    if (format[0] == '+') return parse_nested(format, type);
    return false;
}
