#include "trial/remote.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "trial/peaks.h"
#include "trial/remote_host.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS ((int64_t)1000000)
enum { MOST_FDS = 1024 };

double remote_patience_s(void)
{
    const char *text = getenv("TILEWALK_LINK_SECONDS");
    double seconds;
    return text && str_to_real(text, &seconds) && seconds > 0 && seconds < 1e6 ? seconds
                                                                               : REMOTE_PATIENCE_S;
}

// --- the source ---

static int count_trials(const struct remote *r, const struct work_list *l)
{
    int count = 0;
    for (int i = 0; i < l->count; i++)
        count += r->work.made || !l->item[i]->request.only_compiles;
    return count;
}

// The places of machines that are not up count as well: a request waits for its place.
static int remote_room(const struct source *s)
{
    const struct remote *r = (const struct remote *)s;
    int room = -count_trials(r, &r->waiting);
    for (int i = 0; i < r->machines->count; i++)
        room += r->host[i].workers - count_trials(r, &r->host[i].in_flight);
    return int_max(room, 0);
}

static void remote_submit(struct source *s, struct trial_request *q)
{
    struct remote *r = (struct remote *)s;
    work_list_append(&r->waiting, work_create(q, ++r->numbers));
}

static int remote_fds(const struct source *s, struct pollfd *out, int most)
{
    const struct remote *r = (const struct remote *)s;
    int n = 0;
    for (int i = 0; i < r->machines->count && n + SLOT_FDS <= most; i++)
        n += slot_fds(&r->host[i].slot, out + n);
    return n;
}

// Finds the machine with the most free places, and of these the one that has waited longest. A
// machine that is not calibrated yet has a single place; members of a pool are compared one by one.
// Requests that only compile may go to any machine and queue there.
static struct host *find_host(const struct remote *r, bool trial)
{
    struct host *best = NULL;
    int most = trial ? 1 : INT_MIN;
    for (int i = 0; i < r->machines->count; i++) {
        struct host *h = &r->host[i];
        bool is_new = r->margin > 0 && h->anchor_s <= 0 && !h->greeting.is_pool;
        int places = is_new ? 1 : h->workers;
        int free = places - (trial ? count_trials(r, &h->in_flight) : h->in_flight.count);
        if (h->state != HOST_UP || free < most ||
            (best && free == most && h->given_ns >= best->given_ns))
            continue;
        best = h;
        most = free;
    }
    return best;
}

static int remote_wait_ms(const struct source *s)
{
    const struct remote *r = (const struct remote *)s;
    int64_t now_ns = os_now_ns(),
            wake_ns = r->alone_ns ? r->alone_ns + remote_most_wait_ns(r) : INT64_MAX;
    for (int i = 0; i < r->machines->count; i++)
        wake_ns = int64_min(wake_ns, host_wake_ns(r, &r->host[i]));
    if (r->waiting.count && find_host(r, true))
        return 0;
    return wake_ns > now_ns ? (int)int64_min((wake_ns - now_ns) / MS_NS + 1, INT_MAX) : 0;
}

static bool remote_step(struct source *s, struct err *e)
{
    struct remote *r = (struct remote *)s;
    for (int i = 0; i < r->machines->count && !r->is_broken; i++)
        host_step(r, &r->host[i], os_now_ns());
    if (!r->is_broken && r->begun) {
        int64_t now_ns = os_now_ns();
        bool has_places = false;
        int refused = 0;
        for (int i = 0; i < r->waiting.count;) {
            bool is_trial = r->work.made || !r->waiting.item[i]->request.only_compiles;
            struct host *h = find_host(r, is_trial);
            if (h)
                host_give(r, h, work_list_take(&r->waiting, i), now_ns);
            else
                i++;
        }
        for (int i = 0; i < r->machines->count; i++) {
            has_places |= r->host[i].state == HOST_UP && r->host[i].workers > 0;
            refused += r->host[i].state == HOST_REFUSED;
        }
        if (has_places)
            r->alone_ns = 0;
        else if (!r->alone_ns)
            r->alone_ns = now_ns;
        r->is_broken = refused == r->machines->count;
        if (!r->is_broken && r->alone_ns && now_ns > r->alone_ns + remote_most_wait_ns(r))
            r->is_broken = !err_set(&r->broken, "no machine could be reached for %.4g s",
                                    (double)remote_most_wait_ns(r) * 1e-9);
    }
    if (r->is_broken && e)
        *e = r->broken;
    return !r->is_broken;
}

static bool remote_collect(struct source *s, struct trial_result *out)
{
    struct work *w = work_list_take_first(&((struct remote *)s)->done);
    if (w)
        *out = w->result;
    work_destroy(w);
    return w != NULL;
}

void remote_destroy(struct remote *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->machines->count; i++)
        host_finish(&r->host[i]);
    work_list_finish(&r->waiting);
    work_list_finish(&r->done);
    source_destroy(r->work.made);
    free(r->host);
    free(r);
}

static void remote_destroy_source(struct source *s)
{
    remote_destroy((struct remote *)s);
}

#define REMOTE_KIND                                                                                \
    .name = "remote", .room = remote_room, .submit = remote_submit, .fds = remote_fds,             \
    .wait_ms = remote_wait_ms, .step = remote_step, .collect = remote_collect,                     \
    .destroy = remote_destroy_source

static const struct source_kind measuring_kind = {REMOTE_KIND, .needs_jobs = true};
static const struct source_kind playing_kind = {REMOTE_KIND, .deterministic = true};

// --- before it begins ---

static bool step_and_wait(struct remote *r, struct err *e)
{
    struct pollfd fds[MOST_FDS];
    poll(fds, (nfds_t)remote_fds(&r->base, fds, MOST_FDS), remote_wait_ms(&r->base));
    return remote_step(&r->base, e);
}

struct remote *remote_connect(const struct remote_machines *m, bool lists, struct err *e)
{
    struct remote *r = mem_zero(1, sizeof *r);
    r->base.kind = &playing_kind;
    r->machines = m;
    r->lists = lists;
    r->patience_s = remote_patience_s();
    r->connected_ns = os_now_ns();
    r->host = mem_zero((size_t)m->count, sizeof *r->host);
    for (int i = 0; i < m->count; i++)
        slot_init(&r->host[i].slot, i);
    for (bool ok = remote_step(&r->base, e); ok; ok = step_and_wait(r, e)) {
        int settled = 0, first = m->count;
        for (int i = m->count - 1; i >= 0; i--) {
            settled += r->host[i].state == HOST_KNOWN || r->host[i].is_late;
            first = r->host[i].state == HOST_KNOWN ? i : first;
        }
        if (settled == m->count && first < m->count) {
            // The first host stands for all: its devices, its compiler.
            struct host known = r->host[first];
            r->host[first] = r->host[0];
            r->host[0] = known;
            return r;
        }
    }
    remote_destroy(r);
    return NULL;
}

const struct gpu_info *remote_devices(const struct remote *r, int *count)
{
    *count = r->host[0].devices;
    return r->host[0].list;
}

struct remote_facts remote_facts(const struct remote *r)
{
    const struct greeting *first = &r->host[0].greeting;
    struct remote_facts f = {.compiler = first->compiler,
                             .workers = remote_usual_workers(r->lists, first->cores)};
    for (int i = 0; i < r->machines->count; i++)
        f.count += r->host[i].is_late ? 0 : int_max(r->host[i].members, 1);
    return f;
}

bool remote_choose(struct remote *r, const struct gpu_info *device, struct err *e)
{
    const char *margin = getenv("TILEWALK_FLEET_MARGIN");
    gpu_identity(device, r->device_id);
    peaks_of_kind(device, &r->kind);
    if (!margin || !str_to_real(margin, &r->margin) || r->margin <= 0)
        r->margin = device->is_cpu ? 0 : REMOTE_MARGIN;
    if (r->machines->count == 1 && !r->host[0].greeting.is_pool)
        r->margin = 0; // there is nothing to compare
    for (int i = 0; i < r->machines->count; i++)
        if (r->host[i].state == HOST_KNOWN)
            host_choose(r, &r->host[i]);
    return !r->is_broken || (e && (*e = r->broken, false));
}

struct source *remote_begin(struct remote *r, const struct remote_work *w)
{
    r->work = *w;
    r->begun = true;
    if (!w->made) {
        enum roofline_kind by;
        double kind_s = roofline_seconds(&r->kind, &w->hello.operation, &by);
        r->dispatch_s = r->kind.rate[ROOFLINE_DISPATCH];
        r->least_s = fmax(kind_s / REMOTE_MOST_OF_PEAK, r->dispatch_s);
        r->peak_s = w->peak_s > 0 ? w->peak_s : kind_s;
    }
    r->base.kind = w->made ? &playing_kind : &measuring_kind;
    for (int i = 0; i < r->machines->count; i++) {
        const struct greeting *g = &r->host[i].greeting;
        r->host[i].workers = g->is_pool || r->host[i].is_late ? 0
                             : w->workers                     ? w->workers
                                          : remote_usual_workers(!w->made, g->cores);
    }
    return &r->base;
}

bool remote_wait_for_devices(struct remote *r, const char *why)
{
    int64_t end_ns = r->connected_ns + remote_most_wait_ns(r);
    int before = r->host[0].devices;
    if (!r->host[0].greeting.is_pool)
        return false;
    if (!r->has_said_waits)
        log_warning("%s; waiting for a worker that has it, up to %.4g s", why,
                    (double)remote_most_wait_ns(r) * 1e-9);
    r->has_said_waits = true;
    for (bool ok = os_now_ns() < end_ns && remote_step(&r->base, NULL); ok;
         ok = os_now_ns() < end_ns && step_and_wait(r, NULL))
        if (r->host[0].devices != before)
            return true;
    return false;
}
