#include "store/row.h"

#include "base/os.h"

#include <stdio.h>
#include <string.h>

enum { VERB_SIZE = 16, ARGUMENT_SIZE = 64 }; // store_take_command's

#define MESSAGE_FIELDS(F)            F(id, BITS) F(at, SPAN) F(level, TEXT) F(text, TEXT)
#define AS_MESSAGE_FIELD(name, rule) FIELD(message_record, name, rule),

bool store_push_command(struct store *s, int64_t session, const char *verb, const char *argument,
                        struct err *e)
{
    if (strlen(verb) >= VERB_SIZE || (argument && strlen(argument) >= ARGUMENT_SIZE))
        return err_set(e, "the command '%s %s' is too long", verb, argument ? argument : "");
    static const char sql[] = "INSERT INTO command(verb, argument, at, session)"
                              " SELECT ?, ?, ?, id FROM session WHERE id = ? AND " IS_THERE;
    struct query q = query_start(s, sql, e);
    query_bind_text(&q, verb);
    query_bind_text(&q, argument);
    query_bind_real(&q, os_unix_time());
    query_bind_int(&q, session);
    return query_change_session(&q, session, e);
}

bool store_has_command(struct store *s, int64_t session, const char *verb)
{
    struct err ignored; // the runner reads the same table, and says what is wrong with it
    struct query q =
        query_start(s, "SELECT 1 FROM command WHERE session = ? AND verb = ?", &ignored);
    query_bind_int(&q, session);
    query_bind_text(&q, verb);
    bool has = query_next(&q);
    return query_end(&q) && has;
}

bool store_take_command(struct store *s, int64_t session, char verb[16], char argument[64],
                        bool *any, struct err *e)
{
    // The runner calls this several times a second, so it first reads, which disturbs no writer.
    struct query q = query_start(s, "SELECT 1 FROM command WHERE session = ? LIMIT 1", e);
    query_bind_int(&q, session);
    *any = query_next(&q);
    if (!query_end(&q))
        return false;
    if (!*any)
        return true;
    static const char sql[] =
        "DELETE FROM command WHERE id = (SELECT min(id) FROM command WHERE session = ?)"
        " RETURNING coalesce(verb, ''), coalesce(argument, '')";
    q = query_start(s, sql, e);
    query_bind_int(&q, session);
    *any = false;
    while (query_next(&q)) {
        snprintf(verb, VERB_SIZE, "%s", query_text(&q, 0, NULL));
        snprintf(argument, ARGUMENT_SIZE, "%s", query_text(&q, 1, NULL));
        *any = true;
    }
    return query_end(&q);
}

bool store_add_message(struct store *s, int64_t session, const char *level, const char *text,
                       struct err *e)
{
    static const char sql[] = "INSERT INTO message(at, level, text, session)"
                              " SELECT ?, ?, ?, id FROM session WHERE id = ? AND " IS_THERE;
    struct query q = query_start(s, sql, e);
    query_bind_real(&q, os_unix_time());
    query_bind_text(&q, level);
    query_bind_text(&q, text);
    query_bind_int(&q, session);
    return query_change_session(&q, session, e);
}

bool store_each_message(struct store *s, int64_t session, int64_t after_id,
                        bool (*each)(void *context, const struct message_record *m), void *context,
                        struct err *e)
{
    static const char sql[] = "SELECT session" MESSAGE_FIELDS(AS_COLUMN) //
        " FROM message WHERE session = ? AND id > ? ORDER BY id";
    static const struct field fields[] = {MESSAGE_FIELDS(AS_MESSAGE_FIELD)};
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, after_id);
    struct message_record m;
    while (query_next_record(&q, session, FIELDS(fields), "one of its messages", NULL, &m) &&
           each(context, &m))
        continue;
    return query_end(&q);
}
