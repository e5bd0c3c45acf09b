/*
 * libpq, PostgreSQL's client library, loaded by what speaks to a server and by nothing else: it
 * brings TLS and Kerberos along. The functions that are used are listed here, once; the types are
 * those of its header. A build without that header has no DPMF_WITH_POSTGRES, and only says so.
 */
#ifndef DPMF_DATABASE_POSTGRES_LIBRARY_H
#define DPMF_DATABASE_POSTGRES_LIBRARY_H

#include "dpmf.h"

#ifdef DPMF_WITH_POSTGRES
#include <libpq-fe.h>

#define POSTGRES_LIBRARY_CALLS(CALL)                                                               \
    CALL(cancel)                                                                                   \
    CALL(clear)                                                                                    \
    CALL(cmdTuples)                                                                                \
    CALL(connectPoll)                                                                              \
    CALL(connectStartParams)                                                                       \
    CALL(connectionNeedsPassword)                                                                  \
    CALL(conninfo)                                                                                 \
    CALL(conninfoFree)                                                                             \
    CALL(consumeInput)                                                                             \
    CALL(errorMessage)                                                                             \
    CALL(escapeIdentifier)                                                                         \
    CALL(escapeLiteral)                                                                            \
    CALL(finish)                                                                                   \
    CALL(flush)                                                                                    \
    CALL(fname)                                                                                    \
    CALL(freeCancel)                                                                               \
    CALL(freemem)                                                                                  \
    CALL(ftype)                                                                                    \
    CALL(getCancel)                                                                                \
    CALL(getCopyData)                                                                              \
    CALL(getResult)                                                                                \
    CALL(getisnull)                                                                                \
    CALL(getvalue)                                                                                 \
    CALL(isBusy)                                                                                   \
    CALL(libVersion)                                                                               \
    CALL(nfields)                                                                                  \
    CALL(ntuples)                                                                                  \
    CALL(parameterStatus)                                                                          \
    CALL(pass)                                                                                     \
    CALL(putCopyData)                                                                              \
    CALL(putCopyEnd)                                                                               \
    CALL(resultErrorField)                                                                         \
    CALL(resultErrorMessage)                                                                       \
    CALL(resultStatus)                                                                             \
    CALL(sendDescribePrepared)                                                                     \
    CALL(sendPrepare)                                                                              \
    CALL(sendQuery)                                                                                \
    CALL(sendQueryParams)                                                                          \
    CALL(serverVersion)                                                                            \
    CALL(setNoticeReceiver)                                                                        \
    CALL(setnonblocking)                                                                           \
    CALL(socket)                                                                                   \
    CALL(status)                                                                                   \
    CALL(transactionStatus)

/* Each as a member of its name without the PQ that it begins with. */
struct postgres_library {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration cannot have them */
#define POSTGRES_LIBRARY_MEMBER(name) __typeof__(&PQ##name) name;
    POSTGRES_LIBRARY_CALLS(POSTGRES_LIBRARY_MEMBER)
#undef POSTGRES_LIBRARY_MEMBER
};
#endif

struct postgres_library;

/* Fills in the table; the library stays loaded. In a build without libpq the table may be NULL.
 * @return 0 or DPMF_ERR_IO_LIBRARY, which names the package that provides it */
int postgres_library_load(struct postgres_library *library, struct dpmf_error *error);

#endif
