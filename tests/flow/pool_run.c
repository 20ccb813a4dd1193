#include "pool_run.h"

#include "base/str.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 10 };

static const char *const seeds[] = {"--seed", "5", "--trials", "60", "--json"};

struct words {
    const char *word[40];
    int count;
};

static struct words words_of(struct box *b, const char *source, const char *const *more)
{
    struct words w = {.word = {"tune", flow_path(b, "small.lua"), "--source", source}, .count = 4};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        w.word[w.count++] = seeds[i];
    while (*more)
        w.word[w.count++] = *more++;
    return w;
}

struct result tune_list(struct box *b, const char *source, const char *const *more)
{
    return run_list(b, words_of(b, source, more).word);
}

struct running *begin_list(struct box *b, const char *source, const char *const *more)
{
    return start_list(b, words_of(b, source, more).word);
}

struct running *start_worker(struct box *b, const struct pool_server *s)
{
    return START(b, "worker", s->url, "--device", "none");
}

void begin_with_ours(struct box *b, const char *strategy)
{
    struct result r = TUNE(b, QUICK, "--strategy", strategy);
    assert_ok(&r);
}

void check_same(struct box *b, const struct result *r, int64_t id)
{
    assert_ok(r);
    assert_string_equal(sequence(b, id), sequence(b, 1));
}

const cJSON *machines_of(struct box *b, const char *id)
{
    struct result r = RUN(b, "fleet", id, "--json");
    assert_ok(&r);
    return member(json_of(b, r.out), "machines");
}

int at_work(struct box *b, const char *id)
{
    const cJSON *machine, *machines = machines_of(b, id);
    int count = 0, trials = 0;
    cJSON_ArrayForEach(machine, machines)
    {
        count += number_of(machine, "trials") > 0;
        trials += (int)number_of(machine, "trials");
    }
    assert_int_equal(trials, trials_of(b, atoi(id)));
    return count;
}

static bool measures(struct box *b, void *context)
{
    return strstr(printed_so_far(b, context), " measures") != NULL;
}

void wait_for_worker(struct box *b, const struct running *worker)
{
    struct running copy = *worker;
    wait_until(b, "the worker's word that it measures", measures, &copy);
}

void go_on(const struct running *r)
{
    send_signal(r, SIGCONT);
}

// Returns false where the run had most of its trials before it was stopped, because this program
// had to wait for a processor. Then there is no session 2 again.
static bool freeze_in_the_middle(struct box *b, struct scene *s)
{
    s->run = BEGIN(b, SLOW, "--strategy", "random", "--on", s->server.url);
    wait_for_trials(b, 2, 5);
    freeze(s->run);
    if (stored_trials(b, 2) <= 30)
        return true;
    send_signal(s->run, SIGKILL);
    finish(b, s->run);
    struct result r = RUN(b, "rm", "--purge", "2");
    assert_ok(&r);
    tamper(b, "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'session'");
    return false;
}

struct scene begin_scene(struct box *b, int workers)
{
    struct scene s = {.server = pool_start(b, "")};
    int tries = 1;
    begin_with_ours(b, "random");
    for (int i = 0; i < workers; i++) {
        s.worker[i] = start_worker(b, &s.server);
        wait_for_worker(b, s.worker[i]);
    }
    while (!freeze_in_the_middle(b, &s))
        if (++tries > MOST_TRIES)
            fail_msg("%d runs had most of their trials before they could be stopped", MOST_TRIES);
    return s;
}
