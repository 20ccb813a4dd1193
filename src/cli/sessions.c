// ls, rm, restore: the sessions of a database, one by one, and its trash.
#include "base/err.h"
#include "cli/common.h"
#include "engine/network_summary.h"
#include "engine/stored.h"

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

static void sessions_print_text(struct store *s, const struct session_record *list, int count,
                                bool trash)
{
    char speed[32], ran[32], trials[48], place[256], strategy[32];
    pid_t runner;
    bool remarks = false;
    if (!count) {
        printf(trash ? "The trash is empty.\n"
                     : "There are no sessions yet (tilewalk tune gemm makes one).\n");
        return;
    }
    for (int i = 0; i < count; i++)
        remarks |= remark_of(&list[i]) != NULL;
    printf("%4s  %-8s  %-13s  %-36s  %-16s  %-10s  %11s  %12s  %-8s  %8s%s\n", "id", "state",
           "space", "problem", "device", "strategy", "trials", "best", "as", "ran",
           remarks ? "  note" : "");
    for (int i = 0; i < count; i++) {
        const struct session_record *r = &list[i];
        const char *remark = remark_of(r);
        snprintf(trials, sizeof trials, "%" PRId64 "/%" PRId64, r->trials, r->budget_trials);
        printf("%4" PRId64 "  %-8s", r->id, state_name(store_state(s, r, &runner)));
        print_column(r->name, 13);
        print_column(r->title, 36);
        print_column(stored_place(r, place), 16);
        snprintf(strategy, sizeof strategy, "%.*s", (int)strcspn(r->strategy, ":"), r->strategy);
        print_column(strategy, 10);
        double sum = r->scheduler ? network_sum_of_parts(s, r) : 0;
        printf("  %11s  %12s  %-8s  %8s%s%s\n", trials,
               sum > 0       ? text_time(sum, speed)
               : r->best_ask ? speed_text(r, r->best_seconds, speed)
                             : "-",
               sum > 0         ? "sum"
               : !r->best_ask  ? ""
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
    bool trash = arguments_flag(a, "trash");
    (void)self;
    struct store *s = nothing ? NULL : common_open(a, STORE_READ, &e);
    arena_init(&arena);
    bool ok = nothing ||
              (s && (trash ? store_list_trash : store_list_sessions)(s, &arena, &list, &count, &e));
    for (int i = 0; ok && i < count; i++) {
        if (list[i].network && !arguments_flag(a, "tasks"))
            continue; // `show` has the tasks of a network
        list[kept] = list[i];
        common_take_ran(s, &list[kept]);
        if (!json) {
            common_show_record(&arena, &list[kept]);
            list[kept].source = shown_text(&arena, list[kept].source);
        }
        kept++;
    }
    if (ok && json)
        sessions_print_json(s, list, kept);
    else if (ok)
        sessions_print_text(s, list, kept, trash);
    if (ok && s && !store_check_sessions(s, &e))
        log_warning("%s", e.text);
    arena_finish(&arena);
    store_close(s);
    return common_exit(ok, &e);
}

// --- rm, restore ---

// Reads the sessions of the command line, each once.
static bool read_ids(const struct arguments *a, int64_t *id, int *count, struct err *e)
{
    *count = 0;
    for (int i = 0; i < a->operand_count; i++) {
        int k = 0;
        if (!common_session_id(a->operand[i], &id[*count], e))
            return false;
        while (k < *count && id[k] != id[*count])
            k++;
        *count += k == *count;
    }
    return true;
}

// Takes what is in the trash, the last one that was moved there first: all of it, or that one.
static bool take_trash(struct store *s, bool all, struct arena *a, int64_t **id, int *count,
                       struct err *e)
{
    struct session_record *list;
    int found;
    *count = 0;
    if (!store_list_trash(s, a, &list, &found, e))
        return false;
    *id = arena_zero(a, (size_t)found + 1, sizeof **id);
    for (int i = 0; i < found && (all || !*count); i++)
        if (!list[i].network) // a task goes with its network
            (*id)[(*count)++] = list[i].id;
    return *count || err_set(e, "the trash is empty");
}

// Changes each session by `change`. Prints `done`, with the number, for each, or in JSON the list
// `name`.
static int change_sessions(const struct arguments *a, bool all_trash, const char *name,
                           const char *done,
                           bool (*change)(struct store *s, int64_t id, struct err *e))
{
    struct err e;
    struct arena storage;
    int count = 0, changed = 0;
    arena_init(&storage);
    int64_t *id = arena_zero(&storage, (size_t)a->operand_count + 1, sizeof *id);
    struct store *s = read_ids(a, id, &count, &e) ? common_open(a, STORE_WRITE, &e) : NULL;
    bool ok = s && (a->operand_count || take_trash(s, all_trash, &storage, &id, &count, &e));
    // All are there and ours, or nothing is touched. The locks go with the store.
    for (int i = 0; ok && i < count; i++)
        ok = (change != store_trash_session || store_has_session(s, id[i], &e)) &&
             store_lock_session(s, id[i], &e);
    while (ok && changed < count) {
        ok = change(s, id[changed], &e);
        changed += ok;
    }
    struct str out = {0};
    struct json_writer w;
    bool json = arguments_flag(a, "json") && changed;
    if (json) {
        w = json_begin(&out);
        json_begin_list(&w, name);
    }
    for (int i = 0; i < changed; i++)
        if (json)
            json_add_int(&w, NULL, id[i]);
        else
            printf(done, id[i], id[i], store_option(s));
    if (json)
        json_print(&w);
    store_close(s);
    arena_finish(&storage);
    return common_exit(ok, &e);
}

static int run_rm(const struct command *self, const struct arguments *a)
{
    struct err e;
    (void)self;
    if (arguments_flag(a, "purge"))
        return change_sessions(a, true, "removed", "session %" PRId64 " is removed\n",
                               store_delete_session);
    if (!a->operand_count) {
        err_usage(&e, "rm: missing ID... (usage: tilewalk rm ID..., or rm --purge: the trash)");
        return fail_with(&e, EXIT_USAGE);
    }
    return change_sessions(a, false, "removed",
                           "session %" PRId64 " is in the trash (tilewalk restore %" PRId64
                           "%s brings it back)\n",
                           store_trash_session);
}

static int run_restore(const struct command *self, const struct arguments *a)
{
    (void)self;
    return change_sessions(a, false, "restored", "session %" PRId64 " is back\n",
                           store_restore_session);
}

static const struct option ls_options[] = {
    {"tasks", OPTION_FLAG, NULL,
     "list the tasks of networks too, each of which is a session of its own"},
    {"trash", OPTION_FLAG, NULL, "list the sessions in the trash, the last one removed first"},
    OPTION_JSON,
    OPTION_DB,
    OPTION_END,
};
static const struct option rm_options[] = {
    {"purge", OPTION_FLAG, NULL,
     "delete them for good, also from the trash; without ID: all that is in the trash"},
    OPTION_JSON,
    OPTION_DB,
    OPTION_END,
};
static const struct option restore_options[] = {OPTION_JSON, OPTION_DB, OPTION_END};

const struct command cmd_ls = {
    .name = "ls",
    .help = "list the sessions of the database",
    .options = ls_options,
    .run = run_ls,
};

const struct command cmd_rm = {
    .name = "rm",
    .operands = "[ID]...",
    .help = "move sessions to the trash, or delete them for good",
    .most = INT_MAX,
    .options = rm_options,
    .run = run_rm,
};

const struct command cmd_restore = {
    .name = "restore",
    .operands = "[ID]...",
    .help = "bring sessions back from the trash (default: the one that was removed last)",
    .most = INT_MAX,
    .options = restore_options,
    .run = run_restore,
};
