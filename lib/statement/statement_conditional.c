/*
 * A conditional statement for people: what an exact draw from the posterior would promise, and why
 * nothing is promised for the run that was made. No sentence says more than posterior_rule.h
 * proves; what is assumed comes before what follows from it. Fed by a statement that was checked;
 * beside statement_text.c, which writes the proven ones.
 */
#include "statement/statement_conditional.h"

#include <math.h>

#include "statement/posterior_rule.h"
#include "statement/statement_words.h"

/* ---- the condition --------------------------------------------------------------------------- */

static void put_condition(struct statement_page *page, const struct statement *statement) {
    statement_page_put(page, "\n", 1);
    statement_page_say(
        page, "CONDITIONAL, NOT PROVEN. EVERYTHING BELOW HOLDS ONLY IF A SAMPLER HAD CONVERGED. "
              "NO RUN THAT ENDS CAN SHOW THAT, AND NO TEST OF THE RESULT CAN.");
    statement_page_line(page, "\nWhat would be promised if the sampler had converged%s\n",
                        statement->is_insecure              ? " and the seed were secret"
                        : statement->is_research            ? " and nothing else had been shown"
                        : statement->catalogue_from_ratings ? ", but for the list of items"
                                                            : "");
    statement_page_say(
        page,
        "If the item vectors and biases were one exact draw from the distribution described at "
        "the end, the release would be epsilon-differentially private, with");
    statement_page_line(page, "\n      epsilon = %s      delta = 0\n",
                        statement_number_exact(statement->epsilon).text);
    statement_page_say(page, "for one user id with all its ratings, added or removed.");
    if (statement->is_personalised) statement_page_say(page, STATEMENT_WISHES);
    statement_page_line(page, "\nWhat can be said of the run that was made\n");
    statement_page_say(
        page,
        "It ended after %s rounds. Conditional on convergence it is (epsilon, (1 + e^epsilon) * "
        "d)-differentially private, where d is the total-variation distance to the target, "
        "uniformly over datasets, and is not known: d is how far what the sampler draws from can "
        "be "
        "from that distribution, for whatever ratings it might have been given.",
        statement_number_count(statement->posterior.rounds).text);
    if (statement->epsilon > STATEMENT_MEANINGFUL)
        statement_page_say(
            page,
            "AT THIS EPSILON THAT SAYS NOTHING: above about 10, e^epsilon is so large that no "
            "finite run can make (1 + e^epsilon) * d a number below 1.");
    else
        statement_page_say(page, "To make that term one in 100,000, d would have to be below %.1e.",
                           1e-5 / (1 + exp(statement->epsilon)));
}

/* ---- what it would mean ---------------------------------------------------------------------- */

static void put_meaning(struct statement_page *page, const struct statement *statement) {
    /* Two outcomes of an epsilon-private release are told apart with at most e^epsilon / (1 +
     * e^epsilon). */
    double right = 100 / (1 + exp(-statement->epsilon));
    statement_page_line(page, "\nWhat the numbers would mean\n");
    if (statement->epsilon > 20)
        statement_page_point(
            page,
            "At an epsilon above 20 there is no bound worth naming on how much more likely a "
            "conclusion about you can be with your ratings than without them, converged or not.");
    else
        statement_page_point(
            page,
            "Whatever might be concluded about you from the release: the chance that it is "
            "concluded would be, with your ratings, at most %s times what it is without them, and "
            "the other way round.",
            statement_number_at_most(exp(statement->epsilon), statement->epsilon < 3 ? 2 : 0).text);
    statement_page_point(
        page,
        "Someone who knows everything but whether your ratings were used, and thinks both equally "
        "likely, would guess right at most %s times out of 100 after seeing the release.",
        right >= 99.9 ? "100" : statement_number_at_most(right, 1).text);
    if (right >= 90)
        statement_page_point(
            page,
            "THIS WOULD BE A WEAK PROMISE EVEN IF IT HELD: it allows such a guess to be right "
            "nearly always. It should not be the only protection of these ratings.");
}

static void put_groups(struct statement_page *page, const struct statement_figures *figures) {
    statement_page_line(page, "\nPeople with several ids, and households, on the same condition\n");
    for (int i = 0; i < STATEMENT_GROUPS; i++)
        statement_page_line(page, "      %d ids   epsilon = %s", i + 2,
                            statement_number_exact(figures->group[i]).text);
}

static void put_rating(struct statement_page *page, const struct statement *statement,
                       const struct statement_figures *figures) {
    const struct statement_posterior *posterior = &statement->posterior;
    statement_page_line(page, "\nOne rating, on the same condition\n");
    statement_page_point(
        page,
        "One rating of a user replaced by another: epsilon = %s, which is 2 * rho * epsilon / tau.",
        statement_number_exact(figures->replaced).text);
    if (figures->added > 0)
        statement_page_point(page,
                             "One rating added or removed: epsilon = %s, which is epsilon / tau, "
                             "but only for users who "
                             "have at most %s ratings with it%s. For others the figure above.",
                             statement_number_exact(figures->added).text,
                             statement_number_count(posterior->max_ratings).text,
                             statement->is_personalised ? " and are not in the list of smaller ones"
                                                        : "");
    else
        statement_page_point(
            page,
            "One rating added or removed: no better figure than that of all of a user's ratings, "
            "since rho is above 1 and the weight of the others changes with it.");
    statement_page_point(page, "The paper that the mechanism comes from claims epsilon / tau for "
                               "any rating. That is its claim, "
                               "quoted here; it does not hold for a rating that is replaced.");
}

/* ---- what is assumed ------------------------------------------------------------------------- */

static void put_conditions(struct statement_page *page, const struct statement *statement) {
    statement_page_line(page, "\nWhat is assumed\n");
    statement_page_point(
        page,
        "That the sampler had converged, for every set of ratings it might have been given: d is "
        "0, or small enough. Nothing supports this but experience.");
    statement_page_point(
        page,
        "That sums and draws in double precision, published in single precision, are as good as "
        "exact ones. What they are off counts in d.");
    statement_page_point(
        page,
        "That dpmf did what it is written to do, that it was run as recorded here, and that its "
        "draw was not chosen among several after looking at them.");
    if (statement->is_insecure)
        statement_page_point(page,
                             "That nobody knows the seed of its random numbers, which is not so.");
    else
        statement_page_point(
            page,
            "That its random numbers (ChaCha20 under a key from the operating system) could not "
            "be predicted.");
    if (statement->wishes_show_members)
        statement_page_point(
            page, "That users who asked for a smaller epsilon above 0 are in the ratings, and that "
                  "anyone may know it: a list of wishes with others in it was refused.");
}

/* ---- for specialists ------------------------------------------------------------------------- */

static void put_accounting(struct statement_page *page, const struct statement *statement,
                           const struct statement_figures *figures) {
    const struct statement_posterior *posterior = &statement->posterior;
    statement_page_line(page, "\nFor specialists\n");
    statement_page_say(
        page,
        "Mechanism \"%s\", after Liu, Wang and Smola (2015), Algorithm 1, corrected. The target is "
        "exp(-a L) times the prior, temperature 1. L is the sum over users of w_i times the sum of "
        "(r - clamp(prediction))^2 over the user's ratings, of which tau at most are kept, by "
        "coins "
        "keyed by user and item; predictions are clamped to the range and kappa beyond; w_i = "
        "min(rho, "
        "B_i / (m_i (range + kappa)^2)), a B_i = epsilon_i. Every user's a w_i L_i is in [0, "
        "epsilon_i], which is all that the proof needs (lib/statement/posterior_rule.h). The prior "
        "is "
        "Gaussian, of public precisions, and not multiplied by a.",
        statement->mechanism);
    statement_page_line(page, "\n      tau, ratings of a user that count          %s",
                        statement_number_count(posterior->max_ratings).text);
    statement_page_line(page, "      kappa                                      %s",
                        statement_number_exact(posterior->kappa).text);
    statement_page_line(page, "      rho                                        %s",
                        statement_number_exact(posterior->rho).text);
    statement_page_line(page, "      B = tau (range + kappa)^2                  %s",
                        statement_number_exact(figures->loss_bound).text);
    statement_page_line(page, "      a = epsilon / B                            %s",
                        statement_number_exact(figures->loss_scale).text);
    statement_page_line(page, "      factors                                    %s",
                        statement_number_count(posterior->factors).text);
    statement_page_line(page, "      rounds                                     %s",
                        statement_number_count(posterior->rounds).text);
    statement_page_line(
        page, "      precisions: users' vectors 1, their biases %s, items' vectors %s,",
        statement_number_exact(posterior_precision_b).text,
        statement_number_exact(posterior->factors / posterior_vector_variance).text);
    statement_page_line(
        page, "      their biases %s about a mean of precision %s; in quarters of the range",
        statement_number_exact(posterior_precision_c).text,
        statement_number_exact(posterior_precision_g).text);
}

void statement_conditional_put(struct statement_page *page, const struct statement *statement,
                               const struct statement_figures *figures, enum statement_part part) {
    if (part == STATEMENT_PROMISE) {
        put_condition(page, statement);
        put_meaning(page, statement);
        put_groups(page, figures);
        put_rating(page, statement, figures);
        put_conditions(page, statement);
    } else {
        put_accounting(page, statement, figures);
    }
}
