#include "author.h"

#include "engine/stored.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define PEAK_FLOPS 110e12

static const struct limits navi31 = {
    .invocations = 1024,
    .group_size = {1024, 1024, 1024},
    .group_count = {65535, 65535, 65535},
    .shared_bytes = 65536,
    .buffer_bytes = 4294967295,
    .accumulators = 512,
    .statements = 8192,
    .subgroup_size = 64,
    .f16 = true,
};

struct author {
    struct author_plan plan;
    struct store *store;
    struct arena arena;
    struct script *script;
    const struct space *space;
    struct strategy *strategy;
    struct session_record record;
    struct config hidden, walker;
    struct rng rng;
    int64_t asked, told, numbered;
    double best;
};

static void must(bool ok, const struct err *e)
{
    if (!ok)
        fail_msg("%s", e->text);
}

// --- the session ---

static struct script *read_script(void)
{
    struct err e;
    char *path = script_find("gemm", &e);
    must(path != NULL, &e);
    struct script_options o = {.path = path, .device_type = "discrete", .limits = &navi31};
    struct script *script = script_create(&o, &e);
    must(script != NULL, &e);
    free(path);
    return script;
}

static const char *take_text(struct author *a, struct str *text)
{
    const char *kept = arena_strdup(&a->arena, str_text(text));
    str_finish(text);
    return kept;
}

static void describe(struct author *a)
{
    const struct operation *operation = script_operation(a->script);
    struct session_record *r = &a->record;
    struct str text = {0};
    struct err e;
    char *strategy = strategy_canonical(a->plan.strategy, &e);
    must(strategy != NULL, &e);
    *r = (struct session_record){
        .created = a->plan.until - a->plan.trials * a->plan.seconds_each,
        .state = STATE_RUNNING,
        .name = a->space->name,
        .path = "presets/gemm.lua",
        .settings = "{}",
        .device = "AMD Radeon RX 7900 XTX (RADV NAVI31)",
        .driver = "radv 25.0.7",
        .device_type = "discrete",
        .device_id = "9f2c51d0e4b7a8630f1e2d3c4b5a6978",
        .source = "device",
        .strategy = arena_strdup(&a->arena, strategy),
        .seed = a->plan.seed,
        .flop = operation_flop(operation),
        .size = a->space->size_text,
        .text_hash = "5b1e0c7742a94d0c9c3b7f10aa52e6d1",
        .budget_trials = a->plan.budget,
        .workers = 4,
    };
    free(strategy);
    operation_add_text(operation, &text);
    r->title = take_text(a, &text);
    operation_add_json(operation, &text);
    r->operation = take_text(a, &text);
    limits_add_json(&text, &navi31);
    r->limits = take_text(a, &text);
}

// Paths as a user would have given them: those of this machine are nobody's business.
static void store_it(struct author *a)
{
    struct err e;
    int count;
    const struct script_text *text = script_texts(a->script, &count);
    struct text_record *record = arena_zero(&a->arena, (size_t)count, sizeof *record);
    for (int i = 0; i < count; i++)
        record[i] = (struct text_record){text[i].name, i == 0 ? a->record.path : text[i].name,
                                         text[i].text};
    must(store_create_session(a->store, &a->record, record, count, &a->record.id, &e), &e);
}

static bool is_legal(void *context, const struct config *c)
{
    const struct author *a = context;
    struct verdict v;
    return space_judge(a->space, &navi31, c, &v, NULL) && v.legal;
}

static void draw_legal(struct author *a, struct rng *r, struct config *out)
{
    do {
        space_sample(a->space, r, out);
    } while (!is_legal(a, out));
}

struct author *author_create(struct store *s, const struct author_plan *plan)
{
    struct author *a = mem_zero(1, sizeof *a);
    struct err e;
    struct rng same;
    a->plan = *plan;
    a->store = s;
    arena_init(&a->arena);
    a->script = read_script();
    a->space = script_space(a->script);
    rng_seed(&same, 31);
    rng_seed(&a->rng, plan->seed);
    draw_legal(a, &same, &a->hidden);
    a->walker = a->hidden;
    describe(a);
    store_it(a);
    struct search_problem problem = {.space = a->space, .legal = is_legal, .context = a};
    a->strategy = strategy_create(plan->strategy, &problem, plan->seed, &e);
    must(a->strategy != NULL, &e);
    return a;
}

void author_destroy(struct author *a)
{
    if (!a)
        return;
    strategy_destroy(a->strategy);
    script_destroy(a->script);
    arena_finish(&a->arena);
    free(a);
}

int64_t author_session(const struct author *a)
{
    return a->record.id;
}

const struct space *author_space(const struct author *a)
{
    return a->space;
}

// --- trials ---

// Uniform in [0, 1): a function of the configuration and of what it is for.
static double chance(const struct config *c, uint64_t purpose)
{
    uint64_t both[2] = {config_hash(c), purpose};
    return (double)(hash_bytes(both, sizeof both) >> 11) * 0x1p-53;
}

static double seconds_of(const struct author *a, const struct config *c)
{
    double bowl = 1 / (1 + space_distance(a->space, c, &a->hidden) / 5.0);
    return a->record.flop / (PEAK_FLOPS * bowl * (0.75 + 0.25 * chance(c, 1)));
}

static const struct {
    enum outcome outcome;
    const char *phase, *reason;
} failures[] = {
    {OUTCOME_COMPILE, "compile", "gemm.comp:41: 'acc' : array size must be a positive integer"},
    {OUTCOME_WRONG, "verify", "C[17,2040] is 0, expected 31.52 (1 of 4194304 elements differ)"},
    {OUTCOME_TIMEOUT, "run", "no answer for 10 s"},
    {OUTCOME_DRIVER, "pipeline", "vkCreateComputePipelines: VK_ERROR_OUT_OF_HOST_MEMORY"},
    {OUTCOME_CRASH, "pipeline", "the worker died: signal 11 (Segmentation fault)"},
    {OUTCOME_LOST, "run", "vkQueueSubmit: VK_ERROR_DEVICE_LOST"},
};
#define FAILURES (sizeof failures / sizeof *failures)

// What the trial is, but for who asked. `text` keeps its strings.
struct trial_text {
    struct str key, config, samples, origin;
    char reason[160];
};

static void trial_text_finish(struct trial_text *t)
{
    str_finish(&t->key);
    str_finish(&t->config);
    str_finish(&t->samples);
    str_finish(&t->origin);
}

static void fill_failure(struct trial_record *r, size_t which)
{
    r->outcome = failures[which % FAILURES].outcome;
    r->phase = failures[which % FAILURES].phase;
    r->reason = failures[which % FAILURES].reason;
}

static void add_samples(struct author *a, const struct config *c, struct trial_record *r,
                        struct str *out)
{
    r->early_stopped = a->best > 0 && r->seconds > 2 * a->best;
    int count = r->early_stopped ? 2 : 5;
    str_add(out, "[");
    for (int i = 0; i < count; i++) // the middle one is the median
        str_printf(out, "%s%.9g", i ? "," : "",
                   r->seconds * (1 + (i - (count - 1) / 2) * 0.01 * chance(c, 2)));
    str_add(out, "]");
    r->samples = str_text(out);
}

static void measure(struct author *a, const struct config *c, struct trial_record *r,
                    struct trial_text *text)
{
    bool fails = a->plan.never_ok || r->number % 11 == 7;
    r->worker = (int)(r->ask % 4);
    r->compile_s = 0.04 + 0.1 * chance(c, 3);
    r->pipeline_s = 0.1 + 0.3 * chance(c, 4);
    r->device_s = fails ? 0 : 0.02 + 0.01 * chance(c, 5);
    r->outcome = OUTCOME_OK;
    r->seconds = fails ? 0 : seconds_of(a, c);
    if (fails)
        fill_failure(r, (size_t)(r->number / 11));
    else
        add_samples(a, c, r, &text->samples);
    if (!fails && (a->best <= 0 || r->seconds < a->best))
        a->best = r->seconds;
}

static void set_times(const struct author *a, const struct config *c, struct trial_record *r)
{
    double trials = (double)a->numbered - (r->number ? 0.5 * chance(c, 6) : 0);
    r->elapsed_s = trials * a->plan.seconds_each;
    r->finished = a->record.created + r->elapsed_s;
}

// Fills the record of the ask that was given last, which is told now.
static struct trial_record tell(struct author *a, const struct config *c, const char *rejected,
                                struct trial_text *text)
{
    a->told++;
    a->numbered += rejected == NULL;
    config_add_key(a->space, c, &text->key);
    config_add_json(a->space, c, &text->config);
    struct trial_record r = {
        .ask = a->asked,
        .number = rejected ? 0 : a->numbered,
        .told = a->told,
        .asked_after = a->told - 1,
        .key = str_text(&text->key),
        .config = str_text(&text->config),
        .outcome = OUTCOME_REJECTED,
        .phase = "none",
        .reason = rejected,
        .samples = "[]",
    };
    if (!rejected)
        measure(a, c, &r, text);
    set_times(a, c, &r);
    return r;
}

static void put(struct author *a, const struct trial_record *r)
{
    struct err e;
    must(store_put_trial(a->store, a->record.id, r, &e), &e);
}

static void add_origin(const struct author *a, struct trial_record *r, struct str *out)
{
    int64_t ask[SPACE_MAX_PARAMS];
    if (!strategy_origin(a->strategy, ask))
        return;
    for (int i = 0; i < a->space->param_count; i++)
        str_printf(out, "%s%lld", i ? "," : "", (long long)ask[i]);
    r->origin = str_text(out);
}

static void keep_population(struct author *a)
{
    struct individual breed[64];
    struct str text = {0};
    struct err e;
    int count = strategy_population(a->strategy, 64, breed);
    for (int i = 0; i < count; i++)
        str_printf(&text, "%s%lld", i ? "," : "", (long long)breed[i].ask);
    if (count)
        must(store_set_population(a->store, a->record.id, str_text(&text), &e), &e);
    str_finish(&text);
}

static void ask_and_tell(struct author *a)
{
    struct trial_text text = {0};
    struct config c;
    struct verdict v;
    struct err e;
    assert_int_equal(strategy_ask(a->strategy, &c), ASK_NEW);
    a->asked++;
    must(space_judge(a->space, &navi31, &c, &v, &e), &e);
    struct trial_record r = tell(a, &c, v.legal ? NULL : v.reason, &text);
    r.generation = strategy_generation(a->strategy);
    add_origin(a, &r, &text.origin);
    put(a, &r);
    strategy_tell(a->strategy, &c, r.outcome,
                  r.outcome == OUTCOME_OK ? a->record.flop / r.seconds / 1e12 : 0);
    trial_text_finish(&text);
}

void author_tell(struct author *a, int numbered)
{
    for (int64_t until = a->numbered + numbered; a->numbered < until;)
        ask_and_tell(a);
    keep_population(a);
}

// Not judged, which would take Lua a minute for a million.
void author_tell_walks(struct author *a, int told)
{
    for (int i = 0; i < told; i++) {
        struct trial_text text = {0};
        struct config c = a->hidden;
        double near = 0.5 + 0.48 / (1 + 1e-4 * (double)a->told);
        space_walk(a->space, near, &a->rng, &c);
        a->asked++;
        bool rejected = a->plan.never_legal || rng_below(&a->rng, 5) == 0;
        struct trial_record r =
            tell(a, &c, rejected ? "shared memory 98304 bytes > 65536" : NULL, &text);
        r.generation = (int)(a->told / 24);
        put(a, &r);
        trial_text_finish(&text);
    }
}

// --- what else there is in a session ---

void author_say(struct author *a, const char *level, const char *text)
{
    struct err e;
    must(store_add_message(a->store, a->record.id, level, text, &e), &e);
}

void author_retime(struct author *a, int64_t ask, const char *kind, double factor, bool verified)
{
    struct arena arena;
    struct trial_record t;
    struct err e;
    arena_init(&arena);
    must(store_get_trial(a->store, a->record.id, ask, &arena, &t, &e), &e);
    assert_true(t.ask == ask);
    struct retime_record r = {.ask = ask,
                              .kind = kind,
                              .seconds = t.seconds * factor,
                              .samples = "[]",
                              .verified = verified,
                              .at = t.finished};
    must(store_put_retime(a->store, a->record.id, &r, &e), &e);
    arena_finish(&arena);
}

void author_end(struct author *a, enum session_state state, const char *message)
{
    struct err e;
    double ran = (double)a->numbered * a->plan.seconds_each;
    must(store_set_state(a->store, a->record.id, state, message, ran, &e), &e);
}
