#include "trial/remote.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "trial/remote_host.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMOTE_POOL_MS_NS ((int64_t)1000000)
#define GATHER_NS         (500 * REMOTE_POOL_MS_NS) // that long all who are there get to say so
#define LOOK_NS           (50 * REMOTE_POOL_MS_NS)
enum { MOST_MEMBERS = 4096 };

struct crew_member *crew_find(struct crew *c, const char *machine)
{
    for (int i = 0; i < c->count; i++)
        if (str_equal(c->of[i].greeting.machine, machine))
            return &c->of[i];
    return NULL;
}

void crew_finish(struct crew *c)
{
    free(c->of);
    *c = (struct crew){.of = NULL};
}

// --- what they say ---

// One of each kind: the pool is as a machine that has them all.
static void keep_device(struct host *h, const struct gpu_info *device)
{
    char id[33];
    gpu_identity(device, id);
    for (int i = 0; i < h->devices; i++)
        if (gpu_is(&h->list[i], id))
            return;
    h->list = mem_resize(h->list, (size_t)h->devices + 1, sizeof *h->list);
    h->list[h->devices] = *device;
    h->list[h->devices].index = h->devices;
    h->devices++;
}

static bool fits(struct host *h, const struct greeting *g)
{
    if (!str_equal(g->version, TILEWALK_VERSION))
        snprintf(h->crew.unlike, sizeof h->crew.unlike, "a worker has tilewalk %.31s, this is %s",
                 g->version, TILEWALK_VERSION);
    else if (!str_equal(g->compiler, h->greeting.compiler))
        snprintf(h->crew.unlike, sizeof h->crew.unlike,
                 "%.63s compiles with %.40s, this with %.40s", g->machine, g->compiler,
                 h->greeting.compiler);
    else
        return true;
    return false;
}

bool crew_hear(struct host *h, struct message *m, int64_t now_ns)
{
    struct crew *c = &h->crew;
    if (!fits(h, &m->greeting))
        return true;
    struct crew_member *of = crew_find(c, m->greeting.machine);
    if (!of && (m->member.leaves || c->count == MOST_MEMBERS))
        return true;
    if (!of) {
        MEM_GROW(c->of, c->count, c->capacity);
        of = &c->of[c->count++];
        *of = (struct crew_member){.greeting = m->greeting};
    }
    of->says = m->member;
    of->heard_ns = now_ns;
    if (m->device_count) {
        of->device = m->device_list[0];
        keep_device(h, &of->device);
    }
    return true;
}

// --- what follows ---

static void tell(struct remote *r, struct host *h, const struct crew_member *of, const char *state,
                 const char *why)
{
    const struct remote_news news = {
        .place = host_place(r, h), .machine = of->greeting.machine, .state = state, .why = why};
    if (r->work.tell)
        r->work.tell(r->work.context, &news);
}

static int places_of(const struct remote *r, const struct crew_member *of)
{
    if (r->work.made)
        return of->says.players;
    return of->says.measurers > 0 && gpu_is(&of->device, r->device_id) ? of->says.measurers : 0;
}

void crew_set_aside(struct remote *r, struct host *h, struct crew_member *of, const char *why)
{
    of->is_set_aside = true;
    of->is_at_work = false;
    slot_send(&h->slot, message_leave(of->greeting.machine, why));
    tell(r, h, of, "refused", why);
}

void crew_step(struct remote *r, struct host *h, int64_t now_ns)
{
    if (h->state == HOST_LISTING) {
        char why[300];
        const char *unlike = h->crew.unlike;
        if (!h->listing_ns)
            h->listing_ns = now_ns;
        if (!(now_ns < h->listing_ns + GATHER_NS)) {
            if (h->devices) {
                host_know(r, h);
            } else if (now_ns > h->listing_ns + remote_gone_ns(r)) {
                snprintf(why, sizeof why, "no worker that measures came within %.4g s%s%s%s",
                         (double)remote_gone_ns(r) * 1e-9, *unlike ? " (" : "", unlike,
                         *unlike ? ")" : "");
                host_refuse(r, h, why);
            } else if (!r->has_said_waits) {
                log_warning("%s: no worker there measures%s%s%s; waiting for one, up to %.4g s",
                            host_place(r, h), *unlike ? " (" : "", unlike, *unlike ? ")" : "",
                            (double)remote_gone_ns(r) * 1e-9);
                r->has_said_waits = true;
            }
        }
    }
    if (h->state != HOST_UP)
        return;
    h->workers = 0;
    for (int i = 0; i < h->crew.count; i++) {
        struct crew_member *of = &h->crew.of[i];
        bool silent = now_ns > of->heard_ns + (int64_t)(r->patience_s * 1e9), was = of->is_at_work;
        of->is_at_work = !of->is_set_aside && !of->says.leaves && !silent && places_of(r, of) > 0;
        if (of->is_at_work != was && !of->is_set_aside) {
            if (of->is_at_work)
                tell(r, h, of, "up", NULL);
            else if (silent)
                tell(r, h, of, "lost", "nothing was heard of it any more");
            else
                tell(r, h, of, "left", of->says.why[0] ? of->says.why : "it was ended");
        }
        bool stuck = of->is_at_work && of->says.why[0];
        if (stuck != of->is_stuck)
            tell(r, h, of, stuck ? "stuck" : "up", stuck ? of->says.why : NULL);
        of->is_stuck = stuck;
        h->workers += of->is_at_work ? places_of(r, of) : 0;
    }
}

int64_t crew_wake_ns(const struct remote *r, const struct host *h)
{
    (void)r;
    return h->state == HOST_LISTING ? os_now_ns() + LOOK_NS : SLOT_NEVER;
}

#define MS_NS ((int64_t)1000000)
enum { GONE_TIMES = 10, USUAL_WORKERS = 4, MOST_FDS = 1024 };

int remote_usual_workers(int cards, int cores)
{
    int most = cards * USUAL_WORKERS;
    return !cards ? 1 : int_max(cores < most ? cores : most, cards);
}

// --- as a source ---

static bool is_trial(const struct remote *r, const struct work *w)
{
    return r->work.made || !w->request.only_compiles;
}

static int count_trials(const struct remote *r, const struct work_list *l)
{
    int count = 0;
    for (int i = 0; i < l->count; i++)
        count += is_trial(r, l->item[i]);
    return count;
}

// Whether the machines are up does not matter: what has no place yet waits.
static int remote_room(const struct source *s)
{
    const struct remote *r = (const struct remote *)s;
    int room = -count_trials(r, &r->waiting);
    for (int i = 0; i < r->dialer->count; i++)
        room += r->host[i].workers - count_trials(r, &r->host[i].flying);
    return room > 0 ? room : 0;
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
    for (int i = 0; i < r->dialer->count && n + SLOT_FDS <= most; i++)
        n += slot_fds(&r->host[i].slot, out + n);
    return n;
}

// One that is not calibrated yet has a single place.
static int places(const struct remote *r, const struct host *h)
{
    return r->margin > 0 && h->anchor_s <= 0 ? 1 : h->workers;
}

// With a place for it, the one that has the most to spare, and of these the one that has waited
// longest. What is only compiled may be given to any: there it stands in line.
static struct host *find_host(const struct remote *r, bool trial)
{
    struct host *best = NULL;
    int spare = trial ? 1 : INT_MIN;
    for (int i = 0; i < r->dialer->count; i++) {
        struct host *h = &r->host[i];
        int free = places(r, h) - (trial ? count_trials(r, &h->flying) : h->flying.count);
        if (h->state != HOST_UP || free < spare ||
            (best && free == spare && h->given_ns >= best->given_ns))
            continue;
        best = h;
        spare = free;
    }
    return best;
}

int64_t remote_gone_ns(const struct remote *r)
{
    double seconds = r->dialer->wait_s > 0 ? r->dialer->wait_s : r->patience_s * GONE_TIMES;
    return (int64_t)(seconds * 1e9);
}

static int remote_wait_ms(const struct source *s)
{
    const struct remote *r = (const struct remote *)s;
    int64_t now_ns = os_now_ns(),
            wake_ns = r->alone_ns ? r->alone_ns + remote_gone_ns(r) : INT64_MAX;
    for (int i = 0; i < r->dialer->count; i++) {
        int64_t ns = host_wake_ns(r, &r->host[i]);
        wake_ns = ns < wake_ns ? ns : wake_ns;
    }
    if (r->waiting.count && find_host(r, true))
        return 0;
    int64_t ms = wake_ns > now_ns ? (wake_ns - now_ns) / MS_NS + 1 : 0;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static int count_in(const struct remote *r, enum host_state state)
{
    int count = 0;
    for (int i = 0; i < r->dialer->count; i++)
        count += r->host[i].state == state;
    return count;
}

static bool has_places(const struct remote *r)
{
    for (int i = 0; i < r->dialer->count; i++)
        if (r->host[i].state == HOST_UP && r->host[i].workers > 0)
            return true;
    return false;
}

static void look_for_the_end(struct remote *r, int64_t now_ns)
{
    if (count_in(r, HOST_REFUSED) == r->dialer->count)
        r->is_broken = true;
    if (has_places(r))
        r->alone_ns = 0;
    else if (!r->alone_ns)
        r->alone_ns = now_ns;
    else if (now_ns > r->alone_ns + remote_gone_ns(r) && !r->is_broken)
        r->is_broken = !err_set(&r->broken, "no machine could be reached for %.4g s",
                                (double)remote_gone_ns(r) * 1e-9);
}

static bool remote_step(struct source *s, struct err *e)
{
    struct remote *r = (struct remote *)s;
    for (int i = 0; i < r->dialer->count && !r->is_broken; i++)
        host_step(r, &r->host[i], os_now_ns());
    if (!r->is_broken && r->begun) {
        int64_t now_ns = os_now_ns();
        for (int i = 0; i < r->waiting.count;) {
            struct host *h = find_host(r, is_trial(r, r->waiting.item[i]));
            if (h)
                host_give(r, h, work_list_take(&r->waiting, i), now_ns);
            else
                i++;
        }
        look_for_the_end(r, os_now_ns());
    }
    if (r->is_broken && e)
        *e = r->broken;
    return !r->is_broken;
}

static bool remote_collect(struct source *s, struct trial_result *out)
{
    struct work *w = work_list_take_first(&((struct remote *)s)->done);
    if (!w)
        return false;
    *out = w->result;
    work_destroy(w);
    return true;
}

static void destroy(struct source *s)
{
    remote_destroy((struct remote *)s);
}

#define REMOTE_KIND                                                                                \
    .name = "remote", .room = remote_room, .submit = remote_submit, .fds = remote_fds,             \
    .wait_ms = remote_wait_ms, .step = remote_step, .collect = remote_collect, .destroy = destroy

static const struct source_kind measuring_kind = {REMOTE_KIND, .needs_jobs = true};
static const struct source_kind playing_kind = {REMOTE_KIND, .deterministic = true};

// --- its beginning ---

double remote_patience_s(void)
{
    const char *text = getenv("TILEWALK_LINK_SECONDS");
    double seconds;
    return text && str_to_real(text, &seconds) && seconds > 0 && seconds < 1e6 ? seconds
                                                                               : REMOTE_PATIENCE_S;
}

static double margin_of(const struct gpu_info *device)
{
    const char *text = getenv("TILEWALK_FLEET_MARGIN");
    double share;
    if (text && str_to_real(text, &share) && share > 0)
        return share;
    return device->is_cpu ? 0 : REMOTE_MARGIN;
}

struct remote *remote_connect(struct dialer *d, bool lists, struct err *e)
{
    struct remote *r = mem_zero(1, sizeof *r);
    r->base.kind = &playing_kind;
    r->dialer = d;
    r->lists = lists;
    r->patience_s = remote_patience_s();
    r->connected_ns = os_now_ns();
    r->host = mem_zero((size_t)d->count, sizeof *r->host);
    for (int i = 0; i < d->count; i++)
        slot_init(&r->host[i].slot, i);
    struct pollfd fds[MOST_FDS];
    while (remote_step(&r->base, e)) {
        if (count_in(r, HOST_KNOWN) == r->dialer->count)
            return r;
        poll(fds, (nfds_t)remote_fds(&r->base, fds, MOST_FDS), remote_wait_ms(&r->base));
    }
    remote_destroy(r);
    return NULL;
}

void remote_destroy(struct remote *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->dialer->count; i++)
        host_finish(&r->host[i]);
    work_list_finish(&r->waiting);
    work_list_finish(&r->done);
    source_destroy(r->work.made);
    free(r->host);
    free(r);
}

const struct gpu_info *remote_devices(const struct remote *r, int *count)
{
    *count = r->host[0].devices;
    return r->host[0].list;
}

const char *remote_compiler(const struct remote *r)
{
    return r->host[0].greeting.compiler;
}

int remote_workers(const struct remote *r)
{
    return remote_usual_workers(r->lists, r->host[0].greeting.cores);
}

int remote_count(const struct remote *r)
{
    int count = 0;
    for (int i = 0; i < r->dialer->count; i++)
        count += int_max(r->host[i].crew.count, 1);
    return count;
}

bool remote_choose(struct remote *r, const struct gpu_info *device, struct err *e)
{
    gpu_identity(device, r->device_id);
    bool several = r->dialer->count > 1 || r->host[0].greeting.is_pool;
    r->margin = several ? margin_of(device) : 0;
    for (int i = 0; i < r->dialer->count; i++)
        host_choose(r, &r->host[i]);
    return !r->is_broken || (e && (*e = r->broken, false));
}

struct source *remote_begin(struct remote *r, const struct remote_work *w)
{
    r->work = *w;
    r->begun = true;
    r->base.kind = w->made ? &playing_kind : &measuring_kind;
    for (int i = 0; i < r->dialer->count; i++)
        r->host[i].workers = r->host[i].greeting.is_pool ? 0
                             : w->workers
                                 ? w->workers
                                 : remote_usual_workers(!w->made, r->host[i].greeting.cores);
    return &r->base;
}

bool remote_wait_for_devices(struct remote *r, const char *why)
{
    struct pollfd fds[MOST_FDS];
    int before = r->host[0].devices;
    if (!r->host[0].greeting.is_pool)
        return false;
    if (!r->has_said_waits)
        log_warning("%s; waiting for a worker that has it, up to %.4g s", why,
                    (double)remote_gone_ns(r) * 1e-9);
    r->has_said_waits = true;
    while (os_now_ns() < r->connected_ns + remote_gone_ns(r) && remote_step(&r->base, NULL)) {
        if (r->host[0].devices != before)
            return true;
        poll(fds, (nfds_t)remote_fds(&r->base, fds, MOST_FDS), remote_wait_ms(&r->base));
    }
    return false;
}

void remote_fit(struct hello *h, int device, int workers, int cores)
{
    h->device = device;
    h->workers = workers;
    h->compilers = int_max(int_min(h->compilers, cores - workers), 0);
}
