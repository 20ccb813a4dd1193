#include "cli/common.h"

#include "base/file.h"
#include "engine/devices.h"
#include "script/network.h"
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int common_exit(bool ok, const struct err *e)
{
    return ok ? EXIT_OK : fail_with(e, EXIT_FAILED);
}

void common_print(struct str *text)
{
    fputs(str_text(text), stdout);
    str_finish(text);
}

const char *common_keep(struct arena *a, struct str *text)
{
    const char *kept = arena_strdup(a, str_text(text));
    str_finish(text);
    return kept;
}

void common_on_signals(void (*handler)(int number), int flags)
{
    static const int caught[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &action, NULL);
}

struct setting *common_settings(const struct arguments *a, struct arena *storage, int *count)
{
    const char **text = arena_zero(storage, (size_t)a->given_count + 1, sizeof *text);
    struct setting *set = arena_zero(storage, (size_t)a->given_count + 1, sizeof *set);
    *count = arguments_list(a, "set", text, a->given_count);
    for (int i = 0; i < *count; i++) {
        const char *equals = strchr(text[i], '=');
        set[i].name = arena_printf(storage, "%.*s", (int)(equals - text[i]), text[i]);
        set[i].value = equals + 1;
    }
    return set;
}

const char *common_space(const struct arguments *a, bool network, struct arena *storage,
                         struct err *e)
{
    const char *name = a->operand[0];
    struct err none;
    bool ships = arguments_flag(a, "shipped");
    char *shipped = (network ? network_find_shipped : script_find_shipped)(name, &none);
    char *own = shipped ? script_find_own(name) : NULL;
    char *path = ships ? shipped : (network ? network_find : script_find)(name, e);
    const char *kept = path ? arena_strdup(storage, path) : NULL;
    if (!path && ships)
        err_usage(e, "--shipped: no preset or network '%s' ships with tilewalk", name);
    else if (own && str_equal(path, ships ? shipped : own))
        fprintf(stderr,
                ships ? "%s: the one that ships, and not your copy %s\n"
                      : "%s: your copy %s (--shipped takes the one that ships)\n",
                name, own);
    if (path != shipped)
        free(path);
    free(own);
    free(shipped);
    return kept;
}

bool common_choose_device(const struct arguments *a, struct device_choice *out, struct err *e)
{
    const char *wanted = arguments_text(a, "device");
    struct err ignored;
    int index;
    *out = (struct device_choice){.count = 0};
    if (str_equal(wanted, "none"))
        return true;
    if (!devices_find(&out->list, &out->count, wanted ? e : &ignored) ||
        !gpu_choose(out->list, out->count, wanted, &index, wanted ? e : &ignored))
        return !wanted;
    out->device = &out->list[index];
    return true;
}

// --- the database and its sessions ---

char *common_database(const struct arguments *a)
{
    const char *given = arguments_text(a, "db");
    return given ? mem_strdup(given) : store_default_path();
}

struct store *common_open(const struct arguments *a, enum store_mode mode, struct err *e)
{
    char *path = common_database(a);
    struct store *s = store_open(path, mode, e);
    free(path);
    return s;
}

bool common_nothing_yet(const struct arguments *a)
{
    const char *variable = getenv("TILEWALK_DB");
    if (arguments_text(a, "db") || (variable && *variable))
        return false;
    char *path = store_default_path();
    bool is_absent =
        access(path, F_OK) != 0 && errno == ENOENT; // else opening it reports the error
    free(path);
    return is_absent;
}

struct store *common_open_session(const struct arguments *a, int64_t id, struct err *e)
{
    if (!common_nothing_yet(a))
        return common_open(a, STORE_READ, e);
    err_set(e, "there is no session %" PRId64 " (nor any other yet: tilewalk tune gemm makes one)",
            id);
    return NULL;
}

static bool keep_later(void *context, const struct trial_record *t)
{
    struct session_record *r = context;
    r->ran_seconds = fmax(r->ran_seconds, t->elapsed_s);
    return true;
}

void common_take_ran(struct store *s, struct session_record *r)
{
    struct err ignored; // the time stays as it is then
    if (r->state == STATE_RUNNING && r->trials > 0)
        store_each_numbered(s, r->id, r->trials, keep_later, r, &ignored);
}

bool common_continue(const struct arguments *a, bool *waited, struct err *e)
{
    static const char *const of_a_run[] = {"trials", "seconds", "until",    "workers",
                                           "on",     "export",  "validate", "attached"};
    struct arena arena;
    struct session_record r;
    struct err ignored; // whoever runs it finds what cannot be read, and says so
    int64_t id;
    pid_t runner = 0;
    *waited = false;
    if (!common_session_id(a->operand[0], &id, e))
        return false;
    arena_init(&arena);
    struct store *s = common_nothing_yet(a) ? NULL : common_open(a, STORE_READ, &ignored);
    if (s && common_take_network(s, &id, &ignored) &&
        store_get_session(s, id, &arena, &r, &ignored)) {
        bool paused = store_state(s, &r, &runner) == STATE_PAUSED;
        *waited = runner && (paused || store_has_command(s, id, "pause"));
    }
    bool ok = true;
    for (size_t i = 0; *waited && ok && i < sizeof of_a_run / sizeof *of_a_run; i++)
        if (arguments_flag(a, of_a_run[i]))
            ok = err_set(e,
                         "session %" PRId64 " is paused, and its process %d waits: resume it "
                         "without --%s (tilewalk set %" PRId64 " trials=N%s changes its budget)",
                         id, (int)runner, of_a_run[i], id, store_option(s));
    arena_finish(&arena);
    store_close(s);
    if (!*waited || !ok)
        return ok;
    s = common_open(a, STORE_WRITE, e);
    ok = s && store_push_command(s, id, "resume", "", e);
    if (ok && !arguments_flag(a, "json"))
        printf("resuming session %" PRId64 "\n", id);
    store_close(s);
    return ok;
}

void common_show_record(struct arena *a, struct session_record *r)
{
    const char **const texts[] = {&r->name,    &r->title,    &r->size,    &r->device,
                                  &r->driver,  &r->strategy, &r->reduced, &r->note,
                                  &r->message, &r->unit,     &r->build};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i])
            *texts[i] = shown_text(a, *texts[i]);
}

bool common_alike(const struct session_record *a, const struct session_record *b, unsigned facts,
                  const char *purpose, struct err *e)
{
    const char *const all[][3] = {
        {"problems", a->title, b->title},
        {"devices", a->device, b->device},
        {"drivers", a->device_id, b->device_id},
        {"sources", a->source, b->source},
        {"spaces", a->name, b->name},
        {"settings", a->settings, b->settings},
        {"objectives", a->objective ? a->objective : "time", b->objective ? b->objective : "time"},
        {"timings", a->cold ? "--cold" : "without --cold", b->cold ? "--cold" : "without --cold"},
        {"versions of the space's files", a->text_hash, b->text_hash},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (facts & 1u << i && !str_equal(all[i][1], all[i][2]))
            return err_set(
                e, "sessions %" PRId64 " and %" PRId64 " %s: they have different %s (%s and %s%s)",
                a->id, b->id, purpose, all[i][0], all[i][1] ? all[i][1] : "none",
                all[i][2] ? all[i][2] : "none",
                facts == FACTS_ALL && 1u << i == FACT_DEVICE
                    ? "; compare --portability runs the best of each on both"
                    : "");
    return true;
}

bool common_session_id(const char *text, int64_t *id, struct err *e)
{
    return str_to_int(text, 1, INT64_MAX, id) ||
           err_usage(e, "'%s' is not a session number (tilewalk ls lists them)", text);
}

bool common_ascii(void)
{
    return !str_equal(nl_langinfo(CODESET), "UTF-8");
}

bool common_take_network(struct store *s, int64_t *id, struct err *e)
{
    struct arena arena;
    struct session_record r;
    arena_init(&arena);
    bool ok = store_get_session(s, *id, &arena, &r, e);
    if (ok && r.network)
        *id = r.network;
    arena_finish(&arena);
    return ok;
}

// --- JSON ---

// Adds asks, "12,5", as a list, or null.
static void add_asks(struct json_writer *w, const char *name, const char *asks)
{
    json_add_name(w, name);
    str_printf(w->out, asks ? "[%s]" : "null", asks);
}

static void add_speed(struct json_writer *w, const struct session_record *r, double seconds)
{
    json_add_real(w, "tflops", speed_tflops(r, seconds));
    json_add_real(w, "rate", speed_rate(r, seconds));
    json_add_real(w, "ms", speed_ms(r, seconds));
}

void json_trial(struct json_writer *w, const struct session_record *r, const struct trial_record *t,
                const struct retime_record *final_race)
{
    bool ok = t->outcome == OUTCOME_OK;
    json_add_int(w, "session", r->id);
    if (r->task)
        json_add_text(w, "task", r->task);
    json_add_int(w, "id", t->number);
    json_add_int(w, "ask", t->ask);
    json_add_int(w, "generation", t->generation);
    json_add_text(w, "outcome", outcome_name(t->outcome));
    add_speed(w, r, ok ? t->seconds : 0);
    json_add_raw(w, "samples", t->samples);
    json_add_flag(w, "early_stopped", t->early_stopped);
    json_add_text(w, "machine", t->machine);
    json_add_text(w, "build", t->build ? t->build : r->build);
    json_add_raw(w, "config", t->config);
    add_asks(w, "origin", t->origin);
    if (t->statistics)
        json_add_raw(w, "statistics", t->statistics);
    if (t->clocks)
        json_add_raw(w, "clocks", t->clocks);
    if (t->drift > 0)
        json_add_real(w, "drift", t->drift);
    if (!ok || (t->reason && *t->reason))
        json_add_text_if_any(w, "reason", t->reason);
    if (!ok)
        json_add_text_if_any(w, "phase", t->phase);
    json_add_real(w, "elapsed_s", t->elapsed_s);
    if (final_race && final_race->seconds > 0) {
        json_begin_object(w, "final");
        json_add_flag(w, "verified", final_race->verified);
        add_speed(w, r, final_race->seconds);
        json_add_raw(w, "samples", final_race->samples);
        json_end(w);
    }
}

void json_best(struct json_writer *w, const struct session_record *r, const struct trial_record *t,
               const struct retime_record *final_race)
{
    if (!t) {
        json_add_null(w, "best");
        return;
    }
    json_begin_object(w, "best");
    json_trial(w, r, t, final_race);
    json_end(w);
}

void json_session(struct json_writer *w, const struct session_record *r, enum session_state state)
{
    json_add_int(w, "id", r->id);
    json_add_text(w, "state", state_name(state));
    if (r->damage)
        json_add_text_if_any(w, "reason", r->damage);
    json_add_text_if_any(w, "space", r->name);
    json_add_text_if_any(w, "title", r->title);
    // The first word of the title.
    char *word = mem_printf("%.*s", (int)strcspn(r->title, " "), r->title);
    json_add_text_if_any(w, "operator", word);
    free(word);
    json_add_raw(w, "problem", r->operation);
    json_add_raw(w, "declared", r->declared);
    json_add_text_if_any(w, "reduced", r->reduced);
    json_add_raw(w, "settings", r->settings);
    json_add_text_if_any(w, "device", r->device);
    json_add_text_if_any(w, "driver", r->driver);
    json_add_text(w, "compiler", r->compiler);
    json_add_text(w, "build", r->build);
    json_add_text_if_any(w, "source", r->source);
    json_add_text_if_any(w, "strategy", r->strategy);
    if (r->scheduler)
        json_add_text(w, "scheduler", r->scheduler);
    if (r->network) {
        json_add_int(w, "network", r->network);
        json_add_text_if_any(w, "task", r->task);
    }
    json_add_count(w, "seed", r->seed);
    bool is_named = speed_objective(r).kind == OBJECTIVE_NAMED; // nothing is known of its work
    json_add_real(w, "flop", is_named ? NAN : r->flop);
    json_add_text(w, "objective", r->objective ? r->objective : "time");
    json_add_text_if_any(w, "size", r->size);
    json_add_int(w, "budget_trials", r->budget_trials);
    json_add_real(w, "budget_seconds", r->budget_seconds);
    json_add_int(w, "workers", r->workers);
    json_add_int(w, "cards", r->cards > 1 ? r->cards : 1);
    json_add_int(w, "trials", r->trials);
    json_add_int(w, "rejected", r->rejected);
    json_add_int(w, "ok", r->ok);
    json_add_real(w, "best_tflops", speed_tflops(r, r->best_seconds));
    json_add_flag(w, "best_raced", r->best_raced);
    json_add_text(w, "speed_unit", speed_unit_word(r));
    json_add_real(w, "best_rate", speed_rate(r, r->best_seconds));
    json_add_text_if_any(w, "rate_unit", speed_rate_word(r));
    json_add_real(w, "roof_ms", r->roof_s > 0 ? r->roof_s * 1e3 : NAN);
    json_add_text(w, "roof_by", r->roof_by);
    json_add_real(w, "best_of_roof",
                  r->roof_s > 0 && r->best_seconds > 0 ? speed_of_peak(r, r->best_seconds) : NAN);
    json_add_real(w, "dispatch_ms", r->dispatch_s > 0 ? r->dispatch_s * 1e3 : NAN);
    json_add_int(w, "soaked", r->soaked_ask == r->best_ask ? r->soaked : 0);
    json_add_real(w, "noise", r->noise > 0 ? r->noise : NAN);
    json_add_real(w, "drift", r->drift != 0 ? r->drift : NAN);
    json_add_flag(w, "cold", r->cold);
    json_add_real(w, "until", r->until > 0 ? r->until : NAN);
    if (r->patience)
        json_add_int(w, "patience", r->patience);
    else
        json_add_null(w, "patience");
    json_add_real(w, "ran_seconds", r->ran_seconds);
    json_add_real(w, "created", r->created);
    json_add_text_if_any(w, "message", r->message);
    json_add_text_if_any(w, "note", r->note);
    add_asks(w, "population", r->population);
    int64_t warm = r->warm && *r->warm; // words
    for (const char *c = r->warm ? r->warm : ""; *c; c++)
        warm += *c == ' ';
    json_add_int(w, "warm_start", warm);
    json_begin_list(w, "transfer");
    struct history_part part;
    for (const char *text = r->history; history_next(&text, &part);) {
        json_begin_object(w, NULL);
        json_add_int(w, "session", part.session);
        json_add_int(w, "told", part.told);
        json_end(w);
    }
    json_end(w);
}

void json_device_facts(struct json_writer *w, const struct gpu_info *i)
{
    json_add_text_if_any(w, "name", i->name);
    json_add_text_if_any(w, "type", i->type);
    json_add_text_if_any(w, "driver", i->driver);
    json_add_count(w, "vendor_id", i->vendor_id);
    json_add_count(w, "device_id", i->device_id);
    json_add_int(w, "threads", i->threads);
    json_add_count(w, "memory_bytes", i->memory_bytes);
    json_add_flag(w, "timestamps", i->timestamps);
    json_add_flag(w, "runs", i->runs);
    json_add_name(w, "limits");
    limits_add_json(w->out, &i->limits);
}

// --- networks that are tuned ---

static double ms(double seconds)
{
    return seconds > 0 ? seconds * 1e3 : NAN; // written as null
}

void network_add_whole(struct json_writer *w, const struct whole_record *r)
{
    json_add_int(w, "trials", r->all_trials);
    json_add_real(w, "ms", ms(whole_seconds(r)));
    json_add_flag(w, "verified", r->verified);
    json_add_real(w, "newest_ms", ms(r->seconds));
    json_add_real(w, "sum_ms", ms(r->sum_s));
    json_add_real(w, "elapsed_s", r->elapsed_s);
    json_add_text(w, "reason", r->reason);
}

void network_add_json(struct json_writer *w, const struct network_summary *n)
{
    json_begin_list(w, "tasks");
    for (int i = 0; i < n->task_count; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", n->task[i].task->name);
        json_add_text(w, "operator", n->task[i].task->kind);
        json_add_text(w, "title", n->task[i].task->title);
        json_add_int(w, "uses", n->task[i].task->uses);
        json_add_real(w, "flop", n->task[i].task->flop);
        json_add_int(w, "session", n->task[i].task->session);
        json_add_flag(w, "known", n->task[i].task->known_s > 0);
        json_add_int(w, "trials", n->task[i].session.trials);
        json_add_int(w, "granted", n->task[i].allotted);
        json_begin_object(w, "best");
        json_add_real(w, "ms", ms(n->task[i].best_s));
        json_add_real(w, "tflops",
                      n->task[i].best_s > 0 ? n->task[i].task->flop / n->task[i].best_s / 1e12
                                            : NAN);
        json_add_int(w, "ask", n->task[i].session.best_ask);
        json_add_flag(w, "raced", n->task[i].session.best_raced);
        json_end(w);
        json_add_real(w, "share", n->task[i].share);
        json_add_real(w, "weight", n->task[i].weight);
        json_end(w);
    }
    json_end(w);
    json_begin_list(w, "latency");
    for (int i = 0; i < n->whole_count; i++) {
        json_begin_object(w, NULL);
        network_add_whole(w, &n->whole[i]);
        json_end(w);
    }
    json_end(w);
    json_begin_list(w, "sum_of_parts");
    for (int i = 0; i < n->round_count; i++) {
        if (n->round[i].latency <= 0)
            continue;
        json_begin_object(w, NULL);
        json_add_int(w, "trials", n->round[i].all_trials);
        json_add_real(w, "ms", ms(n->round[i].latency));
        json_add_real(w, "elapsed_s", n->round[i].elapsed_s);
        json_end(w);
    }
    json_end(w);
    json_add_real(w, "sum_ms", ms(n->latency_s));
}

static const char *time_or_dash(double seconds, char out[32])
{
    return seconds > 0 ? text_time(seconds, out) : "-";
}

void network_print_table(const struct network_summary *n)
{
    char start[32], best[32], weight[32];
    int64_t trials = 0;
    printf("  %-20s %4s  %12s  %12s  %6s  %6s  %7s\n", "task", "uses", "first", "best", "share",
           "trials", "session");
    for (int i = 0; i < n->task_count; i++) {
        const struct task_summary *t = &n->task[i];
        trials += t->session.trials;
        if (t->weight != 1)
            snprintf(weight, sizeof weight, "  weight %g", t->weight);
        else
            weight[0] = '\0';
        printf("  %-20s %4" PRId64 "  %12s  %12s  %4.0f %%  %6" PRId64 "  %7" PRId64 "%s%s\n",
               t->task->name, t->task->uses, time_or_dash(t->start_s, start),
               time_or_dash(t->best_s, best), 100 * t->share, t->session.trials, t->task->session,
               t->task->known_s > 0 ? "  known" : "", weight);
    }
    printf("  %-20s %4s  %12s  %12s  %6s  %6" PRId64 "  sum of uses x time\n", "all", "",
           time_or_dash(n->start_s, start), time_or_dash(n->latency_s, best), "", trials);
    if (!n->whole_count)
        return;
    const struct whole_record *last = &n->whole[n->whole_count - 1];
    double first_s = 0, last_s = 0;
    int runs = 0;
    for (int i = 0; i < n->whole_count; i++) {
        double seconds = whole_seconds(&n->whole[i]);
        first_s = first_s > 0 ? first_s : seconds;
        last_s = seconds > 0 ? seconds : last_s;
        runs += seconds > 0;
    }
    printf("  %-20s %4s  %12s  %12s  %6s  %6d  runs as a whole%s%s\n", "run", "",
           time_or_dash(first_s, start), time_or_dash(last_s, best), "", runs,
           last->reason[0]  ? "; the last one: "
           : last->verified ? ", every layer right"
                            : "",
           last->reason);
}

void network_print_round(const struct event *event)
{
    const struct round_record *r = event->round;
    char at[32], time[32], whole[32];
    printf("%5" PRId64 "  %-6s  %-20s %3" PRId64 " trials  %12s  all %12s\n", r->all_trials,
           text_duration(r->elapsed_s, at), event->task->name, r->trials,
           time_or_dash(r->seconds, time), time_or_dash(r->latency, whole));
}

void network_add_round(struct json_writer *w, const struct event *event)
{
    const struct round_record *r = event->round;
    json_add_int(w, "round", r->number);
    json_add_text(w, "task", event->task->name);
    json_add_int(w, "task_session", event->task->session);
    json_add_int(w, "granted", r->trials);
    json_add_int(w, "trials", r->all_trials);
    json_add_real(w, "ms", ms(r->seconds));
    json_add_real(w, "sum_ms", ms(r->latency));
    json_add_real(w, "elapsed_s", r->elapsed_s);
}

bool common_check_verdict(const struct arguments *a, struct store *store, int64_t session,
                          struct err *e)
{
    struct arena arena;
    struct session_record r;
    struct baselines baselines;
    struct str ratio = {0};
    arena_init(&arena);
    bool ok = store_get_session(store, session, &arena, &r, e) &&
              store_get_baselines(store, session, &arena, &baselines, e);
    struct paired p = ok ? speed_verdict(&r, &baselines) : paired_unknown();
    enum paired_verdict verdict = paired_verdict(&p);
    if (ok && !arguments_flag(a, "anyway") &&
        (verdict == PAIRED_LEVEL || verdict == PAIRED_SLOWER)) {
        speed_add_ratio(&r, &p, &ratio);
        ok = err_set(e,
                     "session %" PRId64 " is not shown to be faster than '%s', which is in use: %s "
                     "(%s--anyway writes it all the same)",
                     session, baselines_fastest(&baselines)->name, str_text(&ratio),
                     p.low > 0 ? "" : "tilewalk resume times them in pairs; ");
    }
    str_finish(&ratio);
    arena_finish(&arena);
    return ok;
}
