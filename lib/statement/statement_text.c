/*
 * A statement for people: a page that a privacy officer who is no specialist can follow and sign.
 * Every sentence is a consequence of what is proven (statement.c), every figure is rounded against
 * us, and what is not promised has as much room as what is. Fed by a statement that was checked.
 */
#include <math.h>
#include <stdlib.h>

#include "statement/accountant.h"
#include "statement/claim.h"
#include "statement/statement_conditional.h"
#include "statement/statement_extension.h"
#include "statement/statement_provenance.h"
#include "statement/statement_words.h"

/* ---- what is promised ------------------------------------------------------------------------ */

static void put_stamps(struct statement_page *page, const struct statement *statement) {
    if (statement->is_insecure) {
        statement_page_put(page, "\n", 1);
        statement_page_say(
            page,
            "NOT PRIVATE. THE NOISE WAS MADE FROM A SEED AND CAN BE TAKEN AWAY AGAIN BY ANYONE "
            "WHO GUESSES IT. THIS FILE IS FOR TESTS ALONE. NOTHING BELOW IS PROMISED.");
    }
    if (statement->is_research) {
        statement_page_put(page, "\n", 1);
        statement_page_say(
            page,
            "NOT PRIVATE. FIGURES OF THE PRIVATE RATINGS WERE SHOWN WHILE IT WAS MADE "
            "(FOR RESEARCH). THIS FILE IS NOT TO BE PUBLISHED. WHAT IS SAID BELOW DOES NOT COVER "
            "THOSE FIGURES, NOR ANY CHOICE THAT FOLLOWED FROM THEM.");
    }
    if (statement->catalogue_from_ratings) {
        statement_page_put(page, "\n", 1);
        statement_page_say(
            page,
            "NOT COVERED: THE LIST OF ITEMS. IT WAS TAKEN FROM THE RATINGS, AND SHOWS WHICH "
            "ITEMS ANYONE RATED. WHAT IS SAID BELOW HOLDS ONLY BETWEEN DATA WITH THE SAME ITEMS.");
    }
}

/* The kind, and what the promise rests on beside the proof: before anything is promised. */
static void put_kind(struct statement_page *page, const struct statement *statement) {
    const unsigned assumptions = claim_assumptions(statement);
    statement_page_line(page, "kind: %s", dpmf_claim_name(claim_of(statement)));
    if (assumptions == 0) return;
    statement_page_line(page, "\nWhat is said below rests on this, which dpmf cannot check:\n");
    for (unsigned bit = 1; bit <= DPMF_ASSUMES_LAST; bit <<= 1) {
        const char *sentence = NULL;
        if (assumptions & bit && dpmf_assumption_name(bit, &sentence))
            statement_page_point(page, "%s.", sentence);
    }
}

static const char *promise_heading(const struct statement *statement) {
    if (statement->is_insecure) return "What would be promised if the noise were secret";
    if (statement->is_research) return "What would be promised if nothing else had been shown";
    if (statement->catalogue_from_ratings) return "What is promised, but for the list of items";
    return claim_of(statement) == DPMF_CLAIM_PROVEN
               ? "What is promised"
               : "What is promised to those who accept the above";
}

/* Nothing is claimed to hold of a file that is stamped NOT PRIVATE. */
static void put_promise(struct statement_page *page, const struct statement *statement,
                        const struct statement_figures *figures) {
    const enum dpmf_claim claim = claim_of(statement);
    const bool holds = claim != DPMF_CLAIM_NOT_PRIVATE;
    statement_page_line(page, "\n%s\n", promise_heading(statement));
    statement_page_say(
        page,
        "This release %s mu-Gaussian differentially private, and therefore (epsilon, "
        "delta)-differentially private, with",
        holds ? "is" : "would be");
    statement_page_line(page, "\n      mu = %s\n      epsilon = %s      delta = %s\n",
                        statement_number_exact(figures->mu).text,
                        statement_number_exact(statement->epsilon).text,
                        statement_number_exact(statement->delta).text);
    statement_page_say(
        page,
        "for one user id with all its ratings, added or removed. This %s a promise to every user: "
        "how likely it was that the release came out as it did depends on that user's ratings "
        "within the bounds below, and no further, whatever else anyone knows, and whatever is "
        "computed from the release later.",
        holds ? "is" : "would be");
    if (statement->is_personalised) statement_page_say(page, STATEMENT_WISHES);
    if (!holds) return;
    statement_page_say(
        page,
        "It is proven for the run that was made, %son three conditions: that dpmf did what it is "
        "written to do, that it was run as recorded here, and that its random numbers "
        "(ChaCha20 under a key from the operating system) could not be predicted.",
        claim == DPMF_CLAIM_PROVEN ? "" : "given what is listed above, and ");
}

/* e^epsilon, where it is a number that says anything. */
static void put_factor(struct statement_page *page, const struct statement *statement) {
    double epsilon = statement->epsilon;
    if (epsilon > 20) {
        statement_page_point(
            page, "At an epsilon above 20 there is no bound worth naming on how much more likely a "
                  "conclusion about you can be with your ratings than without them.");
        return;
    }
    statement_page_point(
        page,
        "Whatever might be concluded about you from the release: the chance that it is concluded "
        "is, with your ratings, at most %s times what it is without them, plus one chance in %s. "
        "The same holds the other way round.",
        statement_number_at_most(exp(epsilon), epsilon < 3 ? 2 : 0).text,
        statement_number_one_in(statement->delta).text);
}

static void put_meaning(struct statement_page *page, const struct statement *statement) {
    /* Telling two outcomes apart: right (1 + total variation) / 2 of the time, and that is
     * delta(0). */
    double right = 50 * (1 + accountant_delta(statement_mu(statement), 0));
    statement_page_line(page, "\nWhat the numbers %s\n",
                        claim_of(statement) == DPMF_CLAIM_NOT_PRIVATE ? "would mean" : "mean");
    put_factor(page, statement);
    statement_page_point(
        page,
        "Someone who knows everything but whether your ratings were used, and thinks both equally "
        "likely, guesses right at most %s times out of 100 after seeing the release. Without it "
        "the guess is right 50 times.",
        right >= 99.9 ? "100" : statement_number_at_most(right, 1).text);
    if (right >= 90)
        statement_page_point(
            page, "THIS IS A WEAK PROMISE: it allows such a guess to be right nearly always. It "
                  "should not be the only protection of these ratings.");
}

static void put_groups(struct statement_page *page, const struct statement_figures *figures) {
    statement_page_line(page, "\nPeople with several ids, and households\n");
    statement_page_say(
        page, "The promise is for one id. For several together it is weaker, at the same delta:");
    statement_page_put(page, "\n", 1);
    for (int i = 0; i < STATEMENT_GROUPS; i++)
        statement_page_line(page, "      %d ids   epsilon = %s", i + 2,
                            statement_number_at_most(figures->group[i], 2).text);
}

/* ---- what is not ----------------------------------------------------------------------------- */

static void put_limits(struct statement_page *page, bool is_conditional) {
    statement_page_line(page, "\nWhat is not promised\n");
    statement_page_point(
        page,
        "That nothing can be learned about you. What is true of people in general, such as that "
        "those who like one item like another, can be learned with or without your ratings, and "
        "may be true of you.");
    statement_page_point(
        page,
        "Anything about the curator, who holds the ratings, or about the machine they are on: "
        "how long the run took, and other traces of it.");
    statement_page_point(page,
                         "Anything about other releases of the same people. Their costs add up.");
    statement_page_point(
        page,
        "Anything about your own vector and recommendations. They are made from this release and "
        "your ratings, by you; whoever sees them learns about you.");
    statement_page_point(page,
                         "That this file comes from whom it is said to come from, or that %s. No "
                         "file can show that by itself; a signature can show the first.",
                         is_conditional ? "anything was drawn" : "the noise was added");
}

/* What is public about events. The page says events for ratings, so these are called otherwise. */
static void put_event(struct statement_page *page, const struct statement *statement) {
    switch (statement->liked) {
    case STATEMENT_LIKED_NOT:
        statement_page_point(page, "What is an event. It counts once, however often it occurred.");
        return;
    case STATEMENT_LIKED_FROM:
        statement_page_point(page, "What is an event: that someone gave an item %s or more.",
                             statement_number_exact(statement->like).text);
        return;
    case STATEMENT_LIKED_ANY:
        statement_page_point(page,
                             "What is an event: that someone gave an item a value, whichever.");
        return;
    case STATEMENT_LIKED_SEVERAL: break;
    }
    statement_page_point(page, "What is an event: that someone gave an item so much or more, which "
                               "was not the same number for all of the curator's files.");
}

static void put_assumptions(struct statement_page *page, const struct statement *statement) {
    statement_page_line(page, "\nWhat is taken as public\n");
    if (!statement->catalogue_from_ratings)
        statement_page_point(page, "Which items there are (%s), and their order.",
                             statement_number_count(statement->items).text);
    if (statement_is_of_events(statement))
        put_event(page, statement);
    else
        statement_page_point(page, "That ratings go from %s to %s.",
                             statement_number_exact(statement->range_min).text,
                             statement_number_exact(statement->range_max).text);
    if (statement->declared_users > 0)
        statement_page_point(page, "That there are about %s users, as the curator declared.",
                             statement_number_count(statement->declared_users).text);
    if (statement->has_features)
        statement_page_point(page, "What was given about the items, such as kind or year.");
    if (statement->is_personalised)
        statement_page_point(
            page, "Which users are in the list of smaller epsilons, and with which one.");
    if (statement->cohort.is_declared)
        statement_page_point(page, "The dates by which it was decided who took part.");
    statement_page_point(page, "The settings of the run.");
    if (statement->extension.items > 0)
        statement_page_point(page,
                             "Which items were added (%s), and what was given about all of "
                             "them, such as kind or year.",
                             statement_number_count(statement->extension.items).text);
}

/* ---- for specialists ------------------------------------------------------------------------- */

/* Popularity is measured in two noisy sums, and taste in more (mechanisms/events). */
static bool is_popularity_alone(const struct statement *statement) {
    return statement_is_of_events(statement) && statement->n_releases == 2;
}

static void put_accounting(struct statement_page *page, const struct statement *statement,
                           const struct statement_figures *figures) {
    statement_page_line(page, "\nFor specialists\n");
    statement_page_say(
        page,
        "Mechanism \"%s\". Each release is a sum over users, to which each user adds a vector of "
        "L2 "
        "norm at most 1 on a grid of 2^-bits, checked in integers, plus round(N(0, sigma^2)) on "
        "every "
        "number, sampled exactly, sigma in units of the grid. mu = 2^bits / sigma. Sums are 64-bit "
        "integers. All figures are rounded up.",
        statement->mechanism);
    statement_page_line(page, "\n      %-24s %12s %14s %5s %10s", "release", "numbers", "sigma",
                        "bits", "mu");
    for (size_t i = 0; i < statement->n_releases; i++) {
        const struct statement_release *release = &statement->releases[i];
        statement_page_line(page, "      %-24.23s %12s %14s %5u %10s", release->name,
                            statement_number_count(release->coordinates).text,
                            statement_number_count(release->sigma).text, release->bits,
                            statement_number_exact(figures->release[i]).text);
    }
    if (is_popularity_alone(statement)) {
        statement_page_line(page, "%s", "");
        statement_page_say(page, "Both are popularity: for so few people, so little budget or so "
                                 "few items the rule measures nothing else.");
    }
    statement_page_line(page, "\n      mu of all together, by exact composition   %s",
                        statement_number_exact(figures->mu).text);
    statement_page_line(page, "      epsilon at this delta, exactly             %s",
                        statement_number_exact(figures->exact).text);
    statement_page_line(page, "      the same by way of zCDP, as a check        %s",
                        statement_number_exact(figures->renyi).text);
    statement_deltas_put(page, figures);
}

char *statement_to_text(const struct statement *statement) {
    struct statement_page page = {.of_events = statement_is_of_events(statement)};
    struct statement_figures figures;
    char id[STATEMENT_ID_TEXT];
    if (statement->n_releases > STATEMENT_RELEASES_MAX) return NULL;
    statement_figures_make(statement, &figures);
    statement_id_format(statement->id, id);
    statement_page_line(&page, "Privacy statement of release %s", id);
    statement_page_line(&page, "made by dpmf %s",
                        statement->version[0] ? statement->version : dpmf_version());
    put_kind(&page, statement);
    put_stamps(&page, statement);
    if (statement_is_conditional(statement)) {
        statement_conditional_put(&page, statement, &figures, STATEMENT_PROMISE);
    } else {
        put_promise(&page, statement, &figures);
        put_meaning(&page, statement);
        put_groups(&page, &figures);
    }
    statement_extension_put(&page, statement);
    put_limits(&page, statement_is_conditional(statement));
    put_assumptions(&page, statement);
    if (statement_is_conditional(statement))
        statement_conditional_put(&page, statement, &figures, STATEMENT_ACCOUNTING);
    else
        put_accounting(&page, statement, &figures);
    statement_build_put(&page, statement);
    statement_cohort_put(&page, statement);
    statement_about_put(&page, statement);
    statement_page_put(&page, "", 1); /* the NUL */
    if (!page.failed) return (char *)page.text.bytes;
    free(page.text.bytes);
    return NULL;
}
