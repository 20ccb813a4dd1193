#include "common.h"

#include <inttypes.h>
#include <stdio.h>

// What one pass over a session's trials gathers.
struct view {
    struct store *store;
    const struct session_record *session;
    const struct arguments *a;
    struct str trials; // JSON array elements, or nothing
    int64_t printed;
    int64_t outcomes[OUTCOME_COUNT];
    struct str best;        // JSON members of the best trial
    struct str best_config; // of it, for people
    int64_t best_number;
    bool has_final;
    struct retime_record final_race;
    struct arena arena;
};

static bool wanted(const struct view *v, const struct trial_record *t)
{
    return t->outcome && arguments_flag(v->a, "trials") &&
           (t->number > 0 || arguments_flag(v->a, "show-rejected"));
}

static void print_trial(const struct view *v, const struct trial_record *t)
{
    char speed[32] = "-", time[32] = "-";
    struct str config = {0};
    if (t->seconds > 0) {
        text_speed(v->session->flop, t->seconds, speed);
        text_time(t->seconds, time);
    }
    printf("%6" PRId64 "  %4d  %-8s  %12s  %9s  %s%s%s\n", t->number, t->generation, t->outcome,
           speed, time, text_config(t->config, &config), t->reason && *t->reason ? "  " : "",
           t->reason ? t->reason : "");
    str_finish(&config);
}

static bool take_trial(void *context, const struct trial_record *t)
{
    struct view *v = context;
    enum outcome o;
    if (!t->outcome)
        return true;
    if (outcome_parse(t->outcome, &o))
        v->outcomes[o]++;
    if (t->ask == v->session->best_ask) {
        json_trial(&v->best, v->session->id, v->session->flop, t,
                   v->has_final ? &v->final_race : NULL);
        text_config(t->config, &v->best_config);
        v->best_number = t->number;
    }
    if (!wanted(v, t))
        return true;
    if (!arguments_flag(v->a, "json")) {
        print_trial(v, t);
        return true;
    }
    str_add(&v->trials, v->printed++ ? ",{" : "{");
    json_trial(&v->trials, v->session->id, v->session->flop, t, NULL);
    str_add(&v->trials, "}");
    return true;
}

static void print_json(struct view *v, const char *state)
{
    struct str out = {0};
    str_add(&out, "{\"session\":{");
    json_session(&out, v->session, state);
    str_add(&out, ",\"best\":");
    str_printf(&out, v->best.length ? "{%s}" : "null", str_text(&v->best));
    str_add(&out, "}");
    if (arguments_flag(v->a, "trials"))
        str_printf(&out, ",\"trials\":[%s]", str_text(&v->trials));
    str_add(&out, "}\n");
    fputs(str_text(&out), stdout);
    str_finish(&out);
}

static void print_text(const struct view *v, const char *state, pid_t runner)
{
    char text[32];
    const struct session_record *r = v->session;
    printf("session  %" PRId64 "  %s", r->id, state);
    if (runner)
        printf("  (process %d)", (int)runner);
    printf("%s%s\n", r->message && *r->message ? "  " : "", r->message ? r->message : "");
    printf("problem  %s  (%s, %s points)\n", r->title, r->name, r->size);
    printf("device   %s  (%s)\n", r->device, r->driver);
    printf("search   %s  seed %" PRIu64 "\n", r->strategy, r->seed);
    printf("trials   %" PRId64 " of %" PRId64 " in %s:", r->trials, r->budget_trials,
           text_duration(r->ran_seconds, text));
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (v->outcomes[i])
            printf("  %s %" PRId64, outcome_name((enum outcome)i), v->outcomes[i]);
    if (!r->best_ask) {
        printf("\nbest     none\n");
        return;
    }
    printf("\nbest     %s", text_speed(r->flop, r->best_seconds, text));
    printf("  %s  trial %" PRId64 "\n", text_time(r->best_seconds, text), v->best_number);
    printf("         %s\n", str_text(&v->best_config));
}

static bool print_message(void *context, const struct message_record *m)
{
    (void)context;
    if (!str_equal(m->level, "debug"))
        printf("%-8s %s\n", m->level, m->text);
    return true;
}

static bool show(struct view *v, struct err *e)
{
    pid_t runner;
    int64_t id = v->session->id;
    const char *state = session_state(v->store, v->session, &runner);
    if (!store_get_race(v->store, id, v->session->best_ask, &v->arena, &v->final_race,
                        &v->has_final, e) ||
        !store_each_trial(v->store, id, 1, take_trial, v, e))
        return false;
    if (arguments_flag(v->a, "json")) {
        print_json(v, state);
        return true;
    }
    print_text(v, state, runner);
    return store_each_message(v->store, id, 0, print_message, NULL, e);
}

static int run_show(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct session_record record;
    int64_t id;
    (void)self;
    if (!common_session_id(a->operand[0], &id, &e))
        return fail_with(&e, EXIT_USAGE);
    struct view v = {.a = a, .session = &record, .store = common_open_session(a, id, &e)};
    if (!v.store)
        return fail_with(&e, EXIT_FAILED);
    arena_init(&v.arena);
    bool ok = store_get_session(v.store, id, &v.arena, &record, &e) && show(&v, &e);
    str_finish(&v.trials);
    str_finish(&v.best);
    str_finish(&v.best_config);
    arena_finish(&v.arena);
    store_close(v.store);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    {"trials", OPTION_FLAG, NULL, "list the trials in the order they were asked"},
    {"show-rejected", OPTION_FLAG, NULL, "list rejected configurations too"},
    OPTION_JSON,
    OPTION_DB,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_show = {
    .name = "show",
    .operands = "ID",
    .help = "show a session and its trials",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_show,
};
