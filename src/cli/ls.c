#include "base/log.h"
#include "cli/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// What is said at the end of a line: what is wrong with a session, or the user's note.
static const char *remark(const struct session_record *r)
{
    return r->damage ? r->damage : r->note && *r->note ? r->note : NULL;
}

static bool any_remark(const struct session_record *list, int count)
{
    for (int i = 0; i < count; i++)
        if (remark(&list[i]))
            return true;
    return false;
}

// A column: a text that is too long ends in "..", so that no part of a shape looks like a whole
// one.
static void print_column(const char *text, int width)
{
    bool fits = strlen(text) <= (size_t)width;
    printf("  %-*.*s%s", fits ? width : width - 2, fits ? width : width - 2, text,
           fits ? "" : "..");
}

static void print_text(struct store *s, const struct session_record *list, int count)
{
    char speed[32], ran[32], trials[48];
    pid_t runner;
    if (!count) {
        printf("no sessions yet (tilewalk tune gemm makes one)\n");
        return;
    }
    printf("%4s  %-8s  %-13s  %-36s  %-16s  %11s  %12s  %-8s  %8s%s\n", "id", "state", "space",
           "problem", "device", "trials", "best", "as", "ran",
           any_remark(list, count) ? "  note" : "");
    for (int i = 0; i < count; i++) {
        const struct session_record *r = &list[i];
        const char *last = remark(r);
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
               text_duration(r->ran_seconds, ran), last ? "  " : "", last ? last : "");
    }
}

static void print(const struct arguments *a, struct store *s, const struct session_record *list,
                  int count)
{
    if (arguments_flag(a, "json")) {
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
    } else
        print_text(s, list, count);
}

static int run_ls(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct arena arena;
    struct session_record *list;
    int count;
    (void)self;
    if (common_nothing_yet(a)) {
        print(a, NULL, NULL, 0);
        return EXIT_OK;
    }
    struct store *s = common_open(a, STORE_READ, &e);
    if (!s)
        return fail_with(&e, EXIT_FAILED);
    arena_init(&arena);
    bool ok = store_list_sessions(s, &arena, &list, &count, &e);
    if (ok && !arguments_flag(a, "tasks")) {
        // The tasks of networks are told of by these (`show`).
        int kept = 0;
        for (int i = 0; i < count; i++)
            if (!list[i].network)
                list[kept++] = list[i];
        count = kept;
    }
    for (int i = 0; ok && i < count; i++)
        common_take_ran(s, &list[i]);
    for (int i = 0; ok && i < count && !arguments_flag(a, "json"); i++)
        common_show_record(&arena, &list[i]);
    if (ok)
        print(a, s, list, count);
    if (ok && !store_check_sessions(s, &e))
        log_warning("%s", e.text);
    arena_finish(&arena);
    store_close(s);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    {"tasks", OPTION_FLAG, NULL, "list the tasks of networks too, which are sessions of their own"},
    OPTION_JSON,
    OPTION_DB,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_ls = {
    .name = "ls",
    .help = "list the sessions of the database",
    .options = options,
    .run = run_ls,
};
