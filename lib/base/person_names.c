/*
 * Whether the name of a column could be that of people. Asked by whoever reads a table that should
 * hold no people, or one person alone: lib/tables, and lib/titles for someone's own history.
 */
#include "base/person_names.h"

#include <string.h>
#include <strings.h>

/* Words for people and for what stands for one, in some of the languages that files are written in.
 * Nobody can list all of them: tables whose columns must not name people list what they may hold as
 * well (privacy/public_table.c). */
static const char *const person_words[] = {
    "aaid",       "account",    "acct",        "adherent",    "adid",        "annotator",
    "anvandare",  "applicant",  "attendee",    "benutzer",    "bidder",      "blogger",
    "borrower",   "bruger",     "brugernavn",  "bruker",      "brukere",     "buyer",
    "caller",     "cardholder", "citizen",     "client",      "cliente",     "commenter",
    "compte",     "consumer",   "contact",     "conto",       "cookie",      "crm",
    "cuenta",     "cust",       "customer",    "device",      "donor",       "email",
    "employee",   "fan",        "felhasznalo", "fingerprint", "firstname",   "follower",
    "forename",   "friend",     "fullname",    "gaid",        "gamer",       "gamertag",
    "gebruiker",  "guest",      "handle",      "hh",          "household",   "human",
    "idfa",       "idfv",       "imei",        "imsi",        "individual",  "invitee",
    "ip",         "ipaddress",  "kayttaja",    "klant",       "klient",      "konto",
    "kullanici",  "kunde",      "kunden",      "kundin",      "lastname",    "learner",
    "listener",   "login",      "logon",       "mail",        "mailbox",     "member",
    "membre",     "miembro",    "mitglied",    "msisdn",      "nick",        "nickname",
    "nutzer",     "owner",      "panelist",    "participant", "passenger",   "passport",
    "patient",    "patron",     "pax",         "payer",       "people",      "person",
    "phone",      "profile",    "prospect",    "pseudonym",   "puid",        "pupil",
    "purchaser",  "rater",      "reader",      "recensent",   "recipient",   "registrant",
    "requester",  "resident",   "respondent",  "reviewer",    "rider",       "screenname",
    "sender",     "session",    "shopper",     "signatory",   "ssn",         "student",
    "subscriber", "suid",       "surname",     "tel",         "telephone",   "tenant",
    "tester",     "tourist",    "traveler",    "traveller",   "uid",         "uporabnik",
    "user",       "usr",        "usuario",     "utente",      "utilisateur", "utilizador",
    "utilizator", "uzytkownik", "viewer",      "visitor",     "voter",       "watcher",
    "who",        "whom",       "whose",       "worker"};

/* What is put behind such a word without a blank. */
static const char *const person_endings[] = {
    "",    "s",      "id",   "ids",  "uuid",  "guid", "name",  "names", "key",     "no",   "nr",
    "num", "number", "hash", "code", "token", "ref",  "index", "idx",   "address", "mail", "email"};

/* Words that name a person wherever they stand in a name. */
static const char *const person_parts[] = {"user", "email", "customer", "reviewer", "subscriber"};

static bool is_person_word(const char *word, size_t n) {
    for (size_t i = 0; i < sizeof person_words / sizeof person_words[0]; i++) {
        size_t length = strlen(person_words[i]);
        if (length > n || strncasecmp(word, person_words[i], length) != 0) continue;
        for (size_t e = 0; e < sizeof person_endings / sizeof person_endings[0]; e++)
            if (strlen(person_endings[e]) == n - length &&
                strncasecmp(word + length, person_endings[e], n - length) == 0)
                return true;
    }
    return false;
}

static bool has_person_part(const char *name, size_t n) {
    for (size_t i = 0; i < sizeof person_parts / sizeof person_parts[0]; i++) {
        size_t length = strlen(person_parts[i]);
        for (size_t at = 0; at + length <= n; at++)
            if (strncasecmp(name + at, person_parts[i], length) == 0) return true;
    }
    return false;
}

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

static bool is_letter(char c) { return is_upper(c) || is_lower(c); }

/* Whether a word ends before the byte at i > 0: where letters end or begin, and in "raterName"
 * before the N. */
static bool ends_word(const char *name, size_t n, size_t i) {
    if (i == n || is_letter(name[i]) != is_letter(name[i - 1])) return true;
    return is_upper(name[i]) && is_lower(name[i - 1]);
}

bool column_could_name_person(const char *name, size_t n) {
    char joined[256]; /* "e-mail" and "screen_name" are words too */
    size_t n_joined = 0;
    for (size_t from = 0; from < n;) {
        size_t end = from + 1;
        while (!ends_word(name, n, end)) end++;
        if (is_person_word(name + from, end - from)) return true;
        from = end;
    }
    for (size_t i = 0; i < n && n_joined < sizeof joined; i++)
        if (is_letter(name[i])) joined[n_joined++] = name[i];
    return is_person_word(joined, n_joined) || has_person_part(joined, n_joined);
}
