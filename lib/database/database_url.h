/*
 * The name of a database and of what is wanted from it, as one text:
 *
 *     sqlite:FILE?query=SELECT ...
 *     sqlite:FILE?table=NAME
 *     postgres://HOST/DATABASE?query=SELECT ...
 *     postgresql://USER@HOST:PORT/DATABASE?table=NAME&sslmode=require
 *
 * Any character may be written as %XX; %, & and, in the name of a file, ? must be. A password is
 * refused, and no error ever shows a part of the text that could be one.
 */
#ifndef DPMF_DATABASE_DATABASE_URL_H
#define DPMF_DATABASE_DATABASE_URL_H

#include "dpmf.h"

enum database_kind { DATABASE_SQLITE, DATABASE_POSTGRES };

enum { DATABASE_SETTINGS_MAX = 40 };

/* What libpq calls a keyword, such as host or sslmode. */
struct database_setting {
    const char *name, *value;
};

struct database_url {
    enum database_kind kind;
    const char *file;  /* file of SQLite */
    const char *query; /* query in SQL; NULL when there is none */
    const char *table; /* name of a table; NULL when there is none; never given with a query */
    struct database_setting setting[DATABASE_SETTINGS_MAX]; /* settings of PostgreSQL */
    size_t n_settings;
    const char *shown; /* name for messages: the file, or host and database */
    char *space;       /* buffer that holds all of these texts */
};

/* @return whether a text that could be a path is one of these */
bool database_url_is(const char *text);

/* @return 0, DPMF_ERR_USAGE_VALUE, or DPMF_ERR_BASE_NO_MEMORY */
int database_url_parse(const char *text, struct database_url *url, struct dpmf_error *error);
void database_url_free(struct database_url *url);

#endif
