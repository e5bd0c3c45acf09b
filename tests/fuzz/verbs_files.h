/*
 * The files that fuzz_verbs.c gives to verbs: texts, and stores, models and ledgers that the
 * program itself makes of them when the fuzzer starts. An input changes one or two of them by a
 * list of edits; their lengths, checksums and digests are put right afterwards, so that not these
 * alone are tried. All ratings are made up.
 */
#ifndef DPMF_TESTS_FUZZ_VERBS_FILES_H
#define DPMF_TESTS_FUZZ_VERBS_FILES_H

#include "fuzz_seal.h"

enum file_kind { FILE_TEXT, FILE_STORE, FILE_MODEL, FILE_LEDGER };

struct input_file {
    const char *name;
    enum file_kind kind;
    const char *text; /* what is in it, or the command line that makes it, all but the last word */
    uint8_t *bytes;
    size_t n;
};

#define TINY " -k 2 --epochs 2 -j 1 -q "
#define PRIVATE " --rating-range 1:5 --epsilon 5 -j 1 -q --catalogue @catalogue --ledger @ledger -o"

static struct input_file input_files[] = {
    {"csv", FILE_TEXT,
     "userId,movieId,rating,timestamp\n1,1,5,946684800\n1,2,3,946684900\n1,3,4,946685000\n"
     "1,5,2,946685100\n2,1,4,957000000\n2,2,1.5,957000100\n2,4,5,957000200\n2,6,3,957000300\n"
     "3,2,4,978307200\n3,3,5,978307300\n3,5,1,978307400\n4,1,2,980000000\n4,4,3,980000100\n"
     "4,5,4,980000200\n4,6,5,980000300\n5,1,5,990000000\n5,3,3,990000100\n5,7,2,990000200\n"
     "6,2,3,999999999\n6,6,4,1000000000\n6,7,1,1000000001\n",
     NULL, 0},
    {"events", FILE_TEXT,
     "user,item,plays\n1,1,5\n1,2,1\n1,4,2\n2,1,9\n2,3,1\n3,2,7\n3,3,1\n3,5,1\n4,1,2\n4,6,1\n"
     "5,3,3\n5,5,1\n6,2,1\n6,7,4\n",
     NULL, 0},
    {"movielens", FILE_TEXT,
     "1::1::5::946684800\n1::2::3::946684900\n2::1::4::957000000\n2::3::2::"
     "957000001\n3::2::1::978307200\n3::3::5::978307201\n",
     NULL, 0},
    {"mtx", FILE_TEXT,
     "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 5\n1 2 3\n2 1 4\n"
     "2 4 2\n3 3 1\n",
     NULL, 0},
    {"jsonl", FILE_TEXT,
     "{\"user\":\"1\",\"item\":\"1\",\"rating\":5}\n{\"user\":\"1\",\"item\":\"2\",\"rating\":3,"
     "\"timestamp\":946684800}\n{\"user\":2,\"item\":\"a\\u00e9\",\"rating\":4}\n",
     NULL, 0},
    {"netflix", FILE_TEXT,
     "1:\n1,5,2005-09-06\n2,3,2005-09-07\n2:\n1,4,2005-10-01\n3,2,2005-10-02\n", NULL, 0},
    {"yahoo", FILE_TEXT, "1|2\n1\t50\n2\t90\n2|1\n3\t10\n", NULL, 0},
    {"inter", FILE_TEXT, "user_id:token\titem_id:token\trating:float\n1\t1\t5\n1\t2\t3\n2\t1\t4\n",
     NULL, 0},
    {"catalogue", FILE_TEXT,
     "item,title\n1,The First (1999)\n2,Second\n3,\"Third, the\"\n4,Fourth\n5,Fifth\n6,Sixth\n"
     "7,Seventh\n8,Eighth (2001)\n",
     NULL, 0},
    {"moviesdat", FILE_TEXT,
     "1::The First (1999)::Drama|War\n2::Second (1980)::Comedy\n3::B\xe9la::"
     "Drama\n",
     NULL, 0},
    {"features", FILE_TEXT,
     "item,year,kind\n1,1999,drama\n2,1980,comedy|war\n3,2001,drama\n4,1999,war\n5,,drama|comedy\n"
     "6,1970,comedy\n7,2010,war\n8,2001,drama\n9,1985,war\n10,1990,comedy\n",
     NULL, 0},
    {"userfeatures", FILE_TEXT,
     "user,age,place\n1,20,a\n2,30,b\n3,40,a\n4,50,b\n5,,a\n6,35,b\n9,"
     "60,a\n",
     NULL, 0},
    {"newitems", FILE_TEXT, "item,title\n9,Ninth\n10,Tenth\n", NULL, 0},
    {"newfeatures", FILE_TEXT, "item,year\n1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n9,7\n", NULL, 0},
    {"wishes", FILE_TEXT, "user,epsilon\n1,0\n2,1\n3,0.5\n", NULL, 0},
    {"about", FILE_TEXT,
     "controller: A Library, 1 Long Street\nperiod: 1999 to 2001\n"
     "date: 2026-03-01\n  and more\n",
     NULL, 0},
    {"candidates", FILE_TEXT, "user,item,a,b,c\n1,4,6,7,5\n2,3,5,7,8\n9,1,2,3,4\n", NULL, 0},
    {"pairs", FILE_TEXT, "user,item\n1,4\n2,3\n9,1\n3,99\n", NULL, 0},
    {"items", FILE_TEXT, "item\n1\n4\n6\n99\n", NULL, 0},
    {"mine", FILE_TEXT, "item,rating\n1,5\n3,2\n99,4\n", NULL, 0},
    {"diary", FILE_TEXT,
     "Date,Name,Year,Letterboxd URI,Rating\n2020-01-02,The First,1999,"
     "https://boxd.it/a,4.5\n2020-01-03,Second,1980,https://boxd.it/b,1\n",
     NULL, 0},
    {"links", FILE_TEXT, "Home https://example.org/\nMore <b> http://example.org/?a=b&c\n", NULL,
     0},
    {"store", FILE_STORE, "import @csv -q -o", NULL, 0},
    {"half", FILE_STORE, "split @store -q --test-fraction 0.3 --train %made.other --test", NULL, 0},
    {"packed", FILE_STORE, "import @csv --format csv --on-error skip -q -o", NULL, 0},
    {"eventstore", FILE_STORE, "import @events -q -o", NULL, 0},
    {"packedevents", FILE_STORE, "import @events --format csv --on-error skip -q -o", NULL, 0},
    {"model", FILE_MODEL, "train @store" TINY "-o", NULL, 0},
    {"ranker", FILE_MODEL, "train @eventstore --solver ials" TINY "-o", NULL, 0},
    {"sampler", FILE_MODEL,
     "train @store --solver gibbs --average --chains 2 -k 2 --epochs 4 -j 1 -q -o", NULL, 0},
    {"snapshot", FILE_MODEL, NULL, NULL, 0},         /* of a run that is interrupted */
    {"ledger", FILE_LEDGER, "ledger init", NULL, 0}, /* of all releases below */
    {"newledger", FILE_LEDGER, "ledger init", NULL, 0},
    {"release", FILE_MODEL, "train @packed --population p --ledger-budget 3" PRIVATE, NULL, 0},
    {"biases", FILE_MODEL, "train @packed --mechanism biases --population q" PRIVATE, NULL, 0},
    {"featured", FILE_MODEL,
     "train @packed --mechanism gram --item-features @features --population p" PRIVATE, NULL, 0},
    {"ranking", FILE_MODEL,
     "train @packedevents --goal ranking --population q --epsilon 5 -j 1 -q --catalogue "
     "@catalogue --ledger @ledger -o",
     NULL, 0},
    {"posterior", FILE_MODEL,
     "train @packed --mechanism posterior -k 1 --epochs 2 --chains 1 --population r" PRIVATE, NULL,
     0},
    {"insecure", FILE_MODEL, "train @packed --insecure-noise-seed 1" PRIVATE, NULL, 0},
    {"extended", FILE_MODEL,
     "release extend @featured --catalogue @newitems --item-features @features -q -o", NULL, 0},
    {"oldledger", FILE_TEXT, "{\"dpmf\":\"ledger\",\"version\":1}\n", NULL, 0},
};

enum { INPUT_FILES = sizeof input_files / sizeof *input_files };

static struct input_file *input_file_find(const char *name) {
    for (size_t i = 0; i < INPUT_FILES; i++)
        if (strcmp(input_files[i].name, name) == 0) return &input_files[i];
    fprintf(stderr, "no file is called %s\n", name);
    abort();
}

/* ---- edits ----------------------------------------------------------------------------------- */

enum { EDITED_MAX = 1 << 16, EDIT_LONGEST = 64 };

/* A file under edits; of a model, what has other lengths afterwards is its header alone. */
struct edited {
    uint8_t *bytes; /* EDITED_MAX */
    size_t n, header;
};

static const uint64_t edit_numbers[] = {0,
                                        1,
                                        0xff,
                                        0x7fff,
                                        0x7f800000 /* infinity */,
                                        0x7fc00000 /* NaN */,
                                        0x80000000,
                                        0x7f7fffff,
                                        0xffffffff,
                                        0x7ff0000000000000,
                                        0x7ff8000000000000,
                                        0x7fefffffffffffff,
                                        0x8000000000000000,
                                        UINT64_MAX,
                                        0x3f800000,
                                        8};

static const char *const edit_words[] = {"0",      "-1",    "nan",
                                         "inf",    "1e308", "18446744073709551616",
                                         "0.5",    "",      "\"",
                                         ",",      "\n",    "true",
                                         "null",   "[]",    "{}",
                                         "1e-320", "\t",    "::",
                                         "user",   "item",  "99999999999999999999",
                                         "1",      "\xff",  "\xc2\x9b",
                                         "2",      "-0",    "4.5"};

/* Puts n bytes in the place of `gone` others. */
static void edit_replace(struct edited *file, size_t at, size_t gone, const void *bytes, size_t n) {
    if (gone > file->n - at) gone = file->n - at;
    if (file->header > 0 && at < file->header && gone > file->header - at) gone = file->header - at;
    if (file->header > 0 && at >= file->header) gone = n = n < file->n - at ? n : file->n - at;
    if (file->n - gone + n > EDITED_MAX) return;
    memmove(file->bytes + at + n, file->bytes + at + gone, file->n - at - gone);
    if (n > 0) memcpy(file->bytes + at, bytes, n);
    file->n = file->n - gone + n;
    if (at < file->header) file->header = file->header - gone + n;
}

/* The first number at or after a place, so that edits need not find where one begins. */
static size_t edit_digits(const struct edited *file, size_t *at) {
    size_t length = 0;
    while (*at < file->n && !memchr("0123456789", file->bytes[*at], 10)) ++*at;
    while (*at + length < file->n && length < EDIT_LONGEST &&
           memchr("0123456789.e-", file->bytes[*at + length], 13))
        length++;
    return length;
}

/* One edit: what is done, where (two bytes), how many or which, and bytes where it takes some.
 * @return how many bytes of the input it took */
static size_t edit_once(struct edited *file, const uint8_t *data, size_t size) {
    const size_t first = file->header > 0 ? 8 : 0, rest = size - 4; /* the length is put right */
    size_t at = data[1] | (size_t)data[2] << 8, length = (size_t)data[3] % EDIT_LONGEST + 1;
    uint8_t bytes[EDIT_LONGEST];
    at = file->n > first ? first + at % (file->n - first + 1) : file->n;
    switch (data[0] % 8) {
    case 0: edit_replace(file, at, 1, data + 3, 1); return 4;
    case 1:
    case 2: {
        const size_t width = data[0] % 8 == 1 ? 4 : 8;
        bytes_put_u64(bytes, edit_numbers[data[3] % (sizeof edit_numbers / sizeof *edit_numbers)]);
        edit_replace(file, at, width, bytes, width);
        return 4;
    }
    case 3:
        if (length > rest) length = rest;
        edit_replace(file, at, 0, data + 4, length);
        return 4 + length;
    case 4: edit_replace(file, at, length, NULL, 0); return 4;
    case 5:
        if (length > file->n - at) length = file->n - at;
        memcpy(bytes, file->bytes + at, length);
        edit_replace(file, at, 0, bytes, length);
        return 4;
    case 6: {
        const char *word = edit_words[data[3] % (sizeof edit_words / sizeof *edit_words)];
        length = edit_digits(file, &at);
        edit_replace(file, at, length, word, strlen(word));
        return 4;
    }
    default: /* it ends there, which says nothing of a header */
        if (file->header == 0) file->n = at;
        return 4;
    }
}

/* Pads the header with blanks, as writers do, and says its length. */
static void edit_header(struct edited *file) {
    static const char blanks[] = "        ";
    const size_t at = file->header;
    if (at < 8) return;
    if (at % 8 > 0 && file->n + 8 <= EDITED_MAX) {
        memmove(file->bytes + at + 8 - at % 8, file->bytes + at, file->n - at);
        memcpy(file->bytes + at, blanks, 8 - at % 8);
        file->n += 8 - at % 8;
        file->header += 8 - at % 8;
    }
    bytes_put_u64(file->bytes, file->header - 8);
}

static void edit_seal(struct edited *file, enum file_kind kind) {
    if (kind == FILE_STORE) fuzz_seal_store(file->bytes, file->n);
    if (kind == FILE_MODEL) {
        edit_header(file);
        if (!fuzz_seal_checkpoint(file->bytes, file->n)) fuzz_seal_release(file->bytes, file->n);
    }
    if (kind == FILE_LEDGER) {
        char *sealed = malloc(file->n + 32 * (file->n + 1));
        if (!sealed) abort();
        size_t n = fuzz_seal_ledger((const char *)file->bytes, file->n, sealed);
        file->n = n < EDITED_MAX ? n : EDITED_MAX;
        memcpy(file->bytes, sealed, file->n);
        free(sealed);
    }
}

/* @return a copy of the file with the edits of the input made, and as long as it is */
static uint8_t *edit_file(const struct input_file *from, const uint8_t *data, size_t size,
                          size_t *n) {
    struct edited file = {malloc(EDITED_MAX), from->n, 0};
    if (!file.bytes || from->n > EDITED_MAX) abort();
    memcpy(file.bytes, from->bytes, from->n);
    if (from->kind == FILE_MODEL) file.header = 8 + (size_t)bytes_get_u64(file.bytes);
    for (size_t at = 0; size - at >= 4;) at += edit_once(&file, data + at, size - at);
    if (size >= 4) edit_seal(&file, from->kind);
    *n = file.n;
    return file.bytes;
}

#endif
