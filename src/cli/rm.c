#include "cli/common.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

struct choice { // the sessions, each once
    int64_t *id;
    int count;
};

static bool contains(const struct choice *c, int64_t id)
{
    for (int i = 0; i < c->count; i++)
        if (c->id[i] == id)
            return true;
    return false;
}

static bool choose(const struct arguments *a, struct arena *storage, struct choice *c,
                   struct err *e)
{
    *c = (struct choice){.id = arena_zero(storage, (size_t)a->operand_count, sizeof *c->id)};
    for (int i = 0; i < a->operand_count; i++) {
        int64_t id;
        if (!common_session_id(a->operand[i], &id, e))
            return false;
        if (!contains(c, id))
            c->id[c->count++] = id;
    }
    return true;
}

// All are there and ours, or nothing is touched. The locks go with the store.
static bool lock_all(struct store *s, const struct choice *c, struct err *e)
{
    for (int i = 0; i < c->count; i++)
        if (!store_has_session(s, c->id[i], e) || !store_lock_session(s, c->id[i], e))
            return false;
    return true;
}

static bool remove_all(const struct arguments *a, struct choice *c, struct err *e)
{
    struct store *s = common_open(a, STORE_WRITE, e);
    if (!s)
        return false;
    struct choice removed = {.id = c->id};
    bool ok = lock_all(s, c, e);
    while (ok && removed.count < c->count) {
        ok = store_delete_session(s, c->id[removed.count], e);
        removed.count += ok;
    }
    store_close(s);
    bool json = arguments_flag(a, "json");
    struct str out = {0};
    for (int i = 0; i < removed.count && !json; i++)
        printf("session %" PRId64 " is removed\n", removed.id[i]);
    if (json && removed.count != 0) {
        struct json_writer w = json_begin(&out);
        json_begin_list(&w, "removed");
        for (int i = 0; i < removed.count; i++)
            json_add_int(&w, NULL, removed.id[i]);
        json_print(&w);
    }
    return ok;
}

static int run_rm(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct arena storage;
    struct choice choice;
    (void)self;
    arena_init(&storage);
    bool ok = choose(a, &storage, &choice, &e) && remove_all(a, &choice, &e);
    arena_finish(&storage);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {OPTION_JSON, OPTION_DB, OPTION_HELP, OPTION_END};

const struct command cmd_rm = {
    .name = "rm",
    .operands = "ID...",
    .help = "remove sessions with all their trials for good",
    .least = 1,
    .most = INT_MAX,
    .options = options,
    .run = run_rm,
};
