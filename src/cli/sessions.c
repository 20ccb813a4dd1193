// ls, rm: the sessions of a database, one by one.
#include "base/err.h"
#include "cli/common.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

// --- ls ---

// Returns the end of a session's line: its damage, or the user's note; NULL: neither.
static const char *remark_of(const struct session_record *r)
{
    return r->damage ? r->damage : r->note && *r->note ? r->note : NULL;
}

// Prints a column. A text that is too long ends in "..", so that no part of a shape looks like a
// whole one.
static void print_column(const char *text, int width)
{
    bool fits = strlen(text) <= (size_t)width;
    printf("  %-*.*s%s", fits ? width : width - 2, fits ? width : width - 2, text,
           fits ? "" : "..");
}

static void sessions_print_text(struct store *s, const struct session_record *list, int count)
{
    char speed[32], ran[32], trials[48];
    pid_t runner;
    bool remarks = false;
    if (!count) {
        printf("There are no sessions yet (tilewalk tune gemm makes one).\n");
        return;
    }
    for (int i = 0; i < count; i++)
        remarks |= remark_of(&list[i]) != NULL;
    printf("%4s  %-8s  %-13s  %-36s  %-16s  %11s  %12s  %-8s  %8s%s\n", "id", "state", "space",
           "problem", "device", "trials", "best", "as", "ran", remarks ? "  note" : "");
    for (int i = 0; i < count; i++) {
        const struct session_record *r = &list[i];
        const char *remark = remark_of(r);
        snprintf(trials, sizeof trials, "%" PRId64 "/%" PRId64, r->trials, r->budget_trials);
        printf("%4" PRId64 "  %-8s", r->id, state_name(store_state(s, r, &runner)));
        print_column(r->name, 13);
        print_column(r->title, 36);
        print_column(r->device, 16);
        printf("  %11s  %12s  %-8s  %8s%s%s\n", trials,
               r->best_ask ? speed_text(r, r->best_seconds, speed) : "-",
               !r->best_ask    ? ""
               : r->best_raced ? "raced"
                               : "measured",
               text_duration(r->ran_seconds, ran), remark ? "  " : "", remark ? remark : "");
    }
}

static void sessions_print_json(struct store *s, const struct session_record *list, int count)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    pid_t runner;
    json_begin_list(&w, "sessions");
    for (int i = 0; i < count; i++) {
        json_begin_object(&w, NULL);
        json_session(&w, &list[i], store_state(s, &list[i], &runner));
        json_add_int(&w, "runner", runner);
        json_end(&w);
    }
    json_print(&w);
}

static int run_ls(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct arena arena;
    struct session_record *list = NULL;
    int count = 0, kept = 0;
    bool json = arguments_flag(a, "json"), nothing = common_nothing_yet(a);
    (void)self;
    struct store *s = nothing ? NULL : common_open(a, STORE_READ, &e);
    arena_init(&arena);
    bool ok = nothing || (s && store_list_sessions(s, &arena, &list, &count, &e));
    for (int i = 0; ok && i < count; i++) {
        if (list[i].network && !arguments_flag(a, "tasks"))
            continue; // `show` has the tasks of a network
        list[kept] = list[i];
        common_take_ran(s, &list[kept]);
        if (!json)
            common_show_record(&arena, &list[kept]);
        kept++;
    }
    if (ok)
        (json ? sessions_print_json : sessions_print_text)(s, list, kept);
    if (ok && s && !store_check_sessions(s, &e))
        log_warning("%s", e.text);
    arena_finish(&arena);
    store_close(s);
    return common_exit(ok, &e);
}

// --- rm ---

static int run_rm(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct arena storage;
    int count = 0, removed = 0;
    bool ok = true;
    (void)self;
    arena_init(&storage);
    int64_t *id = arena_zero(&storage, (size_t)a->operand_count, sizeof *id);
    for (int i = 0; ok && i < a->operand_count; i++) {
        int k = 0;
        ok = common_session_id(a->operand[i], &id[count], &e);
        while (k < count && id[k] != id[count])
            k++;
        count += ok && k == count; // each once
    }
    struct store *s = ok ? common_open(a, STORE_WRITE, &e) : NULL;
    ok = s != NULL;
    // All are there and ours, or nothing is touched. The locks go with the store.
    for (int i = 0; ok && i < count; i++)
        ok = store_has_session(s, id[i], &e) && store_lock_session(s, id[i], &e);
    while (ok && removed < count) {
        ok = store_delete_session(s, id[removed], &e);
        removed += ok;
    }
    store_close(s);
    bool json = arguments_flag(a, "json");
    for (int i = 0; i < removed && !json; i++)
        printf("session %" PRId64 " is removed\n", id[i]);
    if (json && removed) {
        struct str out = {0};
        struct json_writer w = json_begin(&out);
        json_begin_list(&w, "removed");
        for (int i = 0; i < removed; i++)
            json_add_int(&w, NULL, id[i]);
        json_print(&w);
    }
    arena_finish(&storage);
    return common_exit(ok, &e);
}

static const struct option ls_options[] = {
    {"tasks", OPTION_FLAG, NULL,
     "list the tasks of networks too, each of which is a session of its own"},
    OPTION_JSON,
    OPTION_DB,
    OPTION_END,
};
static const struct option rm_options[] = {OPTION_JSON, OPTION_DB, OPTION_END};

const struct command cmd_ls = {
    .name = "ls",
    .help = "list the sessions of the database",
    .options = ls_options,
    .run = run_ls,
};

const struct command cmd_rm = {
    .name = "rm",
    .operands = "ID...",
    .help = "remove sessions with all their trials for good",
    .least = 1,
    .most = INT_MAX,
    .options = rm_options,
    .run = run_rm,
};
