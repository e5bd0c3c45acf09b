/*
 * A statement for people: a page that a privacy officer who is no specialist can follow and sign. Every
 * sentence is a consequence of what is proven (statement.c), every figure is rounded against us, and what is
 * not promised has as much room as what is. Fed by a statement that was checked.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "privacy/accountant.h"
#include "privacy/statement_words.h"

enum { WIDTH = 78, SENTENCE_MAX = 1024, NUMBER_TEXT = 32 };

/* ---- the page --------------------------------------------------------------------------------- */

struct page {
    struct byte_buffer text;
    bool failed; /* no memory */
};

static void put(struct page *page, const char *bytes, size_t n) {
    uint8_t *room = page->failed ? NULL : byte_buffer_room(&page->text, n);
    page->failed = !room;
    if (!room) return;
    memcpy(room, bytes, n);
    page->text.n += n;
}

static void put_indent(struct page *page, size_t indent) {
    static const char spaces[] = "            ";
    put(page, spaces, indent < sizeof spaces - 1 ? indent : sizeof spaces - 1);
}

/* Words, broken at blanks; lines after the first are indented by `indent`, the first by `first`. */
static void wrap(struct page *page, size_t first, size_t indent, const char *text) {
    size_t column = first;
    put_indent(page, first);
    for (const char *word = text; *word;) {
        size_t n = strcspn(word, " ");
        if (word != text && column + 1 + n > WIDTH) {
            put(page, "\n", 1);
            put_indent(page, indent);
            column = indent;
        } else if (word != text) {
            put(page, " ", 1);
            column++;
        }
        put(page, word, n);
        column += n;
        word += n + strspn(word + n, " ");
    }
    put(page, "\n", 1);
}

DPMF_PRINTF(2, 3) static void say(struct page *page, const char *format, ...) {
    char text[SENTENCE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    wrap(page, 2, 2, text);
}

/* One point of a list. */
DPMF_PRINTF(2, 3) static void point(struct page *page, const char *format, ...) {
    char text[SENTENCE_MAX] = "- ";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + 2, sizeof text - 2, format, arguments);
    va_end(arguments);
    wrap(page, 2, 4, text);
}

/* As it is, to the end of the line. */
DPMF_PRINTF(2, 3) static void line(struct page *page, const char *format, ...) {
    char text[SENTENCE_MAX];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n > 0) put(page, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    put(page, "\n", 1);
}

/* ---- numbers ---------------------------------------------------------------------------------- */

struct number_text {
    char text[NUMBER_TEXT];
};

/* 3,883 */
static struct number_text count(uint64_t n) {
    struct number_text out = {""};
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

static struct number_text exactly(double value) {
    struct number_text out;
    dpmf_format_double(value, out.text);
    return out;
}

/* The least number of so many decimals that is not below `value`; a margin for the logarithms' last bits. */
static struct number_text at_most(double value, int decimals) {
    struct number_text out;
    double unit = pow(10, -decimals);
    double up = ceil(value * (1 + 1e-12) / unit) * unit;
    if (up < 1e9)
        snprintf(out.text, sizeof out.text, "%.*f", decimals, up);
    else
        snprintf(out.text, sizeof out.text, "%.2e", value * 1.01);
    return out;
}

/* "one chance in 100,000", rounded against us: never fewer than it is. */
static struct number_text one_in(double chance) {
    double n = floor(1 / chance * (1 + 1e-12));
    return count(n < 1e15 ? (uint64_t)n : UINT64_C(1000000000000000));
}

/* ---- what is promised ------------------------------------------------------------------------- */

static void put_stamps(struct page *page, const struct statement *statement) {
    if (statement->is_insecure) {
        put(page, "\n", 1);
        say(page,
            "NOT PRIVATE. THE NOISE WAS MADE FROM A SEED AND CAN BE TAKEN AWAY AGAIN BY ANYONE "
            "WHO GUESSES IT. THIS FILE IS FOR TESTS ALONE. NOTHING BELOW IS PROMISED.");
    }
    if (statement->is_research) {
        put(page, "\n", 1);
        say(page,
            "NOT PRIVATE. FIGURES OF THE PRIVATE RATINGS WERE SHOWN WHILE IT WAS MADE "
            "(--research). THIS FILE IS NOT TO BE PUBLISHED. WHAT IS SAID BELOW DOES NOT COVER "
            "THOSE FIGURES, NOR ANY CHOICE THAT FOLLOWED FROM THEM.");
    }
    if (statement->catalogue_from_ratings) {
        put(page, "\n", 1);
        say(page,
            "NOT COVERED: THE LIST OF ITEMS. IT WAS TAKEN FROM THE RATINGS, AND SHOWS WHICH "
            "ITEMS ANYONE RATED. WHAT IS SAID BELOW HOLDS ONLY BETWEEN DATA WITH THE SAME ITEMS.");
    }
}

static const char *promise_heading(const struct statement *statement) {
    if (statement->is_insecure) return "What would be promised if the noise were secret";
    if (statement->is_research) return "What would be promised if nothing else had been shown";
    if (statement->catalogue_from_ratings) return "What is promised, but for the list of items";
    return "What is promised";
}

/* Of a file that is stamped NOT PRIVATE nothing is said as if it held. */
static void put_promise(struct page *page, const struct statement *statement) {
    const bool holds = !statement->is_insecure && !statement->is_research;
    line(page, "\n%s\n", promise_heading(statement));
    say(page, "This release %s (epsilon, delta)-differentially private, with",
        holds ? "is" : "would be");
    line(page, "\n      epsilon = %s      delta = %s\n", exactly(statement->epsilon).text,
         exactly(statement->delta).text);
    say(page,
        "for one user id with all its ratings, added or removed. This %s a promise to every user: "
        "how likely it was that the release came out as it did depends on that user's ratings "
        "within the bounds below, and no further, whatever else anyone knows, and whatever is "
        "computed from the release later.",
        holds ? "is" : "would be");
    if (statement->is_personalised)
        say(page, "Some users asked for a smaller epsilon than this one, and %s it.",
            holds ? "have" : "would have");
    if (!holds) return;
    say(page,
        "It is proven for the run that was made, on three conditions: that dpmf did what it is "
        "written to do, that it was run as recorded here, and that its random numbers "
        "(ChaCha20 under a key from the operating system) could not be predicted.");
}

/* e^epsilon, where it is a number that says anything. */
static void put_factor(struct page *page, const struct statement *statement) {
    double epsilon = statement->epsilon;
    if (epsilon > 20) {
        point(page,
              "At an epsilon above 20 there is no bound worth naming on how much more likely a "
              "conclusion about you can be with your ratings than without them.");
        return;
    }
    point(page,
          "Whatever might be concluded about you from the release: the chance that it is concluded "
          "is, with your ratings, at most %s times what it is without them, plus one chance in %s. "
          "The same holds the other way round.",
          at_most(exp(epsilon), epsilon < 3 ? 2 : 0).text, one_in(statement->delta).text);
}

static void put_meaning(struct page *page, const struct statement *statement) {
    /* Telling two outcomes apart: right (1 + total variation) / 2 of the time, and that is delta(0). */
    double right = 50 * (1 + accountant_delta(statement_mu(statement), 0));
    line(page, "\nWhat the numbers %s\n",
         statement->is_insecure || statement->is_research ? "would mean" : "mean");
    put_factor(page, statement);
    point(
        page,
        "Someone who knows everything but whether your ratings were used, and thinks both equally "
        "likely, guesses right at most %s times out of 100 after seeing the release. Without it "
        "the guess is right 50 times.",
        right >= 99.9 ? "100" : at_most(right, 1).text);
    if (right >= 90)
        point(page, "THIS IS A WEAK PROMISE: it allows such a guess to be right nearly always. It "
                    "should not be the only protection of these ratings.");
}

static void put_groups(struct page *page, const struct statement_figures *figures) {
    line(page, "\nPeople with several ids, and households\n");
    say(page, "The promise is for one id. For several together it is weaker, at the same delta:");
    put(page, "\n", 1);
    for (int i = 0; i < STATEMENT_GROUPS; i++)
        line(page, "      %d ids   epsilon = %s", i + 2, at_most(figures->group[i], 2).text);
}

/* ---- what is not ------------------------------------------------------------------------------ */

static void put_limits(struct page *page) {
    line(page, "\nWhat is not promised\n");
    point(page,
          "That nothing can be learned about you. What is true of people in general, such as that "
          "those who like one item like another, can be learned with or without your ratings, and "
          "may be true of you.");
    point(page,
          "Anything about the curator, who holds the ratings, or about the machine they are on: "
          "how long the run took, and other traces of it.");
    point(page, "Anything about other releases of the same people. Their costs add up.");
    point(page,
          "Anything about your own vector and recommendations. They are made from this release and "
          "your ratings, by you; whoever sees them learns about you.");
    point(page,
          "That this file comes from whom it is said to come from, or that the noise was added. No "
          "file can show that by itself; a signature can show the first.");
}

static void put_assumptions(struct page *page, const struct statement *statement) {
    line(page, "\nWhat is taken as public\n");
    if (!statement->catalogue_from_ratings)
        point(page, "Which items there are (%s), and their order.", count(statement->items).text);
    point(page, "That ratings go from %s to %s.", exactly(statement->range_min).text,
          exactly(statement->range_max).text);
    if (statement->declared_users > 0)
        point(page, "That there are about %s users, as the curator declared.",
              count(statement->declared_users).text);
    if (statement->has_features)
        point(page, "What was given about the items, such as kind or year.");
    if (statement->is_personalised)
        point(page, "Which users asked for a smaller epsilon, and which one.");
    point(page, "The settings of the run.");
}

/* ---- for specialists -------------------------------------------------------------------------- */

static void put_accounting(struct page *page, const struct statement *statement,
                           const struct statement_figures *figures) {
    line(page, "\nFor specialists\n");
    say(page,
        "Mechanism \"%s\". Each release is a sum over users, to which each user adds a vector of "
        "L2 "
        "norm at most 1 on a grid of 2^-bits, checked in integers, plus round(N(0, sigma^2)) on "
        "every "
        "number, sampled exactly, sigma in units of the grid. mu = 2^bits / sigma. Sums are 64-bit "
        "integers. All figures are rounded up.",
        statement->mechanism);
    line(page, "\n      %-24s %12s %14s %5s %10s", "release", "numbers", "sigma", "bits", "mu");
    for (size_t i = 0; i < statement->n_releases; i++) {
        const struct statement_release *release = &statement->releases[i];
        line(page, "      %-24.23s %12s %14s %5u %10s", release->name,
             count(release->coordinates).text, count(release->sigma).text, release->bits,
             exactly(figures->release[i]).text);
    }
    line(page, "\n      mu of all together, by exact composition   %s", exactly(figures->mu).text);
    line(page, "      epsilon at this delta, exactly             %s", exactly(figures->exact).text);
    line(page, "      the same by way of zCDP, as a check        %s", exactly(figures->renyi).text);
}

char *statement_to_text(const struct statement *statement) {
    struct page page = {0};
    struct statement_figures figures;
    char id[STATEMENT_ID_TEXT];
    if (statement->n_releases > STATEMENT_RELEASES_MAX) return NULL;
    statement_figures_make(statement, &figures);
    statement_id_format(statement, id);
    line(&page, "Privacy statement of release %s", id);
    line(&page, "made by dpmf %s", statement->version[0] ? statement->version : dpmf_version());
    put_stamps(&page, statement);
    put_promise(&page, statement);
    put_meaning(&page, statement);
    put_groups(&page, &figures);
    put_limits(&page);
    put_assumptions(&page, statement);
    put_accounting(&page, statement, &figures);
    put(&page, "", 1); /* the NUL */
    if (!page.failed) return (char *)page.text.bytes;
    free(page.text.bytes);
    return NULL;
}
