#include "trial/pool.h"

#include "base/mem.h"
#include "base/os.h"
#include "trial/fault.h"
#include "trial/shared.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS_NS ((int64_t)1000000)

enum { MOST_SPAWNS_OF_WARMER = 10 };

static struct pool *pool_of(struct source *s)
{
    return (struct pool *)s;
}

static int pool_room(const struct source *source)
{
    const struct pool *p = (const struct pool *)source;
    int taken = p->waiting.count + (p->options.only_compiles ? p->compiling.count : 0);
    for (int i = 0; i < p->options.workers; i++)
        taken += p->slot[i].work != NULL;
    return p->options.workers - taken;
}

static void pool_submit(struct source *source, struct trial_request *r)
{
    struct pool *p = pool_of(source);
    work_list_append(r->only_compiles ? &p->compiling : &p->waiting, work_create(r, ++p->trials));
    p->has_new_work = true;
}

static int pool_fds(const struct source *source, struct pollfd *out, int most)
{
    const struct pool *p = (const struct pool *)source;
    int n = 0;
    for (int i = 0; i < p->slots && n + SLOT_FDS <= most; i++)
        n += slot_fds(&p->slot[i], out + n);
    return n;
}

static bool has_trials(const struct pool *p)
{
    for (int i = 0; i < p->first_warmer; i++)
        if (p->slot[i].state == SLOT_BUSY)
            return true;
    return false;
}

bool pool_wants(const struct pool *p, const struct slot *s)
{
    if (s->index >= p->first_warmer) // one that dies again and again does without
        return has_trials(p) && s->spawns < MOST_SPAWNS_OF_WARMER;
    return s->index < p->options.workers || p->compiling.count > 0;
}

static bool may_start(const struct pool *p, const struct slot *s)
{
    return pool_wants(p, s) && token_may_start(&p->token, s->index);
}

static int pool_wait_ms(const struct source *source)
{
    const struct pool *p = (const struct pool *)source;
    int64_t now_ns = os_now_ns(), wake_ns = INT64_MAX;
    if (p->has_new_work)
        return 0;
    for (int i = 0; i < p->slots; i++) {
        bool has_to_wait = p->slot[i].state == SLOT_EMPTY && !may_start(p, &p->slot[i]);
        int64_t ns = has_to_wait ? INT64_MAX : slot_wake_ns(&p->slot[i], now_ns);
        wake_ns = ns < wake_ns ? ns : wake_ns;
    }
    if (wake_ns == INT64_MAX)
        return -1;
    if (wake_ns <= now_ns)
        return 0;
    int64_t ms = (wake_ns - now_ns) / MS_NS + 1;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static struct slot *find_slot(const struct pool *p, enum slot_state state)
{
    for (int i = 0; i < p->slots; i++)
        if (p->slot[i].state == state)
            return &p->slot[i];
    return NULL;
}

// Who measures compiles for others too, if no compiler is idle.
static struct slot *find_idle(const struct pool *p, bool to_measure)
{
    int count = to_measure ? p->options.workers : p->first_warmer;
    for (int i = 0; i < count; i++) {
        struct slot *s = &p->slot[to_measure ? i : count - 1 - i];
        if (s->state == SLOT_IDLE)
            return s;
    }
    return NULL;
}

static bool somebody_starts(const struct pool *p, int64_t now_ns)
{
    for (int i = 0; i < p->slots; i++)
        if (p->slot[i].state == SLOT_EMPTY && pool_wants(p, &p->slot[i]) &&
            now_ns >= p->slot[i].start_ns)
            return true;
    return find_slot(p, SLOT_STARTING) != NULL;
}

// A warmer rests as soon as somebody needs its card, or nobody needs it to be warm.
static void let_warmers_rest(struct pool *p, int64_t now_ns)
{
    for (int i = p->first_warmer; i < p->slots; i++) {
        struct slot *s = &p->slot[i];
        bool rests = token_is_wanted(&p->token, i) || somebody_starts(p, now_ns) || !has_trials(p);
        if (s->state == SLOT_WARMING && s->phase == PHASE_NONE && rests)
            pool_send_rest(p, s, now_ns);
    }
}

static void let_warmers_warm(struct pool *p, int64_t now_ns)
{
    for (int i = p->first_warmer; i < p->slots; i++)
        if (p->slot[i].state == SLOT_IDLE && has_trials(p) && !somebody_starts(p, now_ns) &&
            token_may_warm(&p->token, i))
            pool_send_warm(p, &p->slot[i], now_ns);
}

// Who waits for the device goes before who wants to compile: see token.h.
static void hand_out(struct pool *p, int64_t now_ns)
{
    struct slot *idle = find_idle(p, true);
    if (!p->prepared) {
        if (idle && !find_slot(p, SLOT_PREPARING))
            pool_send_prepare(p, idle, now_ns);
        return;
    }
    for (int granted; !somebody_starts(p, now_ns) && (granted = token_grant(&p->token)) >= 0;)
        pool_send_go(p, &p->slot[granted], now_ns);
    while (p->waiting.count > 0 && token_may_compile(&p->token) &&
           (idle = find_idle(p, true)) != NULL)
        pool_send_trial(p, idle, work_list_take_first(&p->waiting), now_ns);
    while (p->compiling.count > 0 && token_may_compile(&p->token) &&
           (idle = find_idle(p, false)) != NULL)
        pool_send_trial(p, idle, work_list_take_first(&p->compiling), now_ns);
}

static bool is_at_work(const struct pool *p)
{
    return find_slot(p, SLOT_STARTING) || find_slot(p, SLOT_PREPARING) || find_slot(p, SLOT_BUSY);
}

static void count_busy(struct pool *p, int64_t now_ns)
{
    bool at_work = is_at_work(p);
    if (at_work && !p->busy_since_ns)
        p->busy_since_ns = now_ns;
    if (!at_work && p->busy_since_ns) {
        p->busy_ns += now_ns - p->busy_since_ns;
        p->busy_since_ns = 0;
    }
}

static bool pool_step(struct source *source, struct err *e)
{
    struct pool *p = pool_of(source);
    p->has_new_work = false;
    for (int i = 0; i < p->slots && !p->is_broken; i++)
        pool_step_worker(p, &p->slot[i], os_now_ns());
    if (!p->is_broken) {
        let_warmers_rest(p, os_now_ns());
        hand_out(p, os_now_ns());
        let_warmers_warm(p, os_now_ns());
    }
    count_busy(p, os_now_ns());
    if (p->is_broken && e)
        *e = p->broken;
    return !p->is_broken;
}

static bool pool_collect(struct source *source, struct trial_result *out)
{
    struct work *w = work_list_take_first(&pool_of(source)->done);
    if (!w)
        return false;
    *out = w->result;
    work_destroy(w);
    return true;
}

static void pool_destroy(struct source *source)
{
    struct pool *p = pool_of(source);
    for (int i = 0; i < p->slots; i++) {
        work_destroy(p->slot[i].work);
        slot_finish(&p->slot[i]);
    }
    work_list_finish(&p->waiting);
    work_list_finish(&p->compiling);
    work_list_finish(&p->done);
    kept_finish(&p->kept);
    token_finish(&p->token);
    close(p->shared_fd);
    free(p->slot);
    free(p->program);
    free(p->fault);
    free(p->device_id);
    free(p);
}

static const struct source_kind pool_kind = {
    .name = "pool",
    .needs_jobs = true,
    .deterministic = false,
    .room = pool_room,
    .submit = pool_submit,
    .fds = pool_fds,
    .wait_ms = pool_wait_ms,
    .step = pool_step,
    .collect = pool_collect,
    .busy_seconds = pool_busy_seconds,
    .destroy = pool_destroy,
};

// Lavapipe's JIT takes up to ten seconds for a large unrolled kernel, and the machine may be
// shared.
double pool_default_deadline(enum trial_phase p, bool is_cpu)
{
    switch (p) {
    case PHASE_NONE: return 20; // from sending a trial to its first announcement
    case PHASE_START: return 60;
    case PHASE_PREPARE: return 600;
    case PHASE_COMPILE: return 30;
    case PHASE_PIPELINE: return 60;
    case PHASE_WAIT: return 20; // from being given the device to using it
    case PHASE_RUN: return is_cpu ? 60 : 30;
    case PHASE_VERIFY: return 60;
    case PHASE_TIME: return is_cpu ? 120 : 60;
    case PHASE_COUNT: break;
    }
    return 60;
}

struct source *pool_create(const struct pool_options *o, struct err *e)
{
    struct fault_plan plan;
    if (!fault_parse(o->fault, &plan, e))
        return NULL;
    if (o->fault && strlen(o->fault) >= sizeof((struct hello *)0)->fault) {
        err_set(e, "the list of faults is too long");
        return NULL;
    }
    size_t size;
    if (!operator_fits(o->operation, o->limits, e) || !shared_size(o->operation, &size, e))
        return NULL;
    int shared_fd = os_memfd("tilewalk-operator", size, e);
    if (shared_fd < 0)
        return NULL;
    struct pool *p = mem_zero(1, sizeof *p);
    p->base.kind = &pool_kind;
    p->options = *o;
    p->operation = *o->operation;
    p->limits = *o->limits;
    p->options.operation = &p->operation;
    p->options.limits = &p->limits;
    p->options.program = p->program = mem_strdup(o->program);
    p->options.fault = p->fault = mem_strdup(o->fault ? o->fault : "");
    p->options.device_id = p->device_id = mem_strdup(o->device_id ? o->device_id : "");
    for (int i = 0; i < PHASE_COUNT; i++)
        if (o->deadline_s[i] <= 0)
            p->options.deadline_s[i] = pool_default_deadline((enum trial_phase)i, o->is_cpu);
    for (int i = 0; i < 2; i++)
        p->compile_limit[i].least_s =
            o->compile_least_s > 0 ? o->compile_least_s : COMPILE_LIMIT_LEAST_S;
    p->shared_fd = shared_fd;
    p->has_new_work = true;
    p->prepared = o->only_compiles; // there is nothing to prepare
    p->first_warmer = o->workers + o->compilers;
    p->cards = o->cards ? *o->cards : (struct gpu_cards){.index = {o->device}, .count = 1};
    p->options.cards = &p->cards;
    p->slots = p->first_warmer + (o->keeps_busy ? p->cards.count : 0);
    p->slot = mem_zero((size_t)p->slots, sizeof *p->slot);
    for (int i = 0; i < p->slots; i++)
        slot_init(&p->slot[i], i);
    token_init(&p->token, &(struct token_wish){.workers = p->slots,
                                               .is_cpu = o->is_cpu,
                                               .cores = os_cores(),
                                               .cards = p->cards.count,
                                               .warmers = p->slots - p->first_warmer});
    return &p->base;
}

double pool_busy_seconds(const struct source *s)
{
    const struct pool *p = (const struct pool *)s;
    int64_t ns = p->busy_ns + (p->busy_since_ns ? os_now_ns() - p->busy_since_ns : 0);
    return (double)ns * 1e-9;
}

int pool_respawns(const struct source *s)
{
    const struct pool *p = (const struct pool *)s;
    int respawns = 0;
    for (int i = 0; i < p->slots; i++)
        respawns += p->slot[i].spawns > 1 ? p->slot[i].spawns - 1 : 0;
    return respawns;
}
