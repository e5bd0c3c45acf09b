/*
 * Detached signatures of releases, made and checked by ssh-keygen, which is run as it is: agents,
 * passphrases and hardware keys work because they are its own business. docs/privacy/signing.md
 * says how to do the same by hand.
 */
#ifndef DPMF_PROGRAMS_SSH_SIGNATURE_H
#define DPMF_PROGRAMS_SSH_SIGNATURE_H

#include <stddef.h>

/* What a signature is for: one made for another purpose is none of a release. */
#define SSH_SIGNATURE_NAMESPACE "dpmf-release"

enum { SSH_SIGNATURE_SAID_MAX = 512 };

/* The bytes of a file as they were once: what is checked is what is signed, whatever becomes of the
 * file meanwhile. */
struct ssh_copy {
    int fd;        /* -1: there is none */
    char path[64]; /* by which this process can open it */
};

/* @return an exit status, after printing what is wrong */
int ssh_copy_make(const char *file, struct ssh_copy *copy);
void ssh_copy_drop(struct ssh_copy *copy);

/* Writes `signature`, whole or not at all. @return an exit status, after printing what is wrong */
int ssh_signature_make(const struct ssh_copy *copy, const char *key, const char *signature);

/* Whether `signature` is one over the copy of the file by a key that may sign. `key` is a public
 * key, with `identity` NULL, or a file of allowed signers, with the one that must have signed.
 * `said` gets what ssh-keygen says of a good one, and else what is wrong.
 * @return an exit status, after printing what is wrong: STATUS_NO when it is not */
int ssh_signature_check(const char *file, const struct ssh_copy *copy, const char *signature,
                        const char *key, const char *identity, char said[SSH_SIGNATURE_SAID_MAX]);

#endif
