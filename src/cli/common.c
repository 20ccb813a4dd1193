#include "cli/common.h"

#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    bool is_absent = access(path, F_OK) != 0 && errno == ENOENT; // else opening it says why
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
    struct err ignored; // then it stays as it is
    if (str_equal(r->state, "running") && r->trials > 0)
        store_each_numbered(s, r->id, r->trials, keep_later, r, &ignored);
}

void common_show_record(struct arena *a, struct session_record *r)
{
    const char **const texts[] = {&r->name,     &r->title,   &r->size, &r->device,  &r->driver,
                                  &r->strategy, &r->reduced, &r->note, &r->message, &r->unit};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i])
            *texts[i] = shown_text(a, *texts[i]);
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

void json_real(struct str *out, double value)
{
    if (isfinite(value))
        str_add_real(out, value);
    else
        str_add(out, "null");
}

static void key(struct str *out, const char *name)
{
    str_printf(out, ",\"%s\":", name);
}

static void add_text(struct str *out, const char *name, const char *text)
{
    key(out, name);
    if (text && *text)
        str_add_json(out, text);
    else
        str_add(out, "null");
}

static void add_real(struct str *out, const char *name, double value)
{
    key(out, name);
    json_real(out, value);
}

static void add_raw(struct str *out, const char *name, const char *json)
{
    key(out, name);
    str_add(out, json && *json ? json : "null");
}

// Asks, "12,5": an array, or null.
static void add_asks(struct str *out, const char *name, const char *asks)
{
    key(out, name);
    str_printf(out, asks ? "[%s]" : "null", asks);
}

static void add_speed(struct str *out, const struct session_record *r, double seconds)
{
    add_real(out, "tflops", seconds > 0 ? r->flop / seconds / 1e12 : NAN);
    add_real(out, "rate", speed_rate(r, seconds));
    add_real(out, "ms", seconds > 0 ? seconds * 1e3 : NAN);
}

void json_trial(struct str *out, const struct session_record *r, const struct trial_record *t,
                const struct retime_record *final_race)
{
    bool ok = str_equal(t->outcome, "ok");
    str_printf(out,
               "\"session\":%" PRId64 ",\"id\":%" PRId64 ",\"ask\":%" PRId64 ",\"generation\":%d",
               r->id, t->number, t->ask, t->generation);
    add_text(out, "outcome", t->outcome);
    add_speed(out, r, ok ? t->seconds : 0);
    add_raw(out, "samples", t->samples);
    key(out, "early_stopped");
    str_add(out, t->early_stopped ? "true" : "false");
    add_raw(out, "config", t->config);
    add_asks(out, "origin", t->origin);
    if (t->statistics)
        add_raw(out, "statistics", t->statistics);
    if (!ok) {
        add_text(out, "reason", t->reason);
        add_text(out, "phase", t->phase);
    }
    add_real(out, "elapsed_s", t->elapsed_s);
    if (final_race && final_race->seconds > 0) {
        str_add(out, ",\"final\":{\"verified\":");
        str_add(out, final_race->verified ? "true" : "false");
        add_speed(out, r, final_race->seconds);
        add_raw(out, "samples", final_race->samples);
        str_add(out, "}");
    }
}

static int64_t count_words(const char *text)
{
    int64_t n = text && *text;
    for (const char *c = text ? text : ""; *c; c++)
        n += *c == ' ';
    return n;
}

// "3:200 5:180": sessions, and how many results of each.
static void add_history(struct str *out, const char *text)
{
    key(out, "transfer");
    str_add(out, "[");
    for (const char *at = text; at && *at; at += strcspn(at, " "), at += *at == ' ') {
        int session = (int)strcspn(at, ":"), told = (int)strcspn(at + session + 1, " ");
        str_printf(out, "%s{\"session\":%.*s,\"told\":%.*s}", at == text ? "" : ",", session, at,
                   told, at + session + 1);
    }
    str_add(out, "]");
}

// The first word of the title.
static void add_operator(struct str *out, const char *title)
{
    char *word = mem_printf("%.*s", (int)strcspn(title, " "), title);
    add_text(out, "operator", word);
    free(word);
}

void json_session(struct str *out, const struct session_record *r, const char *state)
{
    str_printf(out, "\"id\":%" PRId64, r->id);
    add_text(out, "state", state);
    if (r->damage)
        add_text(out, "reason", r->damage);
    add_text(out, "space", r->name);
    add_text(out, "title", r->title);
    add_operator(out, r->title);
    add_raw(out, "problem", r->operation);
    add_raw(out, "declared", r->declared);
    add_text(out, "reduced", r->reduced);
    add_raw(out, "settings", r->settings);
    add_text(out, "device", r->device);
    add_text(out, "driver", r->driver);
    add_text(out, "source", r->source);
    add_text(out, "strategy", r->strategy);
    str_printf(out, ",\"seed\":%" PRIu64, r->seed);
    add_real(out, "flop", r->flop);
    add_text(out, "size", r->size);
    str_printf(out, ",\"budget_trials\":%" PRId64, r->budget_trials);
    add_real(out, "budget_seconds", r->budget_seconds);
    str_printf(out,
               ",\"workers\":%d,\"trials\":%" PRId64 ",\"rejected\":%" PRId64 ",\"ok\":%" PRId64,
               r->workers, r->trials, r->rejected, r->ok);
    add_real(out, "best_tflops", r->best_seconds > 0 ? r->flop / r->best_seconds / 1e12 : NAN);
    str_printf(out, ",\"best_raced\":%s,\"speed_unit\":\"%s\"", r->best_raced ? "true" : "false",
               speed_unit_word(r));
    add_real(out, "best_rate", speed_rate(r, r->best_seconds));
    add_text(out, "rate_unit", speed_rate_word(r));
    add_real(out, "ran_seconds", r->ran_seconds);
    add_real(out, "created", r->created);
    add_text(out, "message", r->message);
    add_text(out, "note", r->note);
    add_asks(out, "population", r->population);
    str_printf(out, ",\"warm_start\":%" PRId64, count_words(r->warm));
    add_history(out, r->history);
}

void json_device(struct str *out, const struct gpu_info *i)
{
    char id[33];
    gpu_identity(i, id);
    str_printf(out, "{\"index\":%d", i->index);
    add_text(out, "name", i->name);
    add_text(out, "type", i->type);
    add_text(out, "driver", i->driver);
    add_text(out, "identity", id);
    str_printf(out,
               ",\"vendor_id\":%u,\"device_id\":%u,\"threads\":%d,\"timestamps\":%s,\"runs\":%s",
               i->vendor_id, i->device_id, i->threads, i->timestamps ? "true" : "false",
               i->runs ? "true" : "false");
    key(out, "limits");
    limits_add_json(out, &i->limits);
    str_add_char(out, '}');
}

enum { SIMULATED_TRIALS = 500, SIMULATED_REPEATS = 50, SIMULATED_SEED = 1 };

struct simulate_words common_simulation(const struct arguments *a)
{
    const char *strategies = arguments_text(a, "strategy");
    return (struct simulate_words){
        .path = a->operand,
        .paths = a->operand_count,
        .strategies = strategies ? strategies : ENGINE_DEFAULT_STRATEGY,
        .trials = arguments_integer(a, "trials", SIMULATED_TRIALS),
        .repeats = (int)arguments_integer(a, "repeats", SIMULATED_REPEATS),
        .seed = (uint64_t)arguments_integer(a, "seed", SIMULATED_SEED),
    };
}
