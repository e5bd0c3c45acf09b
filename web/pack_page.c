/*
 * A program of the build: makes one page out of page.html, style.css, the files of script/ and the
 * WebAssembly module, so that nothing has to be fetched when it is opened. The files of the script
 * are joined, in the order given, into one function, and so share their names with each other and
 * with nobody else. The module goes in as base64, and the Content-Security-Policy names the SHA-256
 * of the one script and the one style that may be used: whatever else gets into the page is dead
 * text. What it writes is embedded into dpmf (page/page_asset.c), which fills in the marks that
 * stay open.
 *
 *   pack_page OUTPUT page.html style.css module.wasm SCRIPT.js...
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    unsigned char *at;
    size_t n;
};

static bool fail(const char *file, const char *what) {
    fprintf(stderr, "pack_page: %s: %s\n", file, what);
    return false;
}

/* ---- SHA-256, FIPS 180-4 --------------------------------------------------------------------- */

enum { SHA_WORDS = 8, SHA_BLOCK = 64, SHA_ROUNDS = 64, SHA_BYTES = 32 };

__extension__ typedef unsigned __int128 wide;

static uint32_t turned(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* The first 32 bits of the fractional part of a root of a prime, exactly: bit by bit, in
 * integers. */
static uint32_t root_fraction(uint64_t prime, int degree) {
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 36; bit > 0; bit >>= 1) {
        const wide tried = root | bit;
        const wide power = degree == 2 ? tried * tried : tried * tried * tried;
        if (power <= (wide)prime << (32 * degree)) root |= bit;
    }
    return (uint32_t)root;
}

/* The standard's constants are the roots of the first primes: square roots to begin with, cube
 * roots in the rounds. */
static void sha_constants(uint32_t state[SHA_WORDS], uint32_t round[SHA_ROUNDS]) {
    int n = 0;
    for (uint32_t candidate = 2; n < SHA_ROUNDS; candidate++) {
        bool is_prime = true;
        for (uint32_t d = 2; d * d <= candidate && is_prime; d++) is_prime = candidate % d != 0;
        if (!is_prime) continue;
        if (n < SHA_WORDS) state[n] = root_fraction(candidate, 2);
        round[n++] = root_fraction(candidate, 3);
    }
}

static void sha_block(uint32_t state[SHA_WORDS], const uint32_t round[SHA_ROUNDS],
                      const unsigned char *block) {
    uint32_t w[SHA_ROUNDS], s[SHA_WORDS];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | (uint32_t)block[4 * i + 3];
    for (int i = 16; i < SHA_ROUNDS; i++) {
        uint32_t a = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < SHA_ROUNDS; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t a = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + choice +
                     round[i] + w[i];
        uint32_t b = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += a;
        s[0] = a + b;
    }
    for (int i = 0; i < SHA_WORDS; i++) state[i] += s[i];
}

static void sha256(struct bytes text, unsigned char digest[SHA_BYTES]) {
    uint32_t state[SHA_WORDS], round[SHA_ROUNDS];
    unsigned char last[2 * SHA_BLOCK] = {0};
    const size_t whole = text.n / SHA_BLOCK, rest = text.n % SHA_BLOCK;
    const size_t last_blocks = rest + 9 > SHA_BLOCK ? 2 : 1;
    sha_constants(state, round);
    for (size_t i = 0; i < whole; i++) sha_block(state, round, text.at + i * SHA_BLOCK);
    if (rest > 0) memcpy(last, text.at + whole * SHA_BLOCK, rest);
    last[rest] = 0x80;
    for (size_t i = 0; i < 8; i++)
        last[last_blocks * SHA_BLOCK - 1 - i] = (unsigned char)((uint64_t)text.n * 8 >> 8 * i);
    for (size_t i = 0; i < last_blocks; i++) sha_block(state, round, last + i * SHA_BLOCK);
    for (int i = 0; i < SHA_BYTES; i++)
        digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_base64(FILE *out, struct bytes data) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < data.n; i += 3) {
        const size_t n = data.n - i < 3 ? data.n - i : 3;
        uint32_t three = 0;
        for (size_t j = 0; j < 3; j++) three = three << 8 | (j < n ? data.at[i + j] : 0u);
        for (size_t j = 0; j < 4; j++)
            fputc(j <= n ? digits[three >> (18 - 6 * j) & 63] : '=', out);
    }
}

static void put_bytes(FILE *out, struct bytes text) { fwrite(text.at, 1, text.n, out); }

static void put_hash(FILE *out, struct bytes text) {
    unsigned char digest[SHA_BYTES];
    sha256(text, digest);
    fputs("'sha256-", out);
    put_base64(out, (struct bytes){digest, sizeof digest});
    fputc('\'', out);
}

enum part { PAGE, STYLE, MODULE, SCRIPT, PARTS };

/* Nothing may be loaded, sent or embedded; one script and one style may be used, and compiled code
 * run. */
static void put_policy(FILE *out, const struct bytes parts[PARTS]) {
    fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src ",
          out);
    put_hash(out, parts[SCRIPT]);
    fputs(" 'wasm-unsafe-eval'; style-src ", out);
    put_hash(out, parts[STYLE]);
    fputs("; img-src data:; connect-src 'none'; form-action 'none'; base-uri 'none'"
          "<!--dpmf:policy-->\">",
          out);
}

static void put_part(FILE *out, const char *name, const struct bytes parts[PARTS]) {
    if (strcmp(name, "policy") == 0) {
        put_policy(out, parts);
    } else if (strcmp(name, "style") == 0) {
        fputs("<style>", out);
        put_bytes(out, parts[STYLE]);
        fputs("</style>", out);
    } else if (strcmp(name, "script") == 0) {
        fputs("<script>", out);
        put_bytes(out, parts[SCRIPT]);
        fputs("</script>", out);
    } else {
        fputs("<script type=\"application/octet-stream\" id=\"dpmf-module\">", out);
        put_base64(out, parts[MODULE]);
        fputs("</script>", out);
    }
}

/* ---- the page -------------------------------------------------------------------------------- */

/* What this program fills in, in the page's order; and what is left for dpmf to fill in. */
static const char *const filled[] = {"policy", "style", "module", "script"};
static const char *const left_open[] = {
    "<!--dpmf:name-->",      "<!--dpmf:release-->",  "<!--dpmf:items-->",
    "<!--dpmf:statement-->", "<!--dpmf:facts-->",    "<!--dpmf:look-->",
    "<!--dpmf:links-->",     "<!--dpmf:manifest-->", "<!--dpmf:heading-->"};
enum { FILLED = sizeof filled / sizeof filled[0], OPEN = sizeof left_open / sizeof left_open[0] };

static bool read_file(const char *path, struct bytes *out) {
    FILE *file = fopen(path, "rb");
    if (!file) return fail(path, strerror(errno));
    bool done = false;
    long n = -1;
    if (fseek(file, 0, SEEK_END) == 0) n = ftell(file);
    if (n > 0 && fseek(file, 0, SEEK_SET) == 0) out->at = malloc((size_t)n + 1);
    if (out->at && fread(out->at, 1, (size_t)n, file) == (size_t)n) {
        out->n = (size_t)n;
        out->at[n] = '\0';
        done = true;
    }
    fclose(file);
    return done || fail(path, "cannot be read");
}

/* Texts that are put between tags must not end them, nor hold what a browser changes before it
 * hashes them. */
static bool is_sound(const char *path, struct bytes text) {
    static const char *const forbidden[] = {"</script", "</style", "<!--", "\r"};
    if (strlen((const char *)text.at) != text.n) return fail(path, "there is a NUL in it");
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
        if (strstr((const char *)text.at, forbidden[i]))
            return fail(path, "it holds </script, </style, <!-- or a carriage return");
    return true;
}

/* A number of WebAssembly's sections: seven bits a byte, the last without the eighth. @return 0
 * past the end */
static uint64_t next_number(struct bytes module, size_t *at) {
    uint64_t value = 0;
    for (int shift = 0; *at < module.n && shift < 35; shift += 7) {
        const unsigned char byte = module.at[(*at)++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    return 0;
}

/* A module that imports nothing can compute and nothing else: it has no way to reach the world. */
static bool is_closed(const char *path, struct bytes module) {
    enum { HEADER = 8, IMPORTS = 2 };
    if (module.n < HEADER || memcmp(module.at, "\0asm\1\0\0\0", HEADER) != 0)
        return fail(path, "this is not a WebAssembly module");
    for (size_t at = HEADER; at < module.n;) {
        const unsigned char section = module.at[at++];
        const uint64_t length = next_number(module, &at);
        if (section == IMPORTS) return fail(path, "the module imports something");
        if (length > module.n - at) return fail(path, "the module is cut short");
        at += (size_t)length;
    }
    return true;
}

static bool has_once(const char *path, const char *page, const char *mark) {
    const char *first = strstr(page, mark);
    if (first && !strstr(first + 1, mark)) return true;
    fprintf(stderr, "pack_page: %s: %s must be there exactly once\n", path, mark);
    return false;
}

static bool write_page(FILE *out, const char *path, const struct bytes parts[PARTS]) {
    const char *rest = (const char *)parts[PAGE].at;
    for (size_t i = 0; i < OPEN; i++)
        if (!has_once(path, rest, left_open[i])) return false;
    for (size_t i = 0; i < FILLED; i++) {
        char mark[32];
        snprintf(mark, sizeof mark, "<!--pack:%s-->", filled[i]);
        const char *at = strstr(rest, mark);
        if (!has_once(path, (const char *)parts[PAGE].at, mark)) return false;
        if (!at)
            return fail(path, "the marks stand in another order: policy, style, module, script");
        fwrite(rest, 1, (size_t)(at - rest), out);
        put_part(out, filled[i], parts);
        rest = at + strlen(mark);
    }
    fputs(rest, out);
    return true;
}

/* ---- the script ------------------------------------------------------------------------------ */

static bool append(struct bytes *text, const void *more, size_t n) {
    unsigned char *grown = realloc(text->at, text->n + n + 1);
    if (!grown) return fail("the script", "there is no memory for it");
    text->at = grown;
    memcpy(text->at + text->n, more, n);
    text->n += n;
    text->at[text->n] = '\0';
    return true;
}

/* Joins the files into one function; each must be fit to stand between tags. */
static bool join_script(char *const *paths, int n, struct bytes *script) {
    static const char head[] = "\"use strict\";\n(() => {\n", tail[] = "})();\n";
    bool done = append(script, head, sizeof head - 1);
    for (int i = 0; i < n && done; i++) {
        struct bytes file = {0};
        done = read_file(paths[i], &file) && is_sound(paths[i], file) &&
               append(script, file.at, file.n) && append(script, "\n", 1);
        free(file.at);
    }
    return done && append(script, tail, sizeof tail - 1);
}

int main(int argc, char **argv) {
    enum { OUTPUT = 1, FIRST = 2, FIRST_SCRIPT = FIRST + SCRIPT };
    struct bytes parts[PARTS] = {{0}};
    FILE *out = NULL;
    bool done = argc > FIRST_SCRIPT;
    if (!done)
        fputs("usage: pack_page OUTPUT page.html style.css module.wasm SCRIPT.js...\n", stderr);
    for (int i = 0; i < SCRIPT && done; i++) done = read_file(argv[FIRST + i], &parts[i]);
    done = done && is_sound(argv[FIRST + STYLE], parts[STYLE]) &&
           is_closed(argv[FIRST + MODULE], parts[MODULE]) &&
           join_script(argv + FIRST_SCRIPT, argc - FIRST_SCRIPT, &parts[SCRIPT]);
    if (done) {
        out = fopen(argv[OUTPUT], "wb");
        done = out != NULL || fail(argv[OUTPUT], strerror(errno));
    }
    if (done) done = write_page(out, argv[FIRST + PAGE], parts);
    if (out && (fflush(out) != 0 || ferror(out))) done = fail(argv[OUTPUT], "cannot be written");
    if (out) fclose(out);
    if (!done && out) remove(argv[OUTPUT]);
    for (int i = 0; i < PARTS; i++) free(parts[i].at);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
