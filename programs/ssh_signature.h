/*
 * Detached signatures of releases, made and checked by ssh-keygen, which is run as it is: agents, passphrases and hardware keys
 * work because they are its own business. docs/privacy/signing.md says how to do the same by hand.
 */
#ifndef DPMF_PROGRAMS_SSH_SIGNATURE_H
#define DPMF_PROGRAMS_SSH_SIGNATURE_H

#include <stddef.h>

/* What a signature is for: one made for another purpose is none of a release. */
#define SSH_SIGNATURE_NAMESPACE "dpmf-release"

enum { SSH_SIGNATURE_SAID_MAX = 512 };

/* Writes `signature`, whole or not at all. @return an exit status, after printing what is wrong */
int ssh_signature_make(const char *file, const char *key, const char *signature);

/* Whether `signature` is one over the file by a key that may sign. `key` is a public key, with `identity` NULL, or a file of allowed
 * signers, with the one that must have signed. `said` gets what ssh-keygen says of a good one.
 * @return an exit status, after printing what is wrong: STATUS_NO when it is not */
int ssh_signature_check(const char *file, const char *signature, const char *key,
                        const char *identity, char said[SSH_SIGNATURE_SAID_MAX]);

#endif
