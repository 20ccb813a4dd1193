#include "trial/remote_host.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_NS ((int64_t)200000000) // before it is dialled again; twice as long each time
// It is asked whether it is alive so often while it may be silent.
enum { MOST_DOUBLINGS = 6, LISTS_LONGER = 4, ASKED_ALIVE = 6 };

const char *host_place(const struct remote *r, const struct host *h)
{
    return r->dialer->place[h->slot.index].name;
}

static void tell(const struct remote *r, const struct host *h, const char *state, const char *why,
                 int again)
{
    const struct remote_news news = {.place = host_place(r, h),
                                     .machine = h->greeting.machine,
                                     .state = state,
                                     .why = why,
                                     .again = again};
    if (r->begun && r->work.tell && !h->greeting.is_pool)
        r->work.tell(r->work.context, &news);
}

// --- its end ---

static int ask_again(struct remote *r, struct host *h)
{
    int count = 0;
    while (h->flying.count > 0) {
        struct work *w = work_list_take_first(&h->flying);
        bool is_to_blame = ++w->losses >= REMOTE_MOST_LOSSES;
        if (is_to_blame) {
            work_settle_rest(w, OUTCOME_LOST, PHASE_NONE, "each machine that had it was lost");
            work_list_append(&r->done, w);
        } else {
            work_list_insert(&r->waiting, w);
        }
        count += !is_to_blame;
    }
    return count;
}

// The connection is of no more use.
static void hang_up(struct host *h)
{
    slot_clear(&h->slot);
    free(h->list);
    h->list = NULL;
    h->devices = 0;
    h->anchor_s = 0;
    h->listing_ns = 0;
    crew_finish(&h->crew);
}

// Before the work has begun nobody goes on without it.
static void break_off(struct remote *r, const struct host *h, const char *why)
{
    if (r->begun || r->is_broken)
        return;
    r->is_broken = true;
    err_set(&r->broken, "%s: %s", host_place(r, h), why);
}

static void lose(struct remote *r, struct host *h, const char *how, int64_t now_ns)
{
    char why[400];
    if (h->slot.state != SLOT_EMPTY)
        slot_read_log(&h->slot, NULL, NULL);
    const char *last = h->slot.state != SLOT_EMPTY ? h->slot.last_line : "";
    snprintf(why, sizeof why, "%s%s%s%s", how, *last ? " (" : "", last, *last ? ")" : "");
    break_off(r, h, why);
    int again = ask_again(r, h);
    if (h->state == HOST_UP || h->state == HOST_BEGINNING)
        tell(r, h, "lost", why, again);
    hang_up(h);
    int doublings = h->failures < MOST_DOUBLINGS ? h->failures : MOST_DOUBLINGS;
    h->failures++;
    h->state = HOST_DOWN;
    h->dial_ns = now_ns + (PAUSE_NS << doublings);
}

// It is there, and says or shows that it cannot be of use.
void host_refuse(struct remote *r, struct host *h, const char *why)
{
    break_off(r, h, why);
    tell(r, h, "refused", why, ask_again(r, h));
    if (r->begun && !r->broken.text[0])
        err_set(&r->broken, "%s: %s", host_place(r, h), why); // should it be the last
    hang_up(h);
    h->state = HOST_REFUSED;
}

// --- its beginning ---

static void dial(struct remote *r, struct host *h, int64_t now_ns)
{
    struct child child;
    struct err e;
    if (!dialer_dial(r->dialer, h->slot.index, &child, &e)) {
        lose(r, h, e.text, now_ns);
        return;
    }
    slot_take(&h->slot, &child);
    h->state = HOST_GREETING;
    h->heard_ns = h->asked_ns = now_ns;
    struct greeting g = greeting_of_this();
    slot_send(&h->slot, message_greet(&g));
}

static void begin(struct remote *r, struct host *h)
{
    const struct remote_work *w = &r->work;
    h->state = HOST_BEGINNING;
    if (!h->greeting.is_pool)
        h->workers = w->workers ? w->workers : remote_usual_workers(!w->made, h->greeting.cores);
    if (w->made) {
        slot_send(&h->slot, message_play(int_max(h->workers, 1)));
        return;
    }
    struct hello hello = w->hello;
    hello.calibrates = r->margin > 0 ? REMOTE_CALIBRATES : 0;
    if (!h->greeting.is_pool)
        remote_fit(&hello, h->device, h->workers, h->greeting.cores);
    slot_send(&h->slot, message_hello(&hello));
}

// Where the device is among those that it has; false: there is none like it.
static bool find_device(const struct remote *r, struct host *h)
{
    for (h->device = 0; h->device < h->devices; h->device++)
        if (gpu_is(&h->list[h->device], r->device_id))
            return true;
    return false;
}

void host_choose(struct remote *r, struct host *h)
{
    if (!r->device_id[0] || h->greeting.is_pool)
        return;
    if (!find_device(r, h))
        host_refuse(r, h, "it has not the device that this session is measured on");
    else if (!str_equal(h->greeting.compiler, r->host[0].greeting.compiler))
        host_refuse(r, h, "it compiles with another glslang than the first one");
}

void host_know(struct remote *r, struct host *h)
{
    h->state = HOST_KNOWN;
    host_choose(r, h);
    if (h->state == HOST_KNOWN && r->begun)
        begin(r, h);
}

// --- what it says. All return false when it cannot be ---

static bool take_ready(struct remote *r, struct host *h)
{
    if (h->state != HOST_BEGINNING)
        return false;
    h->state = HOST_UP;
    h->failures = 0;
    tell(r, h, "up", NULL, 0);
    return true;
}

// How a time of the fixed kernel differs from the median of the others'; NAN: there are none.
static double deviation(const struct remote *r, const double *own, double anchor_s)
{
    size_t most = 0;
    for (int i = 0; i < r->dialer->count; i++)
        most += 1 + (size_t)r->host[i].crew.count;
    double *others = mem_zero(most, sizeof *others);
    // Of all that were timed but the one that is at `own`: what the fixed kernel took there last.
    // Returns how many.
    int count = 0;
    for (int i = 0; i < r->dialer->count; i++) {
        const struct host *h = &r->host[i];
        if (&h->anchor_s != own && h->anchor_s > 0)
            others[count++] = h->anchor_s;
        for (int k = 0; k < h->crew.count; k++)
            if (&h->crew.of[k].anchor_s != own && h->crew.of[k].anchor_s > 0)
                others[count++] = h->crew.of[k].anchor_s;
    }
    median_sort(others, count);
    double share = count ? anchor_s / median_sorted(others, count) - 1 : NAN;
    free(others);
    return share;
}

// Whether who measured it, a machine or a member of a pool, still is like the others. What it
// measured may be wrong, if it is not.
static bool calibrate(struct remote *r, struct host *h, struct crew_member *of, double anchor_s)
{
    char why[200];
    double *own = of ? &of->anchor_s : &h->anchor_s;
    if (of && of->is_set_aside)
        return false;
    if (r->margin <= 0 || anchor_s <= 0)
        return true;
    double share = deviation(r, own, anchor_s);
    *own = anchor_s;
    const struct remote_news news = {.place = host_place(r, h),
                                     .machine = of ? of->greeting.machine : h->greeting.machine,
                                     .state = of && of->is_stuck ? "stuck" : "up",
                                     .fixed_s = anchor_s,
                                     .drift = share};
    if (r->work.tell)
        r->work.tell(r->work.context, &news);
    if (!(fabs(share) > r->margin))
        return true;
    snprintf(why, sizeof why,
             "a fixed kernel takes %.3g ms there, %.3g %% %s than on the others (at most %.3g %%)",
             anchor_s * 1e3, fabs(share) * 100, share > 0 ? "more" : "less", r->margin * 100);
    *own = 0;
    if (of)
        crew_set_aside(r, h, of, why);
    else
        host_refuse(r, h, why);
    return false;
}

// One that nobody asked for on this connection cannot be: who asked for it would wait for ever.
static bool take_result(struct remote *r, struct host *h, const struct message *m)
{
    int i = 0;
    while (i < h->flying.count && h->flying.item[i]->number != m->number)
        i++;
    if (i == h->flying.count)
        return false;
    struct work *w = h->flying.item[i];
    if (!work_merge(w, m) || !work_is_done(w))
        return false;
    work_list_take(&h->flying, i);
    bool pooled = h->greeting.is_pool;
    const char *machine = pooled ? m->result.machine : h->greeting.machine;
    if (!calibrate(r, h, pooled ? crew_find(&h->crew, machine) : NULL, m->result.anchor_s)) {
        work_forget(w);
        work_list_insert(&r->waiting, w);
        return true;
    }
    w->result.worker = m->result.worker;
    snprintf(w->result.machine, sizeof w->result.machine, "%s", machine);
    work_list_append(&r->done, w);
    return true;
}

static bool take_message(struct remote *r, struct host *h, struct message *m)
{
    switch (m->type) {
    case MESSAGE_ALIVE: return true;
    case MESSAGE_GREET: {
        char why[200];
        if (h->state != HOST_GREETING)
            return false;
        h->greeting = m->greeting;
        snprintf(why, sizeof why, "it has tilewalk %.*s, this is %s (install the same there)", 31,
                 m->greeting.version, TILEWALK_VERSION);
        if (!str_equal(m->greeting.version, TILEWALK_VERSION)) {
            host_refuse(r, h, why);
        } else if (r->lists) {
            h->state = HOST_LISTING;
            if (!h->greeting.is_pool)
                slot_send(&h->slot, message_list(""));
        } else {
            host_know(r, h);
        }
        return true;
    }
    case MESSAGE_DEVICES: {
        if (h->state != HOST_LISTING)
            return false;
        h->list = m->device_list;
        h->devices = m->device_count;
        m->device_list = NULL;
        host_know(r, h);
        return true;
    }
    case MESSAGE_MEMBER: return h->greeting.is_pool && crew_hear(h, m, os_now_ns());
    case MESSAGE_READY: return take_ready(r, h);
    case MESSAGE_RESULT: return take_result(r, h, m);
    case MESSAGE_FAILED: host_refuse(r, h, m->failure.text); return true;
    case MESSAGE_SAID:
        if (r->begun && r->work.log)
            r->work.log(r->work.context, m->worker, m->said);
        return true;
    default: return false;
    }
}

static bool take_text(struct remote *r, struct host *h, const char *text)
{
    struct message m;
    if (!message_parse(text, &m, NULL))
        return false;
    bool ok = take_message(r, h, &m);
    message_finish(&m);
    return ok;
}

static void hear(struct remote *r, struct host *h, int64_t now_ns)
{
    link_fill(&h->slot.link);
    while (h->slot.state != SLOT_EMPTY) {
        char *text = NULL;
        enum link_status status = link_next(&h->slot.link, &text);
        bool ok = status != LINK_GARBAGE;
        if (status == LINK_FRAME) {
            h->heard_ns = now_ns;
            ok = take_text(r, h, text);
        }
        free(text);
        if (!ok)
            lose(r, h, "what came from it is no message of an agent's", now_ns);
        else if (status == LINK_CLOSED)
            lose(r, h, "the connection was closed", now_ns);
        if (status != LINK_FRAME || !ok)
            return;
    }
}

// --- the whole ---

// Before the work begins there is time enough: the first of all may have to wake up its devices.
static int64_t silence_ns(const struct remote *r, const struct host *h)
{
    double seconds = r->begun ? r->patience_s : fmax(r->patience_s, REMOTE_PATIENCE_S);
    return (int64_t)(seconds * 1e9) * (h->state == HOST_LISTING ? LISTS_LONGER : 1);
}

// When it is to be asked whether it is alive.
static int64_t ask_ns(const struct remote *r, const struct host *h)
{
    int64_t last_ns = h->heard_ns > h->asked_ns ? h->heard_ns : h->asked_ns;
    return last_ns + silence_ns(r, h) / ASKED_ALIVE;
}

// What the agent itself, or ssh, has to say.
static void log_line(void *context, int index, const char *line)
{
    const struct remote *r = context;
    char text[1200];
    snprintf(text, sizeof text, "%s: %s", host_place(r, &r->host[index]), line);
    if (r->begun && r->work.log)
        r->work.log(r->work.context, index, text);
}

void host_step(struct remote *r, struct host *h, int64_t now_ns)
{
    if (h->state == HOST_REFUSED)
        return;
    if (h->state == HOST_DOWN) {
        if (now_ns >= h->dial_ns)
            dial(r, h, now_ns);
        return;
    }
    if (h->state == HOST_KNOWN && r->begun)
        begin(r, h);
    slot_read_log(&h->slot, log_line, r);
    hear(r, h, now_ns); // what it said comes first: we may have been stopped for a while
    if (h->slot.state == SLOT_EMPTY)
        return;
    if (now_ns > h->heard_ns + silence_ns(r, h)) {
        char how[80];
        snprintf(how, sizeof how, "nothing was heard of it for %.3g s",
                 (double)silence_ns(r, h) * 1e-9);
        lose(r, h, how, now_ns);
        return;
    }
    if (now_ns >= ask_ns(r, h)) {
        slot_send(&h->slot, message_plain(MESSAGE_ALIVE));
        h->asked_ns = now_ns;
    }
    link_flush(&h->slot.link); // when it is gone, reading will tell
    if (h->greeting.is_pool)
        crew_step(r, h, now_ns);
}

int64_t host_wake_ns(const struct remote *r, const struct host *h)
{
    if (h->state == HOST_REFUSED)
        return SLOT_NEVER;
    if (h->state == HOST_DOWN)
        return h->dial_ns;
    int64_t ask = ask_ns(r, h), silent = h->heard_ns + silence_ns(r, h);
    int64_t wake = ask < silent ? ask : silent, looks = crew_wake_ns(r, h);
    return wake < looks ? wake : looks;
}

static char *play_message(struct remote *r, struct work *w)
{
    static const struct gpu_kept none;
    struct trial_result result;
    bool settled[TRIAL_MAX_RACERS];
    double seconds;
    r->work.made->kind->answer(r->work.made, &w->request, &result, &seconds);
    for (int i = 0; i < result.count; i++)
        settled[i] = true;
    result.ticket = w->number;
    result.worker = 0;
    work_pick(w);
    return message_result(&result, w->request.only_compiles, settled, &none,
                          (int64_t)(seconds * 1e9));
}

void host_give(struct remote *r, struct host *h, struct work *w, int64_t now_ns)
{
    char *text = r->work.made ? play_message(r, w) : work_message(w, NULL);
    h->given_ns = now_ns;
    if (slot_send(&h->slot, text)) {
        work_list_append(&h->flying, w);
        return;
    }
    work_settle_rest(w, OUTCOME_COMPILE, PHASE_COMPILE, "its text is too long to be sent");
    work_list_append(&r->done, w);
}

void host_finish(struct host *h)
{
    hang_up(h);
    work_list_finish(&h->flying);
}
