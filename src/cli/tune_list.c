#include "cli/tune_list.h"

#include "cli/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool tune_list_wanted(const struct arguments *a)
{
    return arguments_text(a, "list") != NULL;
}

static bool is_chosen(const struct arguments *a, const struct list_item *item)
{
    const char *only = arguments_text(a, "only");
    return !only || str_equal(only, item->label);
}

static const char *label_at(const void *context, size_t i)
{
    const struct list *l = context;
    return l->item[i].label;
}

static bool check(const struct arguments *a, const struct list *l, struct err *e)
{
    const char *only = arguments_text(a, "only");
    if (arguments_integer(a, "like", 0))
        return err_usage(e, "--list and --like exclude each other");
    if (arguments_flag(a, "detach"))
        return err_usage(e, "--list runs one session after the other: --detach cannot do that");
    for (int i = 0; i < l->count; i++)
        if (is_chosen(a, &l->item[i]))
            return true;
    const char *near = str_suggest(only, (size_t)l->count, label_at, l);
    return near ? err_usage(e, "--only: %s has no '%s' (did you mean '%s'?)", l->name, only, near)
                : err_usage(e, "--only: %s has no '%s' (tilewalk ops %s lists what it has)",
                            l->name, only, l->name);
}

// False: it has no time, or that of a part of the operation.
static bool print_item(struct store *store, const struct tune_item *t, double *sum)
{
    struct session_record r;
    struct arena arena;
    struct err ignored;
    char time[32], speed[32];
    arena_init(&arena);
    bool known =
        t->session && store_get_session(store, t->session, &arena, &r, &ignored) && r.best_ask;
    printf("  %-20s %5" PRId64 "  %4" PRId64 "  %12s  %s%s\n", t->item->label, t->session,
           t->item->uses, known ? text_time(r.best_seconds, time) : "-",
           known ? speed_text(&r, r.best_seconds, speed) : "nothing valid",
           known && r.reduced ? "  (a reduced batch)" : "");
    bool counts = known && !r.reduced;
    if (counts)
        *sum += (double)t->item->uses * r.best_seconds;
    arena_finish(&arena);
    return counts;
}

static void print_summary(const struct arguments *a, const struct tune_item *t, int count)
{
    struct err e;
    char time[32];
    double sum = 0;
    bool whole = true;
    struct store *store = common_open(a, STORE_READ, &e);
    if (!store)
        return;
    printf("\n%s\n  %-20s %5s  %4s  %12s\n", t->list, "operation", "id", "uses", "best");
    for (int i = 0; i < count; i++)
        whole &= print_item(store, &t[i], &sum);
    if (whole)
        printf("  %-20s %5s  %4s  %12s  with each as often as it is used\n", "all", "", "",
               text_time(sum, time));
    store_close(store);
}

static bool ends_all(int code)
{
    return code >= EXIT_HUP || ferror(stdout);
}

static int tune_all(const struct arguments *a, const struct list *l,
                    int (*tune)(const struct arguments *a, struct tune_item *item))
{
    struct tune_item *done = mem_zero((size_t)l->count, sizeof *done);
    struct str earlier = {0};
    int count = 0, first = EXIT_OK;
    bool quiet = arguments_flag(a, "json");
    for (int i = 0; i < l->count && !ends_all(first); i++) {
        if (!is_chosen(a, &l->item[i]))
            continue;
        struct tune_item *t = &done[count++];
        *t =
            (struct tune_item){.list = l->name, .item = &l->item[i], .earlier = str_text(&earlier)};
        if (!quiet)
            printf("%s%s %s\n", count > 1 ? "\n" : "", l->name, t->item->label);
        int code = tune(a, t);
        if (t->session)
            str_printf(&earlier, "%s%" PRId64, earlier.length ? "," : "", t->session);
        first = first == EXIT_OK || ends_all(code) ? code : first;
    }
    if (!quiet)
        print_summary(a, done, count);
    free(done);
    str_finish(&earlier);
    return first;
}

int tune_list(const struct arguments *a,
              int (*tune)(const struct arguments *a, struct tune_item *item))
{
    struct err e;
    struct list list;
    char *path = list_find(arguments_text(a, "list"), &e);
    if (!path)
        return fail_with(&e, EXIT_FAILED);
    int code = list_read(path, &list, &e) && check(a, &list, &e) ? tune_all(a, &list, tune)
                                                                 : fail_with(&e, EXIT_FAILED);
    list_finish(&list);
    free(path);
    return code;
}
