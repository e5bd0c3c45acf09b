/*
 * The command lines that fuzz_verbs.c tries. A line is read from left to right, and bytes of the
 * input decide: what is in brackets is there or not, of what is in braces one part is taken.
 * A word @NAME is a file to be read (verbs_files.h has the names), %NAME one to be written, which
 * is there when the verb ends well, and ?NAME one that may be there then. Input bytes of seeds mean
 * lines by their number: new ones are added at the end.
 */
#ifndef DPMF_TESTS_FUZZ_VERBS_LINES_H
#define DPMF_TESTS_FUZZ_VERBS_LINES_H

#define OF_EVERY " -j {1|2} [--json] [-q] [-v] [--memory {1MiB|16MiB|1|300MiB}] [--progress always]"
#define OF_INPUTS                                                                                  \
    " [--format {auto|csv|tsv|movielens|u.data|netflix|yahoo|matrixmarket|libmf|inter|jsonl|"      \
    "arrow|parquet|dpr}] [--columns {user,item,rating|user,item|item,user,rating,timestamp|"       \
    "user,item,count|_,user,rating,item|rating}] [--separator {;|,|tab|space|:}] "                 \
    "[--on-error {skip|fail}] [--rating-range {1:5|0:1|-5:9|5:1}] "                                \
    "[--rescale {1:5=0:1|0:1=1:5|1:1=0:1|-1e308:1e308=0:1}] [--events] [--user-column user]"
#define RATINGS                                                                                    \
    "{@csv|@store|@packed|@events|@eventstore|@movielens|@mtx|@jsonl|@netflix|@inter|@half|@"      \
    "yahoo}"
#define PRIVATE_RATINGS "{@packed|@csv|@movielens|@store|@events|@jsonl|@packedevents}"
#define MODEL "{@model|@release|@ranker|@sampler|@featured|@ranking|@biases|@extended}"
#define RELEASE "{@release|@featured|@ranking|@biases|@extended|@posterior|@insecure|@model}"
#define OF_KERNELS " [--kernels {ref|avx2|avx512|none}]"
#define OF_LEDGER " [--population {p|q|a@b}] [--ledger {@ledger|@oldledger|@newledger}]"
#define OF_PRIVACY                                                                                 \
    " --epsilon {5|1|0.01|19|21|0|-1|nan|inf|1e-9} {--catalogue @catalogue|"                       \
    "--catalogue-from-ratings|} [--delta {1e-6|1e-3|0|1|1e-300}] [--declared-users {6|1000|0}] "   \
    "[--user-privacy @wishes] [--about @about] [--users-since {1999-01-01|2001-01-01|"             \
    "1999-02-30}] [--users-before {2001-01-01|1990-01-01}] [--complete-histories] "                \
    "[--ledger-budget {9|0.001|5@1e-5|x}] [--accept-delta] [--accept-epsilon] "                    \
    "[--insecure-noise-seed {1|7}] [--research] [--valid @half]" OF_LEDGER

static const char *const verb_lines[] = {
    "import " RATINGS " [{@csv|@store|@jsonl}] -o %o.dpr [--like {4|any|0|99}] "
    "[--replace]" OF_INPUTS OF_EVERY,
    "split " RATINGS " --train %a.dpr --test %b.dpr [--test-fraction {0.5|0|1|0.01}] "
    "[--by {random|user|time}] [--probe @netflix] [--seed 7] [--replace]" OF_INPUTS OF_EVERY,
    "describe {@store|@model|@release|@csv|@eventstore|@snapshot|@sampler|@features|@extended} "
    "[--plot %o.svg]" OF_INPUTS OF_EVERY,
    "train " RATINGS " -o %o.safetensors -k {2|1|3|16|0|4097} --epochs {1|3|2|0} "
    "[--learning-rate {0.1|0|1e9|1e-30}] [--decay {0.5|0|9}] [--reg {0.1|0|1e9}] "
    "[--valid {@half|@csv}] [--patience {1|0}] [--deterministic] [--hogwild] [--no-adapt] "
    "[--lanes {1|8|9}] [--tiers {2,3|9,9|0,0}] [--snapshot ?s.safetensors] "
    "[--snapshot-every {1|2blocks|1s}] [--item-features @features] [--user-features "
    "@userfeatures] [--prefetch {0|3}] [--seed 3] [--average]" OF_KERNELS OF_INPUTS OF_EVERY,
    "train " RATINGS " -o %o.safetensors --solver {gibbs|sgld|sghmc|sgnht} -k {2|1|3} "
    "--epochs {2|1|4|0} [--average] [--samples {1|2|0}] [--burn-in {0|1|9}] [--chains {2|1|0}] "
    "[--step {0.1|0|1e9}] [--noise {table:64|table:1|exact}] [--trace ?t.svg] [--valid @half] "
    "[--reg 0.1] [--deterministic] [--snapshot ?s.safetensors] [--seed 3]" OF_KERNELS OF_INPUTS
        OF_EVERY,
    "train " RATINGS " -o %o.safetensors --goal ranking [--solver ials] -k {2|1|3|40} "
    "--epochs {1|2|0} [--like {4|any|99}] [--unobserved {0.1|0|1|9}] [--count-weight {1|0|1e9}] "
    "[--row-steps {1|3|0}] [--row-block {1|2|99}] [--reg {0.1|0}] [--valid {@half|@events}] "
    "[--seed 3]" OF_KERNELS OF_INPUTS OF_EVERY,
    "train " RATINGS " -o %o.safetensors --continue " MODEL " [--history {@csv|@eventstore}] "
    "[--epochs {1|0}] [--deterministic] [--seed 3] [-k 2]" OF_INPUTS OF_EVERY,
    "train @store -o %o.safetensors --resume {@snapshot|@model|@sampler} -k {2|3} [--epochs "
    "{3|4|1}] "
    "[--learning-rate 0.01] [--snapshot ?s.safetensors] [--decay 1]" OF_KERNELS OF_EVERY,
    "train " PRIVATE_RATINGS " -o %o.safetensors [--mechanism "
    "{auto|residual|biases|dpals|gram|langevin}] {--rating-range 1:5|--rating-range 0.5:1|} [-k "
    "{2|1|40}] [--epochs {1|3}] "
    "[--item-features @features]" OF_PRIVACY OF_INPUTS OF_EVERY,
    "train " PRIVATE_RATINGS
    " -o %o.safetensors --goal ranking [--mechanism {events|gram}] [--rating-range 1:5] "
    "[-k 2] [--item-features @features] [--like {3|any}]" OF_PRIVACY OF_INPUTS OF_EVERY,
    "train @packed -o %o.safetensors --mechanism posterior --catalogue @catalogue --rating-range "
    "1:5 --epsilon {5|1} -k 1 --epochs {1|2} --chains {1|2} [--max-ratings {2|0}] [--kappa "
    "{0.1|0|9}] [--rho {0.5|0|2}] [--trace ?t.svg] [--user-privacy @wishes]" OF_LEDGER OF_EVERY,
    "evaluate " MODEL " [" RATINGS "] [--ranking] [--like {4|any}] [--candidates @candidates] "
    "[-n {1|3|0|100000}] [--history {@csv|@eventstore|@half}] [--item-features @features] "
    "[--user-features @userfeatures] [--taste {0|1|0.7|2}] [--by {score|rating}]" OF_KERNELS
        OF_INPUTS OF_EVERY,
    "recommend " MODEL " {--user 3|--all-users|--ratings @mine|--ratings 1:5,3:2|--ratings "
    "@diary|--user 99} [-n {1|3|0|100000}] [--history {@csv|@eventstore}] [--include @items] "
    "[--exclude @items] [--item-features @features] [--user-features @userfeatures] [--taste "
    "{0|1|0.7}] [--by {score|rating}] [--catalogue {@catalogue|@moviesdat}]" OF_KERNELS OF_INPUTS
        OF_EVERY,
    "predict " MODEL " {@pairs|@csv|--user 3 --item 2|@items --ratings @mine|--item 2 --ratings "
    "1:5,3:2|--ratings @diary} [--history {@csv|@eventstore}] [--intervals] [--level "
    "{0.5|0|1|0.999}] [--item-features @features] [--user-features @userfeatures] [--catalogue "
    "{@catalogue|@moviesdat}]" OF_KERNELS OF_INPUTS OF_EVERY,
    "similar " MODEL " --item {2|8|99} [--ratings {@mine|@diary|1:5}] [-n {1|3|0}] [--catalogue "
    "{@catalogue|@moviesdat}]" OF_KERNELS OF_INPUTS OF_EVERY,
    "explain " MODEL " --item {2|8|99} {--ratings @mine|--ratings 1:5,3:2|--user 3 --history "
    "@csv|--ratings @diary} [-n {1|3|0}] [--taste {0|1}] [--by {score|rating}] [--catalogue "
    "{@catalogue|@moviesdat}]" OF_KERNELS OF_INPUTS OF_EVERY,
    "privacy show " RELEASE " [--registry]" OF_EVERY,
    "privacy verify " RELEASE " [--accept {both|conditional|partial}] [--key {@about|@items}] "
    "[--identity me]" OF_EVERY,
    "privacy account {--epsilon {5|0|1e-9|1e9|nan}|--mu {1|0|1e-9|1e9}|--releases {1,2|0|1e9,1}} "
    "[--delta {1e-6|0|1|1e-300}]" OF_EVERY,
    "privacy plan --users {100|1|0|1000000000} --items {10|1|0|1000000} --ratings-per-user "
    "{5|0|1e9|nan} [--epsilon {1,5|0|1e9}] [--delta {1e-6|0}] [--item-features]" OF_EVERY,
    "export " RATINGS " --csv {%o.csv|%o|-} [--replace]" OF_INPUTS OF_EVERY,
    "export {@model|@release|@ranker|@sampler|@featured|@ranking|@biases|@posterior|@insecure} "
    "{--csv %o|--npy %o|--libmf %m|--csv -} {--not-private|} [--users] [--cosine] [--replace] "
    "[--catalogue {@catalogue|@moviesdat|@csv}]" OF_EVERY,
    "export {@model|@release|@ranking} --sqlite %o.db {--not-private|} [--users] [--catalogue "
    "@catalogue]" OF_EVERY,
    "export " RELEASE " --web %o [--catalogue {@catalogue|@moviesdat|@csv}] [--name {A|<b>}] "
    "[--colour {#102030|#ffffff|blue}] [--logo @items] [--links @links]" OF_EVERY,
    "tune " RATINGS " [-o %o.safetensors] --trials {1|2|0} --epochs 1 -k {1|2} [--valid {@half}] "
    "[--valid-fraction {0.5|0|1|0.01}] [--goal {ranking|rating}] [--like {4|any}] "
    "[--learning-rate 0.01] [--reg 0.1] [--unobserved 0.1] [--count-weight 1] [--row-steps 1] "
    "[--seed 3]" OF_LEDGER OF_KERNELS OF_INPUTS OF_EVERY,
    "shard " RATINGS " --parts {2|1|6|7|0|5000} -o %o" OF_INPUTS OF_EVERY,
    "ledger {show|init %l|return 00000000000000000000000000000001|budget p {1|5@1e-5|none|9|0} "
    "[--accept-epsilon]} {--ledger @ledger|--ledger @oldledger|}" OF_EVERY,
    "ledger show [--population {p|q}] [--ledger {@ledger|@oldledger}]" OF_EVERY,
    "synth -o %o.dpr --users {9|1|0} --items {7|1|0} --ratings {20|1|0|64|1000000} [--rank "
    "{1|0|9}] [--noise {0|1|9}] [--scale {1:5:1|0:1|5:1|0:1e9}] [--top-500 {0.5|0|1}] "
    "[--average-rating {0.5|0|1}] [--item-spread {0|2}] [--taste-spread {0|2}] [--events] "
    "[--timestamps] [--seed 3] [--truth %t.truth] [--catalogue-out %c.csv]" OF_EVERY,
    "release extend {@featured|@extended|@release|@ranking} --catalogue {@newitems|@catalogue} "
    "--item-features {@features|@newfeatures} -o %o.safetensors" OF_EVERY,
    "release parent {@extended|@release|@model} -o %o.safetensors" OF_EVERY,
};

enum {
    VERB_LINES = sizeof verb_lines / sizeof *verb_lines,
    LINE_CHOICES = 96, /* bytes of an input that decide; no line has more to decide */
    LINE_MAX = 1024,   /* what is left of a line once it is decided */
    LINE_WORDS = 96
};

/* The part of the line from *at to the end of its brackets or braces. */
static void line_decide(const char **at, const uint8_t *choices, size_t *n_choices, bool is_kept,
                        char *out, size_t *n);

static size_t line_parts(const char *at) {
    size_t n = 1;
    for (int depth = 0; *at && depth >= 0; at++) {
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        n += *at == '|' && depth == 0;
    }
    return n;
}

static void line_choose(const char **at, const uint8_t *choices, size_t *n_choices, bool is_kept,
                        char *out, size_t *n) {
    const size_t n_parts = line_parts(*at + 1), place = (*n_choices)++;
    if (place >= LINE_CHOICES) abort();
    const size_t chosen = choices[place] % n_parts;
    for (size_t i = 0; i < n_parts; i++) {
        ++*at;
        line_decide(at, choices, n_choices, is_kept && i == chosen, out, n);
    }
}

/* A line is decided in the same places, whatever was decided before: a byte keeps its meaning. */
static void line_decide(const char **at, const uint8_t *choices, size_t *n_choices, bool is_kept,
                        char *out, size_t *n) {
    for (; **at && !strchr("|}]", **at); ++*at) {
        if (**at == '{') {
            line_choose(at, choices, n_choices, is_kept, out, n);
        } else if (**at == '[') {
            const size_t place = (*n_choices)++;
            if (place >= LINE_CHOICES) abort();
            ++*at;
            line_decide(at, choices, n_choices, is_kept && choices[place] > 0xbf, out, n);
        } else if (is_kept) {
            if (*n + 1 >= LINE_MAX) abort();
            out[(*n)++] = **at;
        }
    }
    out[*n] = '\0';
}

#endif
