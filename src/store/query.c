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
        check_bind(q, sqlite3_bind_double(q->statement->handle, ++q->bound, value));
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

int64_t query_int(const struct query *q, int column)
{
    return sqlite3_column_int64(q->statement->handle, column);
}

double query_real(const struct query *q, int column)
{
    return sqlite3_column_double(q->statement->handle, column);
}

double query_real_or_nan(const struct query *q, int column)
{
    bool is_null = sqlite3_column_type(q->statement->handle, column) == SQLITE_NULL;
    return is_null ? NAN : query_real(q, column);
}

const char *query_text(const struct query *q, int column, struct arena *a)
{
    const char *text = (const char *)sqlite3_column_text(q->statement->handle, column);
    return text && a ? arena_strdup(a, text) : text;
}

// A seed is all 64 bits: it is stored as the signed number of the same bits.
static int64_t as_signed(uint64_t bits)
{
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void query_bind_fields(struct query *q, const struct field *fields, size_t count,
                       const void *record)
{
    for (size_t i = 0; i < count; i++) {
        const void *member = (const char *)record + fields[i].offset;
        switch (fields[i].kind) {
        case FIELD_INT: query_bind_int(q, *(const int *)member); break;
        case FIELD_INT64: query_bind_int(q, *(const int64_t *)member); break;
        case FIELD_UINT64: query_bind_int(q, as_signed(*(const uint64_t *)member)); break;
        case FIELD_BOOL: query_bind_int(q, *(const bool *)member); break;
        case FIELD_REAL: query_bind_real(q, *(const double *)member); break;
        case FIELD_TEXT: query_bind_text(q, *(const char *const *)member); break;
        }
    }
}

void query_read_fields(const struct query *q, int first_column, const struct field *fields,
                       size_t count, struct arena *a, void *record)
{
    for (size_t i = 0; i < count; i++) {
        void *member = (char *)record + fields[i].offset;
        int column = first_column + (int)i;
        switch (fields[i].kind) {
        case FIELD_INT: *(int *)member = (int)query_int(q, column); break;
        case FIELD_INT64: *(int64_t *)member = query_int(q, column); break;
        case FIELD_UINT64: *(uint64_t *)member = (uint64_t)query_int(q, column); break;
        case FIELD_BOOL: *(bool *)member = query_int(q, column) != 0; break;
        case FIELD_REAL: *(double *)member = query_real(q, column); break;
        case FIELD_TEXT: *(const char **)member = query_text(q, column, a); break;
        }
    }
}

void *list_to_arena(void *list, int count, size_t size, struct arena *a)
{
    void *copy = arena_zero(a, (size_t)count, size);
    if (count)
        memcpy(copy, list, (size_t)count * size);
    free(list);
    return copy;
}
