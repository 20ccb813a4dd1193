#include "measured.h"

#include "bench.h"
#include "engine/stored.h"
#include "tuned.h"

#include <stdlib.h>

enum { MOST_SETTINGS = 8 };

static void make_room(struct measured *m, int count)
{
    m->config = mem_zero((size_t)count, sizeof *m->config);
    m->speed = mem_zero((size_t)count, sizeof *m->speed);
}

static void add(struct measured *m, const struct config *c, double speed)
{
    m->config[m->count] = *c;
    m->speed[m->count++] = speed;
}

void measured_read(struct measured *m, const struct recording *r)
{
    *m = (struct measured){.name = mem_strdup(r->name), .space = r->space};
    make_room(m, r->count);
    for (int i = 0; i < r->count; i++) {
        const struct record_entry *entry = &r->entry[i];
        struct config c;
        config_set_get(&r->configs, i, &c);
        if (entry->outcome != OUTCOME_REJECTED)
            add(m, &c, entry->outcome == OUTCOME_OK ? 1 / entry->seconds : 0);
    }
}

// --- a session here ---

static void run_session(const char *preset, const char *const *set, int trials, const char *db)
{
    struct bench_child child;
    char *budget = mem_printf("%d", trials);
    const char *words[12 + 2 * MOST_SETTINGS] = {"tune",   preset,     "--json", "--strategy",
                                                 "random", "--db",     db,       "--seed",
                                                 "1",      "--trials", budget};
    int count = 11;
    for (int i = 0; i < MOST_SETTINGS && set[i]; i++) {
        words[count++] = "--set";
        words[count++] = set[i];
    }
    bench_start(&child, words);
    while (fgetc(child.out) != EOF)
        continue;
    bench_end(&child);
    free(budget);
}

struct reading {
    struct measured *out;
    int most;
    struct err e;
};

static bool take_trial(void *context, const struct trial_record *t)
{
    struct reading *r = context;
    struct config c;
    if (r->out->count == r->most || !config_parse_key(r->out->space, t->key, &c, &r->e))
        return false;
    add(r->out, &c, t->seconds > 0 ? 1 / t->seconds : 0);
    return true;
}

static struct store *open_store(const char *db)
{
    struct err e;
    struct store *store = store_open(db, STORE_READ, &e);
    if (!store)
        bench_fail(db, &e);
    return store;
}

static void read_session(struct measured *m, struct store *store, int64_t id)
{
    struct reading r = {.out = m};
    struct session_record session;
    struct recording *none;
    *m = (struct measured){0};
    arena_init(&m->arena);
    if (!store_get_session(store, id, &m->arena, &session, &r.e))
        bench_fail("no session", &r.e);
    r.most = (int)session.trials;
    make_room(m, r.most);
    m->space = stored_space(store, &session, &m->arena, &m->script, &none, &r.e);
    if (!m->space || !m->script || !store_each_numbered(store, id, 1, take_trial, &r, &r.e))
        bench_fail("the session cannot be read", &r.e);
    m->name = mem_printf("%s (%s) on %s", session.title, session.name, session.device);
}

void measured_run(struct measured *m, const char *preset, const char *const *set, int trials)
{
    char *db = mem_printf("%s/%s.db", tuned_folder(), preset);
    run_session(preset, set, trials, db);
    struct store *store = open_store(db);
    read_session(m, store, 1);
    store_close(store);
    free(db);
}

struct measured *measured_stored(const char *db, int *count)
{
    struct err e;
    struct arena arena;
    struct session_record *session;
    struct store *store = open_store(db);
    arena_init(&arena);
    if (!store_list_sessions(store, &arena, &session, count, &e))
        bench_fail(db, &e);
    struct measured *list = mem_zero((size_t)*count, sizeof *list);
    for (int i = 0; i < *count; i++)
        read_session(&list[i], store, session[i].id);
    arena_finish(&arena);
    store_close(store);
    return list;
}

void measured_finish(struct measured *m)
{
    script_destroy(m->script);
    arena_finish(&m->arena);
    free(m->name);
    free(m->config);
    free(m->speed);
}
