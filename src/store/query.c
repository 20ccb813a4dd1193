#include "store/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Keyed by the address of its text. Nested uses of one text (a callback that reads what its caller
// reads) get a statement each.
struct statement {
    const char *sql;
    sqlite3_stmt *handle;
    bool busy;
    struct statement *next;
};

struct query query_start(struct store *s, const char *sql, struct err *e)
{
    struct statement *st = s->statements;
    while (st && (st->sql != sql || st->busy))
        st = st->next;
    if (!st) {
        st = mem_zero(1, sizeof *st);
        st->sql = sql;
        if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st->handle, NULL) !=
            SQLITE_OK) {
            db_error(s, e);
            free(st);
            return (struct query){.store = s, .e = e, .failed = true};
        }
        st->next = s->statements;
        s->statements = st;
    }
    st->busy = true;
    return (struct query){.store = s, .statement = st, .e = e};
}

static void check_bind(struct query *q, int code)
{
    if (code != SQLITE_OK && !q->failed) {
        q->failed = true;
        db_error(q->store, q->e);
    }
}

void query_bind_int(struct query *q, int64_t value)
{
    if (q->statement)
        check_bind(q, sqlite3_bind_int64(q->statement->handle, ++q->bound, value));
}

void query_bind_real(struct query *q, double value)
{
    if (q->statement)
        check_bind(q, isfinite(value) ? sqlite3_bind_double(q->statement->handle, ++q->bound, value)
                                      : sqlite3_bind_null(q->statement->handle, ++q->bound));
}

void query_bind_text(struct query *q, const char *text)
{
    if (q->statement)
        check_bind(q, sqlite3_bind_text(q->statement->handle, ++q->bound, text, -1, SQLITE_STATIC));
}

bool query_next(struct query *q)
{
    if (q->failed)
        return false;
    int code = sqlite3_step(q->statement->handle);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        q->failed = true;
        db_error(q->store, q->e);
    }
    db_waited(q->store, !q->failed);
    return code == SQLITE_ROW;
}

bool query_end(struct query *q)
{
    if (q->statement) {
        sqlite3_reset(q->statement->handle);
        sqlite3_clear_bindings(q->statement->handle);
        q->statement->busy = false;
        q->statement = NULL;
    }
    if (q->failed)
        db_undo(q->store);
    return !q->failed;
}

bool query_run(struct query *q)
{
    while (query_next(q))
        ;
    return query_end(q);
}

void query_forget(struct store *s)
{
    while (s->statements) {
        struct statement *st = s->statements;
        s->statements = st->next;
        sqlite3_finalize(st->handle);
        free(st);
    }
}

sqlite3_stmt *query_row(const struct query *q)
{
    return q->statement->handle;
}

int64_t query_int(const struct query *q, int column)
{
    return sqlite3_column_int64(q->statement->handle, column);
}

const char *query_text(const struct query *q, int column, struct arena *a)
{
    const char *text = (const char *)sqlite3_column_text(q->statement->handle, column);
    return text && a ? arena_strdup(a, text) : text;
}

void *list_to_arena(void *list, int count, size_t size, struct arena *a)
{
    void *copy = arena_zero(a, (size_t)count, size);
    if (count)
        memcpy(copy, list, (size_t)count * size);
    free(list);
    return copy;
}
