#include "trial/remote_host.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS     ((int64_t)1000000)
#define GATHER_NS (500 * MS_NS) // that long all who are there get to say so
#define LOOK_NS   (50 * MS_NS)
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

static bool is_known_device(const struct host *h, const struct gpu_info *device)
{
    char id[33];
    gpu_identity(device, id);
    for (int i = 0; i < h->devices; i++)
        if (gpu_is(&h->list[i], id))
            return true;
    return false;
}

// One of each kind: the pool is as a machine that has them all.
static void keep_device(struct host *h, const struct gpu_info *device)
{
    if (is_known_device(h, device))
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

static void tell_trouble(struct remote *r, struct host *h, struct crew_member *of)
{
    bool stuck = of->is_at_work && of->says.why[0];
    if (stuck != of->is_stuck)
        tell(r, h, of, stuck ? "stuck" : "up", stuck ? of->says.why : NULL);
    of->is_stuck = stuck;
}

static bool is_silent(const struct remote *r, const struct crew_member *of, int64_t now_ns)
{
    return now_ns > of->heard_ns + (int64_t)(r->patience_s * 1e9);
}

static void look_at(struct remote *r, struct host *h, struct crew_member *of, int64_t now_ns)
{
    bool silent = is_silent(r, of, now_ns), was = of->is_at_work;
    of->is_at_work = !of->is_set_aside && !of->says.leaves && !silent && places_of(r, of) > 0;
    if (of->is_at_work == was || of->is_set_aside)
        return;
    if (of->is_at_work)
        tell(r, h, of, "up", NULL);
    else if (silent)
        tell(r, h, of, "lost", "nothing was heard of it any more");
    else
        tell(r, h, of, "left", of->says.why[0] ? of->says.why : "it was ended");
}

void crew_set_aside(struct remote *r, struct host *h, struct crew_member *of, const char *why)
{
    of->is_set_aside = true;
    of->is_at_work = false;
    slot_send(&h->slot, message_leave(of->greeting.machine, why));
    tell(r, h, of, "refused", why);
}

static void wait_for_first(struct remote *r, struct host *h, int64_t now_ns)
{
    char why[300];
    const char *unlike = h->crew.unlike;
    if (!h->listing_ns)
        h->listing_ns = now_ns;
    if (now_ns < h->listing_ns + GATHER_NS)
        return;
    if (h->devices) {
        host_know(r, h);
    } else if (now_ns > h->listing_ns + remote_gone_ns(r)) {
        snprintf(why, sizeof why, "no worker that measures came within %.4g s%s%s%s",
                 (double)remote_gone_ns(r) * 1e-9, *unlike ? " (" : "", unlike, *unlike ? ")" : "");
        host_refuse(r, h, why);
    } else if (!r->has_said_waits) {
        log_warning("%s: no worker there measures%s%s%s; waiting for one, up to %.4g s",
                    host_place(r, h), *unlike ? " (" : "", unlike, *unlike ? ")" : "",
                    (double)remote_gone_ns(r) * 1e-9);
        r->has_said_waits = true;
    }
}

void crew_step(struct remote *r, struct host *h, int64_t now_ns)
{
    if (h->state == HOST_LISTING)
        wait_for_first(r, h, now_ns);
    if (h->state != HOST_UP)
        return;
    h->workers = 0;
    for (int i = 0; i < h->crew.count; i++) {
        struct crew_member *of = &h->crew.of[i];
        look_at(r, h, of, now_ns);
        tell_trouble(r, h, of);
        h->workers += of->is_at_work ? places_of(r, of) : 0;
    }
}

int64_t crew_wake_ns(const struct remote *r, const struct host *h)
{
    (void)r;
    return h->state == HOST_LISTING ? os_now_ns() + LOOK_NS : SLOT_NEVER;
}
