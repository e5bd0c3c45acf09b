/*
 * Runs ssh-keygen to sign a file and to check a signature: without a shell, the file on its
 * standard input, its words kept apart from ours. Fed by command_privacy_sign.c and
 * command_privacy_show.c.
 */
#define _GNU_SOURCE
#include "shared/ssh_signature.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/text.h"

extern char **environ;

enum { KEYS_MAX = 65536, PATH_TEXT_MAX = 4096 };

/* ---- running it ------------------------------------------------------------------------------ */

/* What stands for its standard input, output and error; -1: ours. */
struct streams {
    int in, out, err;
};

static int refuse_missing(int number) {
    if (number != ENOENT)
        return terminal_error_print(STATUS_IO, NULL, "cannot run ssh-keygen: %s",
                                    text_system_error(number).text);
    return terminal_error_print(STATUS_IO, "install OpenSSH: apt-get install openssh-client",
                                "ssh-keygen was not found: it makes and checks signatures");
}

/* @return 0 and how it ended, as of waitpid; or an errno */
static int run_program(char *const arguments[], const struct streams *streams, int *ended) {
    const int wanted[3] = {streams->in, streams->out, streams->err};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t usual;
    pid_t child = -1;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed != 0) return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return failed;
    }
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    for (int fd = 0; failed == 0 && fd < 3; fd++)
        if (wanted[fd] >= 0) failed = posix_spawn_file_actions_adddup2(&actions, wanted[fd], fd);
    if (failed == 0)
        failed = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return failed;
    /* Whoever interrupts, interrupts it as well: it is waited for, so that the terminal is as it
     * was. */
    while (waitpid(child, ended, 0) < 0)
        if (errno != EINTR) return errno;
    return 0;
}

static bool ended_well(int ended) { return WIFEXITED(ended) && WEXITSTATUS(ended) == 0; }

/* The first line of what was written to a nameless file. */
static void read_line(int fd, char *text, size_t size) {
    ssize_t n = pread(fd, text, size - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
}

/* A regular file: a pipe would be waited for. */
static int open_file(const char *path, int *fd) {
    struct stat found;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd >= 0 && fstat(*fd, &found) == 0 && !S_ISREG(found.st_mode)) {
        close(*fd);
        *fd = -1;
        return terminal_error_print(STATUS_USAGE, "give the file itself",
                                    "%s: this is not a regular file", path);
    }
    if (*fd >= 0) return STATUS_DONE;
    return terminal_error_print(STATUS_IO, errno == ENOENT ? "check the path" : NULL,
                                "%s: cannot open: %s", path, text_system_error(errno).text);
}

static int make_nameless(const char *name, unsigned flags, int *fd) {
    *fd = memfd_create(name, flags);
    if (*fd >= 0) return STATUS_DONE;
    return terminal_error_print(STATUS_IO, NULL, "cannot make a temporary file: %s",
                                text_system_error(errno).text);
}

static void close_all(int *fds, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0) close(fds[i]);
}

/* ---- what is signed -------------------------------------------------------------------------- */

/* @return 0 or an errno */
static int copy_bytes(int from, int to) {
    char bytes[65536];
    for (;;) {
        ssize_t n = read(from, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return lseek(to, 0, SEEK_SET) == 0 ? 0 : errno;
        for (ssize_t done = 0; done < n;) {
            ssize_t put = write(to, bytes + done, (size_t)(n - done));
            if (put < 0 && errno != EINTR) return errno;
            if (put > 0) done += put;
        }
    }
}

int ssh_copy_make(const char *file, struct ssh_copy *copy) {
    int fd, failed;
    *copy = (struct ssh_copy){.fd = -1};
    int status = open_file(file, &fd);
    if (status != STATUS_DONE) return status;
    status = make_nameless("release", MFD_CLOEXEC, &copy->fd);
    if (status == STATUS_DONE && (failed = copy_bytes(fd, copy->fd)) != 0)
        status = terminal_error_print(STATUS_IO, NULL, "%s: cannot read: %s", file,
                                      text_system_error(failed).text);
    snprintf(copy->path, sizeof copy->path, "/proc/self/fd/%d", copy->fd);
    close(fd);
    if (status != STATUS_DONE) ssh_copy_drop(copy);
    return status;
}

void ssh_copy_drop(struct ssh_copy *copy) {
    if (copy->fd >= 0) close(copy->fd);
    copy->fd = -1;
}

/* ---- making one ------------------------------------------------------------------------------ */

static int run_sign(int file, int signature, const char *key) {
    char *const arguments[] = {
        "ssh-keygen",           "-q", "-Y", "sign", "-n", SSH_SIGNATURE_NAMESPACE, "-f",
        (char *)(uintptr_t)key, NULL};
    const struct streams streams = {file, signature, -1};
    int ended = 0, failed = run_program(arguments, &streams, &ended);
    if (failed != 0) return refuse_missing(failed);
    if (ended_well(ended)) return STATUS_DONE;
    return terminal_error_print(STATUS_NO,
                                "--key names a private key, or a public one whose private key the "
                                "agent holds",
                                "nothing was signed: ssh-keygen could not sign with %s", key);
}

/* As any other file of the user's: what is open for all is a matter of the umask. */
static int keep(int fd, const char *temporary, const char *signature) {
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(fd, 0666 & ~mask) == 0 && fsync(fd) == 0 && rename(temporary, signature) == 0)
        return STATUS_DONE;
    return terminal_error_print(STATUS_IO, NULL, "%s: cannot write: %s", signature,
                                text_system_error(errno).text);
}

int ssh_signature_make(const struct ssh_copy *copy, const char *key, const char *signature) {
    char temporary[PATH_TEXT_MAX];
    int n = snprintf(temporary, sizeof temporary, "%s.XXXXXX", signature);
    if (n < 0 || (size_t)n >= sizeof temporary)
        return terminal_error_print(STATUS_IO, NULL, "%.200s: the name is too long", signature);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return terminal_error_print(STATUS_IO, NULL, "%s: cannot write: %s", signature,
                                    text_system_error(errno).text);
    int status = run_sign(copy->fd, fd, key);
    if (status == STATUS_DONE) status = keep(fd, temporary, signature);
    if (status != STATUS_DONE) unlink(temporary);
    close(fd);
    return status;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool begins(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

/* A line of a public key begins with its kind; one of allowed signers with who they are. */
static bool is_public_key(const char *line) {
    return begins(line, "ssh-") || begins(line, "ecdsa-sha2-") || begins(line, "sk-ssh-") ||
           begins(line, "sk-ecdsa-sha2-");
}

static const char *first_line(const char *text) {
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (*text != '#') return text;
        text += strcspn(text, "\n");
    }
}

static int read_keys(const char *path, char text[KEYS_MAX]) {
    int fd, status = open_file(path, &fd);
    if (status != STATUS_DONE) return status;
    size_t n = 0;
    ssize_t got = 1;
    while (got != 0 && n < KEYS_MAX) {
        got = read(fd, text + n, KEYS_MAX - n);
        if (got < 0 && errno != EINTR) break;
        if (got > 0) n += (size_t)got;
    }
    if (got < 0)
        status = terminal_error_print(STATUS_IO, NULL, "%s: cannot read: %s", path,
                                      text_system_error(errno).text);
    else if (n == KEYS_MAX || memchr(text, '\0', n) != NULL)
        status = terminal_error_print(STATUS_INPUT, "give a .pub file or a file of allowed signers",
                                      "%s: not a public key", path);
    close(fd);
    if (status == STATUS_DONE) text[n] = '\0';
    return status;
}

/* The same key as an allowed signer, by the name that is then asked for. Of several keys any one
 * would do, and nobody would learn whose it was. */
static int allow_key(int fd, const char *path, const char *line) {
    const int n = (int)strcspn(line, "\r\n");
    if (*first_line(line + n) != '\0')
        return terminal_error_print(STATUS_USAGE,
                                    "give the one that must have signed, or a file of allowed "
                                    "signers with --identity",
                                    "%s: there is more than one public key", path);
    if (dprintf(fd, "signer namespaces=\"%s\" %.*s\n", SSH_SIGNATURE_NAMESPACE, n, line) < 0)
        return terminal_error_print(STATUS_IO, NULL, "cannot write a temporary file: %s",
                                    text_system_error(errno).text);
    return STATUS_DONE;
}

/* What ssh-keygen is to read: the file itself, or one made of a public key, which it inherits. */
struct signers {
    int fd;
    char path[64];
    const char *file, *identity;
};

static int take_signers(const char *key, const char *identity, struct signers *signers) {
    char text[KEYS_MAX];
    *signers = (struct signers){.fd = -1, .file = key, .identity = identity};
    int status = read_keys(key, text);
    if (status != STATUS_DONE) return status;
    const char *line = first_line(text);
    if (begins(line, "-----BEGIN"))
        return terminal_error_print(STATUS_USAGE, "give the public key: the file that ends in .pub",
                                    "%s: this is a private key, and checking needs none", key);
    if (!is_public_key(line)) {
        if (identity != NULL) return STATUS_DONE;
        return terminal_error_print(STATUS_USAGE,
                                    "for example: --identity curator@example.org, as the file says",
                                    "%s: a file of allowed signers needs --identity, who must have "
                                    "signed",
                                    key);
    }
    if (identity != NULL)
        return terminal_error_print(STATUS_USAGE, "leave --identity out, or give such a file",
                                    "%s: a public key has no identities; a file of allowed signers "
                                    "has",
                                    key);
    status = make_nameless("signers", 0, &signers->fd);
    if (status == STATUS_DONE) status = allow_key(signers->fd, key, line);
    snprintf(signers->path, sizeof signers->path, "/proc/self/fd/%d", signers->fd);
    signers->file = signers->path;
    signers->identity = "signer";
    return status;
}

/* ---- checking one ---------------------------------------------------------------------------- */

/* Prints what is wrong with a signature, and says it to the caller. */
static int refuse_signature(const char *path, const char *hint, const char *fault,
                            char said[SSH_SIGNATURE_SAID_MAX]) {
    snprintf(said, SSH_SIGNATURE_SAID_MAX, "%s", fault);
    return terminal_error_print(STATUS_NO, hint, "%s: %s", path, fault);
}

static int run_verify(const char *path, const char *signature, const struct signers *signers,
                      const int fds[3], char said[SSH_SIGNATURE_SAID_MAX]) {
    char words[SSH_SIGNATURE_SAID_MAX - 64] = "", fault[SSH_SIGNATURE_SAID_MAX];
    char *const arguments[] = {"ssh-keygen",
                               "-Y",
                               "verify",
                               "-n",
                               SSH_SIGNATURE_NAMESPACE,
                               "-f",
                               (char *)(uintptr_t)signers->file,
                               "-I",
                               (char *)(uintptr_t)signers->identity,
                               "-s",
                               (char *)(uintptr_t)signature,
                               NULL};
    const struct streams streams = {fds[0], fds[1], fds[2]};
    int ended = 0, failed = run_program(arguments, &streams, &ended);
    if (failed != 0) return refuse_missing(failed);
    if (!ended_well(ended)) read_line(fds[2], words, sizeof words);
    if (words[0] == '\0') read_line(fds[1], words, sizeof words);
    if (ended_well(ended)) {
        snprintf(said, SSH_SIGNATURE_SAID_MAX, "%s", words);
        return STATUS_DONE;
    }
    snprintf(fault, sizeof fault, "the signature does not hold (ssh-keygen: %s)",
             words[0] ? words : "no reason");
    return refuse_signature(
        path, "the file may have been changed, or someone else has signed it: do not rely on it",
        fault, said);
}

int ssh_signature_check(const char *file, const struct ssh_copy *copy, const char *signature,
                        const char *key, const char *identity, char said[SSH_SIGNATURE_SAID_MAX]) {
    struct signers signers;
    struct stat found;
    int fds[3] = {copy->fd, -1, -1};
    said[0] = '\0';
    if (access(signature, F_OK) != 0 && errno == ENOENT)
        return refuse_signature(signature, "ask whoever published the release for its signature",
                                "there is no signature", said);
    if (stat(signature, &found) == 0 && !S_ISREG(found.st_mode)) /* a pipe would be waited for */
        return refuse_signature(signature, "ask whoever published the release for its signature",
                                "this is not a regular file, as a signature is", said);
    int status = take_signers(key, identity, &signers);
    if (status == STATUS_DONE) status = make_nameless("said", MFD_CLOEXEC, &fds[1]);
    if (status == STATUS_DONE) status = make_nameless("complaints", MFD_CLOEXEC, &fds[2]);
    if (status == STATUS_DONE) status = run_verify(file, signature, &signers, fds, said);
    close_all(fds + 1, 2);
    if (signers.fd >= 0) close(signers.fd);
    return status;
}
