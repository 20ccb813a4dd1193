// Networks: their tasks, the rounds of their scheduler, the weights that the user gave the tasks,
// and their runs as a whole.
#include "store/row.h"

// clang-format off
#define TASK_FIELDS(F) \
    F(position, ORDINAL) F(name, TEXT) F(title, TEXT) F(preset, TEXT) F(settings, OBJECT) F(kind, TEXT) \
    F(uses, ORDINAL) F(flop, AMOUNT) F(session, COUNT) F(known_s, SPAN) F(told_s, SPAN)
#define ROUND_FIELDS(F) \
    F(number, ORDINAL) F(task, ORDINAL) F(trials, ORDINAL) F(pinned, FLAG) F(told, FLAG) F(seconds, SPAN) F(more, FLAG) \
    F(latency, SPAN) F(all_trials, COUNT) F(elapsed_s, SPAN) F(at, SPAN)
#define WHOLE_FIELDS(F) \
    F(number, ORDINAL) F(all_trials, COUNT) F(elapsed_s, SPAN) F(sum_s, SPAN) F(seconds, SPAN) F(rival_s, SPAN) \
    F(verified, FLAG) F(reason, TEXT) F(kernels, MAYBE_ASKS) F(kept, MAYBE_ASKS) F(at, SPAN)
#define WEIGHT_FIELDS(F) F(round, ORDINAL) F(task, ORDINAL) F(weight, AMOUNT)
// clang-format on
#define AS_TASK_FIELD(name, rule)   FIELD(task_record, name, rule),
#define AS_ROUND_FIELD(name, rule)  FIELD(round_record, name, rule),
#define AS_WHOLE_FIELD(name, rule)  FIELD(whole_record, name, rule),
#define AS_WEIGHT_FIELD(name, rule) FIELD(weight_record, name, rule),

static const struct field task_fields[] = {TASK_FIELDS(AS_TASK_FIELD)};
static const struct field round_fields[] = {ROUND_FIELDS(AS_ROUND_FIELD)};
static const struct field whole_fields[] = {WHOLE_FIELDS(AS_WHOLE_FIELD)};
static const struct field weight_fields[] = {WEIGHT_FIELDS(AS_WEIGHT_FIELD)};

// --- tasks ---

bool store_put_task(struct store *s, int64_t network, const struct task_record *t, struct err *e)
{
    static const char sql[] = "INSERT INTO task(network" TASK_FIELDS(AS_COLUMN) //
        ") VALUES (:network" TASK_FIELDS(AS_VALUE) ")";
    return query_put_record(s, sql, network, FIELDS(task_fields), t, e);
}

bool store_set_task(struct store *s, int64_t network, int64_t position, int64_t session,
                    struct err *e)
{
    static const char sql[] = "UPDATE task SET session = ? WHERE network = ? AND position = ?";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, network);
    query_bind_int(&q, position);
    return query_change_session(&q, network, e);
}

bool store_get_tasks(struct store *s, int64_t network, struct arena *a, struct task_record **out,
                     int *count, struct err *e)
{
    static const char sql[] = "SELECT network" TASK_FIELDS(AS_COLUMN) //
        " FROM task WHERE network = ? ORDER BY position";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, network);
    struct records r =
        query_all_records(&q, network, FIELDS(task_fields), "one of its tasks", sizeof **out, a);
    *out = r.of;
    *count = r.count;
    return query_end(&q);
}

// --- rounds ---

bool store_put_round(struct store *s, int64_t network, const struct round_record *r, struct err *e)
{
    static const char sql[] = "INSERT OR REPLACE INTO round(network" ROUND_FIELDS(AS_COLUMN) //
        ") VALUES (:network" ROUND_FIELDS(AS_VALUE) ")";
    return query_put_record(s, sql, network, FIELDS(round_fields), r, e);
}

bool store_each_round(struct store *s, int64_t network, int64_t after,
                      bool (*each)(void *context, const struct round_record *r), void *context,
                      struct err *e)
{
    static const char sql[] = "SELECT network" ROUND_FIELDS(AS_COLUMN) //
        " FROM round WHERE network = ? AND number > ? ORDER BY number";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, network);
    query_bind_int(&q, after);
    struct round_record r;
    while (query_next_record(&q, network, FIELDS(round_fields), "one of its rounds", NULL, &r) &&
           each(context, &r))
        continue;
    return query_end(&q);
}

// --- runs as a whole ---

bool store_put_plan(struct store *s, int64_t network, const char *plan, struct err *e)
{
    struct query q = query_start(s, "INSERT INTO plan(network, plan) VALUES (?, ?)", e);
    query_bind_int(&q, network);
    query_bind_text(&q, plan);
    return query_run(&q);
}

bool store_get_plan(struct store *s, int64_t network, struct arena *a, const char **out,
                    struct err *e)
{
    struct query q = query_start(s, "SELECT plan FROM plan WHERE network = ?", e);
    query_bind_int(&q, network);
    *out = NULL;
    if (query_next(&q))
        *out = query_text(&q, 0, a);
    return query_end(&q);
}

bool store_put_whole(struct store *s, int64_t network, const struct whole_record *r, struct err *e)
{
    static const char sql[] = "INSERT INTO whole(network" WHOLE_FIELDS(AS_COLUMN) //
        ") VALUES (:network" WHOLE_FIELDS(AS_VALUE) ")";
    return query_put_record(s, sql, network, FIELDS(whole_fields), r, e);
}

bool store_each_whole(struct store *s, int64_t network,
                      bool (*each)(void *context, const struct whole_record *r), void *context,
                      struct err *e)
{
    static const char sql[] = "SELECT network" WHOLE_FIELDS(AS_COLUMN) //
        " FROM whole WHERE network = ? ORDER BY number";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, network);
    const char *what = "one of its runs as a whole";
    struct whole_record r;
    while (query_next_record(&q, network, FIELDS(whole_fields), what, NULL, &r) &&
           each(context, &r))
        continue;
    return query_end(&q);
}

// --- weights ---

bool store_put_weight(struct store *s, int64_t network, int64_t task, double weight, struct err *e)
{
    static const char sql[] =
        "INSERT OR REPLACE INTO weight(network, round, task, weight)"
        " SELECT ?1, ifnull(max(number), 0) + 1, ?2, ?3 FROM round WHERE network = ?1";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, network);
    query_bind_int(&q, task);
    query_bind_real(&q, weight);
    return query_run(&q);
}

bool store_get_weights(struct store *s, int64_t network, struct arena *a,
                       struct weight_record **out, int *count, struct err *e)
{
    static const char sql[] = "SELECT network" WEIGHT_FIELDS(AS_COLUMN) //
        " FROM weight WHERE network = ? ORDER BY round, task";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, network);
    struct records r = query_all_records(&q, network, FIELDS(weight_fields), "one of its weights",
                                         sizeof **out, a);
    *out = r.of;
    *count = r.count;
    return query_end(&q);
}
