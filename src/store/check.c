#include "store/db.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool db_damaged(const struct store *s, const char *what, struct err *e)
{
    return err_set(e, "'%s' is damaged: %s (`sqlite3 FILE .recover` saves what can be read)",
                   s->path, what);
}

// What a check of pages finds first, without the headline before it.
static bool expect_ok(struct query *q, const char *found, struct err *e)
{
    const char *last_line = strrchr(found, '\n');
    bool whole = str_equal(found, "ok");
    if (!whole)
        db_damaged(q->store, last_line ? last_line + 1 : found, e);
    return query_end(q) && whole;
}

bool store_check(struct store *s, struct err *e)
{
    struct query q = query_start(s, "PRAGMA quick_check(1)", e);
    return expect_ok(&q, query_next(&q) ? query_text(&q, 0, NULL) : "ok", e);
}

// Whether the pages of the sessions are whole; what is in their rows is for those who read them.
static bool check_pages(struct store *s, struct err *e)
{
    struct query q = query_start(s, "PRAGMA quick_check(session)", e);
    const char *found = query_next(&q) ? query_text(&q, 0, NULL) : "ok";
    return expect_ok(&q, *found == '*' ? found : "ok", e);
}

// A session is made in one transaction, and removed with all that belongs to it. Its texts and its
// tally are few rows, however many trials it has.
static bool check_owners(struct store *s, struct err *e)
{
    static const char sql[] = "SELECT owned.session FROM"
                              " (SELECT session FROM text UNION SELECT session FROM tally) AS owned"
                              " LEFT JOIN session AS s ON s.id = owned.session WHERE s.id IS NULL";
    struct query q = query_start(s, sql, e);
    char what[64];
    bool any = query_next(&q);
    if (any)
        snprintf(what, sizeof what, "the row of session %" PRId64 " is gone", query_int(&q, 0));
    return query_end(&q) && (!any || db_damaged(s, what, e));
}

bool store_check_sessions(struct store *s, struct err *e)
{
    return check_pages(s, e) && check_owners(s, e);
}

bool session_missing(struct store *s, int64_t id, struct err *e)
{
    db_undo(s);
    return store_check_sessions(s, e) &&
           err_set(e, "there is no session %" PRId64 " (`tilewalk ls%s` lists them)", id,
                   store_option(s));
}
