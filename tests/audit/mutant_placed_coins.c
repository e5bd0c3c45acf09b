/*
 * Mutant: which event someone leaves out depends on how many users came before them, not on who
 * they are. Each contribution is within its bound; but someone more in front changes those of
 * everyone behind.
 */
#include <stdatomic.h>

#include "mechanisms/vote.h"

size_t __real_vote_left_out(const struct private_user *user, size_t least);
size_t __wrap_vote_left_out(const struct private_user *user, size_t least);

size_t __wrap_vote_left_out(const struct private_user *user, size_t least) {
    static _Atomic size_t before;
    struct private_user placed = *user;
    placed.coin = (uint64_t)atomic_fetch_add(&before, 1) * UINT64_C(0x9e3779b97f4a7c15);
    return __real_vote_left_out(&placed, least);
}
