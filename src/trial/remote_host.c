#include "trial/remote_host.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS     ((int64_t)1000000)
#define PAUSE_NS  (200 * MS_NS) // before it is connected again; twice as long each time
#define GATHER_NS (500 * MS_NS) // in which all members of a pool can announce themselves
#define LOOK_NS   (50 * MS_NS)

enum {
    MOST_DOUBLINGS = 6,
    LISTS_LONGER = 4, // times the usual silence
    ASKED_ALIVE = 6,  // questions while it may be silent
    MOST_MEMBERS = 4096,
    WAIT_TIMES = 10, // the silence that ends a connection
    USUAL_WORKERS = 4
};

int remote_usual_workers(int cards, int cores)
{
    return cards ? int_max(int_min(cores, cards * USUAL_WORKERS), cards) : 1;
}

void remote_fit(struct hello *h, int device, int workers, int cores)
{
    h->device = device;
    h->workers = workers;
    h->compilers = int_max(int_min(h->compilers, cores - workers), 0);
}

int64_t remote_most_wait_ns(const struct remote *r)
{
    double seconds = r->machines->wait_s > 0 ? r->machines->wait_s : r->patience_s * WAIT_TIMES;
    return (int64_t)(seconds * 1e9);
}

static const char *place_of(const struct remote *r, const struct host *h)
{
    return r->machines->name[h->slot.index];
}

// Reports news of a machine, or of a member of a pool: a pool itself has no news.
static void report(const struct remote *r, const struct host *h, const struct host_member *m,
                   struct remote_news news)
{
    news.place = place_of(r, h);
    news.machine = m ? m->greeting.machine : h->greeting.machine;
    if (r->work.tell && (m || !h->greeting.is_pool || news.fixed_s > 0))
        r->work.tell(r->work.context, &news);
}

// --- the end of a connection ---

// Moves the requests in flight to those that wait. Returns how many.
static int take_back(struct remote *r, struct host *h)
{
    int count = 0;
    while (h->in_flight.count > 0) {
        struct work *w = work_list_take_first(&h->in_flight);
        if (++w->losses >= REMOTE_MOST_LOSSES) {
            work_settle_rest(w, OUTCOME_LOST, PHASE_NONE, "each machine that had it was lost");
            work_list_append(&r->done, w);
        } else {
            work_list_insert(&r->waiting, w);
            count++;
        }
    }
    return count;
}

static void hang_up(struct host *h)
{
    slot_clear(&h->slot);
    free(h->list);
    free(h->member);
    h->list = NULL;
    h->member = NULL;
    h->devices = h->members = h->capacity = 0;
    h->anchor_s = 0;
    h->listing_ns = 0;
    h->unlike[0] = '\0';
}

// Goes on without a machine that fails before the work has begun. The last one ends the source.
static void break_off(struct remote *r, struct host *h, const char *why)
{
    if (r->begun || r->is_broken || h->is_late)
        return;
    h->is_late = true;
    r->is_broken = true;
    for (int i = 0; i < r->machines->count; i++)
        r->is_broken &= r->host[i].is_late;
    if (r->is_broken)
        err_set(&r->broken, "%s: %s", place_of(r, h), why);
    else
        log_warning("%s: %s; the run goes on with the other machines", place_of(r, h), why);
}

static void lose(struct remote *r, struct host *h, const char *how, int64_t now_ns)
{
    char why[400];
    if (h->slot.state != SLOT_EMPTY)
        slot_read_log(&h->slot, NULL, NULL);
    const char *last = h->slot.state != SLOT_EMPTY ? h->slot.last_line : "";
    snprintf(why, sizeof why, "%s%s%s%s", how, *last ? " (" : "", last, *last ? ")" : "");
    break_off(r, h, why);
    int again = take_back(r, h);
    if (h->state == HOST_UP || h->state == HOST_BEGINNING)
        report(r, h, NULL, (struct remote_news){.state = "lost", .why = why, .again = again});
    hang_up(h);
    h->state = HOST_DOWN;
    h->connect_ns = now_ns + (PAUSE_NS << int_min(h->failures++, MOST_DOUBLINGS));
}

// Ends the use of a machine that answers, but cannot be used.
static void refuse(struct remote *r, struct host *h, const char *why)
{
    break_off(r, h, why);
    int again = take_back(r, h);
    report(r, h, NULL, (struct remote_news){.state = "refused", .why = why, .again = again});
    if (r->begun && !r->broken.text[0])
        err_set(&r->broken, "%s: %s", place_of(r, h), why); // in case it is the last machine
    hang_up(h);
    h->state = HOST_REFUSED;
}

// --- the beginning of a connection ---

static void begin(struct remote *r, struct host *h)
{
    const struct remote_work *w = &r->work;
    h->state = HOST_BEGINNING;
    if (!h->greeting.is_pool)
        h->workers = w->workers ? w->workers : remote_usual_workers(!w->made, h->greeting.cores);
    if (w->made) {
        struct message play = {MESSAGE_PLAY, .workers = int_max(h->workers, 1)};
        slot_send(&h->slot, message_text(&play));
        return;
    }
    struct hello hello = w->hello;
    hello.calibrates = r->margin > 0 ? REMOTE_CALIBRATES : 0;
    if (!h->greeting.is_pool)
        remote_fit(&hello, h->device, h->workers, h->greeting.cores);
    slot_send(&h->slot, message_hello(&hello));
}

void host_choose(struct remote *r, struct host *h)
{
    if (!r->device_id[0] || h->greeting.is_pool)
        return;
    for (h->device = 0; h->device < h->devices; h->device++)
        if (gpu_is(&h->list[h->device], r->device_id))
            break;
    if (h->device == h->devices)
        refuse(r, h, "it has not the device that this session is measured on");
    else if (!str_equal(h->greeting.compiler, r->host[0].greeting.compiler))
        refuse(r, h, "it compiles with another glslang than the first one");
}

// Takes the machine to KNOWN, and further where the work has begun.
static void become_known(struct remote *r, struct host *h)
{
    h->state = HOST_KNOWN;
    host_choose(r, h);
    if (h->state == HOST_KNOWN && r->begun)
        begin(r, h);
}

// --- members of a pool ---

static struct host_member *find_member(struct host *h, const char *machine)
{
    for (int i = 0; i < h->members; i++)
        if (str_equal(h->member[i].greeting.machine, machine))
            return &h->member[i];
    return NULL;
}

// Notes a member's message. The member's device joins the list of the pool, which counts as a
// machine with all these devices, unless it has one like it.
static void take_member(struct host *h, const struct message *m, int64_t now_ns)
{
    const struct greeting *g = &m->greeting;
    char id[33];
    if (!greeting_fits(g, "a worker", h->unlike, sizeof h->unlike))
        return;
    if (!str_equal(g->compiler, h->greeting.compiler)) {
        snprintf(h->unlike, sizeof h->unlike, "%.63s compiles with %.40s, this with %.40s",
                 g->machine, g->compiler, h->greeting.compiler);
        return;
    }
    struct host_member *member = find_member(h, g->machine);
    if (!member) {
        if (m->member.leaves || h->members == MOST_MEMBERS)
            return;
        MEM_GROW(h->member, h->members, h->capacity);
        member = &h->member[h->members++];
        *member = (struct host_member){.greeting = *g};
    }
    member->last = m->member;
    member->heard_ns = now_ns;
    if (!m->device_count)
        return;
    member->device = m->device_list[0];
    gpu_identity(&member->device, id);
    for (int i = 0; i < h->devices; i++)
        if (gpu_is(&h->list[i], id))
            return;
    h->list = mem_resize(h->list, (size_t)h->devices + 1, sizeof *h->list);
    h->list[h->devices] = member->device;
    h->list[h->devices].index = h->devices;
    h->devices++;
}

// Waits, in LISTING, until a member has a device.
static void await_devices(struct remote *r, struct host *h, int64_t now_ns)
{
    char why[300];
    const char *unlike = h->unlike, *open = *unlike ? " (" : "", *close = *unlike ? ")" : "";
    double most_s = (double)remote_most_wait_ns(r) * 1e-9;
    if (!h->listing_ns)
        h->listing_ns = now_ns;
    if (now_ns < h->listing_ns + GATHER_NS)
        return;
    if (h->devices) {
        become_known(r, h);
    } else if (now_ns > h->listing_ns + remote_most_wait_ns(r)) {
        snprintf(why, sizeof why, "no worker that measures came within %.4g s%s%s%s", most_s, open,
                 unlike, close);
        refuse(r, h, why);
    } else if (!r->has_said_waits) {
        log_warning("%s: no worker there measures%s%s%s; waiting for one, up to %.4g s",
                    place_of(r, h), open, unlike, close, most_s);
        r->has_said_waits = true;
    }
}

// Reports members that come and go, and counts their places.
static void step_members(struct remote *r, struct host *h, int64_t now_ns)
{
    h->workers = 0;
    for (int i = 0; i < h->members; i++) {
        struct host_member *m = &h->member[i];
        bool silent = now_ns > m->heard_ns + (int64_t)(r->patience_s * 1e9), was_up = m->is_up;
        int places = r->work.made                       ? m->last.players
                     : m->last.measurers <= 0           ? 0
                     : gpu_is(&m->device, r->device_id) ? m->last.measurers
                                                        : 0;
        m->is_up = !m->is_set_aside && !m->last.leaves && !silent && places > 0;
        if (m->is_up != was_up && !m->is_set_aside) {
            struct remote_news news = {.state = "up"};
            if (!m->is_up && silent)
                news = (struct remote_news){.state = "lost",
                                            .why = "nothing was heard of it any more"};
            else if (!m->is_up)
                news = (struct remote_news){.state = "left",
                                            .why = m->last.why[0] ? m->last.why : "it was ended"};
            report(r, h, m, news);
        }
        bool stuck = m->is_up && m->last.why[0];
        if (stuck != m->is_stuck)
            report(r, h, m,
                   (struct remote_news){.state = stuck ? "stuck" : "up",
                                        .why = stuck ? m->last.why : NULL});
        m->is_stuck = stuck;
        h->workers += m->is_up ? places : 0;
    }
}

// --- messages. The functions return false for one that may not come now ---

// Compares the machine, or member of a pool, that measured a result with the others. False: it
// differs and is set aside, and the result may be wrong.
static bool calibrate(struct remote *r, struct host *h, struct host_member *m, double anchor_s)
{
    char why[200];
    double *own = m ? &m->anchor_s : &h->anchor_s;
    if (m && m->is_set_aside)
        return false;
    if (r->margin <= 0 || anchor_s <= 0)
        return true;
    // `share` is the difference of its time of the fixed kernel from the median of the others, as a
    // share of that; NAN: there are no others.
    size_t most = 0;
    int count = 0;
    for (int i = 0; i < r->machines->count; i++)
        most += 1 + (size_t)r->host[i].members;
    double *others = mem_zero(most, sizeof *others);
    for (int i = 0; i < r->machines->count; i++) {
        const struct host *other = &r->host[i];
        if (&other->anchor_s != own && other->anchor_s > 0)
            others[count++] = other->anchor_s;
        for (int k = 0; k < other->members; k++)
            if (&other->member[k].anchor_s != own && other->member[k].anchor_s > 0)
                others[count++] = other->member[k].anchor_s;
    }
    median_sort(others, count);
    double share = count ? anchor_s / median_sorted(others, count) - 1 : NAN;
    free(others);
    *own = anchor_s;
    report(r, h, m,
           (struct remote_news){
               .state = m && m->is_stuck ? "stuck" : "up", .fixed_s = anchor_s, .drift = share});
    if (!(fabs(share) > r->margin))
        return true;
    snprintf(why, sizeof why,
             "a fixed kernel takes %.3g ms there, %.3g %% %s than on the others (at most %.3g %%)",
             anchor_s * 1e3, fabs(share) * 100, share > 0 ? "more" : "less", r->margin * 100);
    *own = 0;
    if (m) {
        m->is_set_aside = true;
        m->is_up = false;
        struct message leave = {.type = MESSAGE_LEAVE, .greeting = m->greeting};
        snprintf(leave.member.why, sizeof leave.member.why, "%s", why);
        slot_send(&h->slot, message_text(&leave));
        report(r, h, m, (struct remote_news){.state = "refused", .why = why});
    } else {
        refuse(r, h, why);
    }
    return false;
}

// --- what is believed ---

// Judges the times of candidates by what such a device can do. One that it cannot have is a wrong
// result.
static void judge_times(const struct remote *r, struct work *w)
{
    struct trial_result *t = &w->result;
    for (int i = 0; i < t->count && !w->request.only_compiles; i++) {
        double s = t->seconds[i];
        for (int k = 0; k < t->samples[i].count; k++)
            s = fmin(s, t->samples[i].seconds[k]);
        char *reason = t->reason[i];
        if (t->outcome[i] != OUTCOME_OK || s >= fmax(r->least_s, r->peak_s))
            continue;
        if (s >= r->least_s) {
            snprintf(reason, TRIAL_REASON_SIZE,
                     "unconfirmed: it is %.3g times as fast as the peak of the device",
                     r->peak_s / s);
            continue;
        }
        snprintf(reason, TRIAL_REASON_SIZE,
                 s < r->dispatch_s ? "it was said to take %.3g s, but an empty dispatch takes "
                                     "longer on such a device"
                                   : "it was said to take %.3g s, which is more than 8 times as "
                                     "fast as the peak of such a device",
                 s);
        t->outcome[i] = OUTCOME_WRONG;
        t->phase[i] = PHASE_TIME;
        t->seconds[i] = 0;
        t->samples[i] = (struct samples){.count = 0};
    }
}

// Takes a result. One whose request is not in flight on this connection is refused.
static bool take_result(struct remote *r, struct host *h, const struct message *m)
{
    int i = 0;
    while (i < h->in_flight.count && h->in_flight.item[i]->number != m->number)
        i++;
    if (i == h->in_flight.count)
        return false;
    struct work *w = h->in_flight.item[i];
    if (!work_merge(w, m) || !work_is_done(w))
        return false;
    enum outcome told = w->result.outcome[0];
    if (r->work.made && told != OUTCOME_LOST && told != OUTCOME_COMPILE) {
        double seconds; // the result was computed here, and only played there
        r->work.made->kind->answer(r->work.made, &w->request, &w->result, &seconds);
    }
    work_list_take(&h->in_flight, i);
    bool pooled = h->greeting.is_pool;
    struct host_member *member = pooled ? find_member(h, m->result.machine) : NULL;
    w->result.worker = m->result.worker;
    snprintf(w->result.machine, sizeof w->result.machine, "%s",
             pooled ? m->result.machine : h->greeting.machine);
    snprintf(w->result.build, sizeof w->result.build, "%s",
             member ? member->greeting.build : h->greeting.build);
    judge_times(r, w);
    if (calibrate(r, h, member, m->result.anchor_s)) {
        work_list_append(&r->done, w);
    } else {
        memset(w->settled, 0, sizeof w->settled);
        w->result = (struct trial_result){.ticket = w->request.ticket, .count = w->request.count};
        work_list_insert(&r->waiting, w);
    }
    return true;
}

static bool take_message(struct remote *r, struct host *h, struct message *m)
{
    char why[200];
    switch (m->type) {
    case MESSAGE_ALIVE: return true;
    case MESSAGE_GREET:
        if (h->state != HOST_GREETING)
            return false;
        h->greeting = m->greeting;
        if (!greeting_fits(&m->greeting, "it", why, sizeof why)) {
            strncat(why, " (install the same there)", sizeof why - strlen(why) - 1);
            refuse(r, h, why);
        } else if (r->lists) {
            h->state = HOST_LISTING;
            if (!h->greeting.is_pool)
                slot_send(&h->slot, message_text(&(struct message){MESSAGE_LIST}));
        } else {
            become_known(r, h);
        }
        return true;
    case MESSAGE_DEVICES:
        if (h->state != HOST_LISTING)
            return false;
        h->list = m->device_list;
        h->devices = m->device_count;
        m->device_list = NULL;
        become_known(r, h);
        return true;
    case MESSAGE_MEMBER:
        if (h->greeting.is_pool)
            take_member(h, m, os_now_ns());
        return h->greeting.is_pool;
    case MESSAGE_READY:
        if (h->state != HOST_BEGINNING)
            return false;
        h->state = HOST_UP;
        h->failures = 0;
        report(r, h, NULL, (struct remote_news){.state = "up"});
        return true;
    case MESSAGE_RESULT: return take_result(r, h, m);
    case MESSAGE_FAILED: refuse(r, h, m->failure.text); return true;
    case MESSAGE_SAID:
        if (r->begun && r->work.log)
            r->work.log(r->work.context, m->worker, m->said);
        return true;
    default: return false;
    }
}

static void read_messages(struct remote *r, struct host *h, int64_t now_ns)
{
    link_fill(&h->slot.link);
    while (h->slot.state != SLOT_EMPTY) {
        char *text = NULL;
        struct message m;
        enum link_status status = link_next(&h->slot.link, &text);
        bool ok = status != LINK_GARBAGE;
        if (status == LINK_FRAME) {
            h->heard_ns = now_ns;
            ok = message_parse(text, &m, NULL);
        }
        if (status == LINK_FRAME && ok) {
            ok = take_message(r, h, &m);
            message_finish(&m);
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

// --- the loop ---

// The time for which the machine may be silent. It is longer before the work begins, as drivers may
// take a while to start.
static int64_t silence_ns(const struct remote *r, const struct host *h)
{
    double seconds = r->begun ? r->patience_s : fmax(r->patience_s, REMOTE_PATIENCE_S);
    // A command may stand in a queue before it is started.
    bool may_queue = h->state == HOST_GREETING && str_starts(place_of(r, h), REMOTE_EXEC);
    if (may_queue && r->machines->wait_s > 0)
        seconds = r->machines->wait_s;
    return (int64_t)(seconds * 1e9) * (h->state == HOST_LISTING ? LISTS_LONGER : 1);
}

// Logs a line of the agent itself, or of ssh.
static void remote_log_line(void *context, int index, const char *line)
{
    const struct remote *r = context;
    char text[1200];
    snprintf(text, sizeof text, "%s: %s", r->machines->name[index], line);
    if (r->begun && r->work.log)
        r->work.log(r->work.context, index, text);
}

void host_step(struct remote *r, struct host *h, int64_t now_ns)
{
    if (h->state == HOST_REFUSED)
        return;
    if (h->state == HOST_DOWN) {
        struct child child;
        struct err e;
        if (now_ns < h->connect_ns)
            return;
        if (!spawner_spawn(r->machines->spawner, h->slot.index, NULL, &child, &e)) {
            lose(r, h, e.text, now_ns);
            return;
        }
        slot_take(&h->slot, &child);
        h->state = HOST_GREETING;
        h->heard_ns = h->asked_ns = now_ns;
        struct message greet = {MESSAGE_GREET, .greeting = greeting_of_this()};
        slot_send(&h->slot, message_text(&greet));
        return;
    }
    if (h->state == HOST_KNOWN && r->begun)
        begin(r, h);
    slot_read_log(&h->slot, remote_log_line, r);
    read_messages(r, h, now_ns); // first, as this process may have been stopped for a while
    if (h->slot.state == SLOT_EMPTY)
        return;
    if (now_ns > h->heard_ns + silence_ns(r, h)) {
        char how[80];
        snprintf(how, sizeof how, "nothing was heard of it for %.3g s",
                 (double)silence_ns(r, h) * 1e-9);
        lose(r, h, how, now_ns);
        return;
    }
    if (now_ns >= int64_max(h->heard_ns, h->asked_ns) + silence_ns(r, h) / ASKED_ALIVE) {
        slot_send(&h->slot, message_plain(MESSAGE_ALIVE));
        h->asked_ns = now_ns;
    }
    link_flush(&h->slot.link); // reading finds out when it has gone
    if (h->greeting.is_pool && h->state == HOST_LISTING)
        await_devices(r, h, now_ns);
    if (h->greeting.is_pool && h->state == HOST_UP)
        step_members(r, h, now_ns);
}

int64_t host_wake_ns(const struct remote *r, const struct host *h)
{
    if (h->state == HOST_REFUSED)
        return SLOT_NEVER;
    if (h->state == HOST_DOWN)
        return h->connect_ns;
    int64_t ask_ns = int64_max(h->heard_ns, h->asked_ns) + silence_ns(r, h) / ASKED_ALIVE;
    int64_t wake_ns = int64_min(ask_ns, h->heard_ns + silence_ns(r, h));
    return h->state == HOST_LISTING ? int64_min(wake_ns, os_now_ns() + LOOK_NS) : wake_ns;
}

// Sends a request. Where the source is synthetic, its result is computed here and the machine plays
// it.
void host_give(struct remote *r, struct host *h, struct work *w, int64_t now_ns)
{
    struct source *made = r->work.made;
    char *text;
    if (made) {
        static const struct gpu_kept none;
        struct trial_result result;
        bool settled[TRIAL_MAX_RACERS];
        double seconds;
        made->kind->answer(made, &w->request, &result, &seconds);
        for (int i = 0; i < result.count; i++)
            settled[i] = true;
        result.ticket = w->number;
        result.worker = 0;
        work_pick(w);
        text = message_result(&result, w->request.only_compiles, settled, &none,
                              (int64_t)(seconds * 1e9));
    } else {
        text = work_message(w, NULL);
    }
    h->given_ns = now_ns;
    if (slot_send(&h->slot, text)) {
        work_list_append(&h->in_flight, w);
        return;
    }
    work_settle_rest(w, OUTCOME_COMPILE, PHASE_COMPILE, "its text is too long to be sent");
    work_list_append(&r->done, w);
}

void host_finish(struct host *h)
{
    hang_up(h);
    work_list_finish(&h->in_flight);
}
