// The sessions of a network's tasks: begun, taken up again, put to sleep and woken.
#include "engine/network_run.h"
#include "engine/session_setup.h"
#include "engine/stored.h"

#include <inttypes.h>

#define MOST_AWAKE 4 // tasks whose workers wait for their next round

// What a task's session says is told as the network's; how that session fares is not.
static void hear(void *context, const struct event *event)
{
    if (event->kind != EVENT_SESSION && event->kind != EVENT_STATE && event->kind != EVENT_END)
        network_emit(context, *event);
}

static struct session_host host_of_tasks(struct network_run *n)
{
    return (struct session_host){n->host.store, hear, n};
}

// The sessions of this network that a task's model may learn from.
static const char *begun_before(struct network_run *n)
{
    struct str list = {0};
    for (int i = 0; i < n->count; i++)
        if (n->member[i].record.session)
            str_printf(&list, "%s%" PRId64, list.length ? "," : "", n->member[i].record.session);
    const char *kept = list.length ? arena_strdup(&n->arena, str_text(&list)) : NULL;
    str_finish(&list);
    return kept;
}

static bool start_task(struct network_run *n, struct network_member *m, struct err *e)
{
    struct session_host host = host_of_tasks(n);
    struct session_options o = n->each;
    o.space = m->record.preset;
    o.set = stored_settings(m->record.settings, &n->arena, &o.set_count);
    o.network = n->record.id;
    o.task = m->record.name;
    o.has_seed = true;
    o.seed = n->record.seed + (uint64_t)m->record.position;
    o.trials = m->granted;
    o.earlier = begun_before(n);
    m->session = session_start(&host, &o, e);
    if (!m->session)
        return err_prefix(e, "%s", m->record.name);
    m->record.session = m->session->record.id;
    return store_set_task(n->host.store, n->record.id, m->record.position, m->record.session, e);
}

// A task that began just before the process died is known by its session alone.
static bool find_begun(struct network_run *n, struct network_member *m, struct err *e)
{
    struct arena a;
    struct session_record *list;
    int count;
    arena_init(&a);
    bool ok = store_list_sessions(n->host.store, &a, &list, &count, e);
    for (int i = 0; ok && i < count; i++)
        if (list[i].network == n->record.id && str_equal(list[i].task, m->record.name))
            m->record.session = list[i].id;
    arena_finish(&a);
    return ok && (!m->record.session || store_set_task(n->host.store, n->record.id,
                                                       m->record.position, m->record.session, e));
}

static bool resume_task(struct network_run *n, struct network_member *m, struct err *e)
{
    struct session_host host = host_of_tasks(n);
    struct session_options more = n->each;
    more.trials = m->granted;
    m->session = session_resume(&host, m->record.session, &more, e);
    return m->session != NULL || err_prefix(e, "%s", m->record.name);
}

// The workers of the one that has waited longest go.
static void put_to_sleep(struct network_run *n, const struct network_member *but)
{
    struct network_member *oldest = NULL;
    int awake = 0;
    for (int i = 0; i < n->count; i++) {
        struct network_member *m = &n->member[i];
        if (m == but || !m->session || !m->session->source)
            continue;
        awake++;
        if (!oldest || m->woken < oldest->woken)
            oldest = m;
    }
    if (awake < MOST_AWAKE)
        return;
    source_destroy(oldest->session->source);
    oldest->session->source = NULL;
}

bool network_open_task(struct network_run *n, struct network_member *m, struct err *e)
{
    put_to_sleep(n, m);
    m->woken = n->round.number;
    if (!m->session && !m->record.session && !find_begun(n, m, e))
        return false;
    if (!m->session)
        return m->record.session ? resume_task(n, m, e) : start_task(n, m, e);
    return m->session->source || session_ended(m->session) ||
           session_place_make_source(m->session, &n->place, n->each.validate, n->each.fault, e);
}
