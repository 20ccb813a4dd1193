#include "pool_run.h"

#include "base/str.h"

#include <stdlib.h>

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
    return START(b, "worker", "--pool", s->url, "--device", "none");
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

struct scene begin_scene(struct box *b, int workers)
{
    return begin_scene_of(b, SLOW, workers);
}

struct scene begin_scene_of(struct box *b, const char *source, int workers)
{
    struct scene s = {.server = pool_start(b, "")};
    begin_with_ours(b, "random");
    for (int i = 0; i < workers; i++)
        s.worker[i] = start_worker(b, &s.server);
    s.run = BEGIN(b, source, "--strategy", "random", "--pool", s.server.url);
    wait_for_trials(b, 2, 5);
    return s;
}
