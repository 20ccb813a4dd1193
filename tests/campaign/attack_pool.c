// Liars in a pool. One who reaches a server without users hears each trial and gives results for
// it, copies it, and announces workers that are none: the run stores what an undisturbed run
// stores, and warns. Where the server has the users and rights of docs/fleet/pool.conf, neither a
// stranger nor another worker's user gets so far.
#include "campaign.h"
#include "pool_server.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { TRIALS = 60, LIES = 25 };

struct field {
    struct attempt *a;
    struct pool_server server;
    struct running *worker, *run;
    const char *seed;
};

static const char *const source = "synthetic:rugged:seed=3:invalid=0.2:delay_us=20000";

static void start(struct field *f, const char *worker, const char *run)
{
    struct box *b = f->a->box;
    const char *const tune[] = {"tune",       flow_path(b, "small.lua"),
                                "--source",   source,
                                "--strategy", "random",
                                "--trials",   arena_printf(&b->arena, "%d", TRIALS),
                                "--seed",     f->seed,
                                "--json",     "--on",
                                run,          NULL};
    f->worker = START(b, "worker", worker, "--device", "none");
    note_command(tune);
    f->run = start_list(b, tune);
}

static const char *undisturbed(struct field *f)
{
    struct box *b = f->a->box;
    box_set(b, "TILEWALK_DB", box_path(b, "undisturbed.db"));
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source",
                          "synthetic:rugged:seed=3:invalid=0.2", "--strategy", "random", "--trials",
                          arena_printf(&b->arena, "%d", TRIALS), "--seed", f->seed, "--plain");
    assert_ok(&r);
    const char *wanted = sequence(b, 1);
    box_set(b, "TILEWALK_DB", box_path(b, "tilewalk.db"));
    return wanted;
}

// "tw.job.CLASS.RUN.NUMBER", and its text, of "HMSG tw.job. ... \r\n...\r\n\r\n{...}\r\n".
struct job {
    const char *subject, *result, *text;
};

static struct job hear_job(struct attempt *a, int hand)
{
    struct arena *m = &a->box->arena;
    const char *heard = pool_listen(a->box, hand, "tw.job.");
    const char *text = strstr(heard, "\r\n\r\n{");
    struct job j = {arena_printf(m, "%.*s", (int)strcspn(heard, " "), heard), .text = "{}"};
    const char *run = strchr(j.subject + strlen("tw.job."), '.');
    j.result = arena_printf(m, "tw.result%s", run ? run : ".0.0");
    if (text)
        j.text = arena_printf(m, "%.*s", (int)strcspn(text + 4, "\r"), text + 4);
    return j;
}

// Returns whether it is a result, which the run drops.
static bool lie(struct attempt *a, int hand, const struct job *j)
{
    static const char member[] =
        "{\"type\":\"member\",\"protocol\":2,\"machine\":\"\x1b]0;owned\x07\"}";
    const char *rest = strstr(j->text, "\"outcome\":\"ok\"");
    char bytes[400];
    switch (below(a, 6)) {
    case 0: pool_publish(hand, j->result, j->text); return true;
    case 1:
        if (rest)
            pool_publish(hand, j->result,
                         arena_printf(&a->box->arena, "%.*s\"outcome\":\"crash\"%s",
                                      (int)(rest - j->text), j->text,
                                      rest + strlen("\"outcome\":\"ok\"")));
        return rest != NULL;
    case 2:
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)(1 + below(a, 255));
        bytes[sizeof bytes - 1] = '\0';
        pool_publish(hand, j->result, bytes);
        return true;
    case 3: pool_publish(hand, j->subject, j->text); return false;
    case 4: pool_publish(hand, "tw.here.x", member); return false;
    default: pool_publish(hand, j->subject, "[[[["); return false;
    }
}

static void try_open(struct field *f)
{
    struct attempt *a = f->a;
    bool lied = false;
    f->server = pool_start(a->box, "");
    int hand = pool_talk(&f->server);
    start(f, f->server.url, f->server.url);
    for (int i = 0; i < LIES; i++) {
        struct job j = hear_job(a, hand);
        lied |= lie(a, hand, &j);
    }
    struct result r = finish(a->box, f->run);
    close(hand);
    if (r.code != 0)
        fail_msg("exit code %d: %.300s", r.code, r.err);
    if (!strstr(r.err, "there are no credentials"))
        fail_msg("it did not warn of a server without users: %.300s", r.err);
    if (strstr(r.out, "dropped: whoever") && !lied)
        fail_msg("results were dropped, but nobody lied");
}

static void try_users(struct field *f)
{
    static const char *const subjects[] = {"tw.result.00.1", "tw.job.x.00.1", "tw.run.00",
                                           "tw.over.00", "$JS.API.STREAM.DELETE.TWJOBS"};
    struct attempt *a = f->a;
    struct box *b = a->box;
    box_set(b, "POOL_RUN", "r");
    box_set(b, "POOL_ONE", "w");
    box_set(b, "POOL_TWO", "x");
    const char *config = box_read(b, flow_path(b, "../../docs/fleet/pool.conf"));
    f->server = pool_start(b, strstr(config, "accounts {"));
    int stranger = pool_talk(&f->server);
    pool_listen(b, stranger, "Authorization Violation");
    close(stranger);
    int two =
        pool_talk_as(&f->server, "\"user\":\"two\",\"pass\":\"x\",", below(a, 2) ? ">" : "tw.>");
    pool_listen(b, two, "Permissions Violation for Subscription");
    start(f, arena_printf(&b->arena, "nats://one:w@127.0.0.1:%d", f->server.port),
          arena_printf(&b->arena, "nats://run:r@127.0.0.1:%d", f->server.port));
    for (int i = 0; i < LIES; i++) {
        pool_publish(two, PICK(a, subjects), "{}");
        rest_ms(below(a, 30));
    }
    struct result r = finish(b, f->run);
    close(two);
    if (r.code != 0)
        fail_msg("exit code %d: %.300s", r.code, r.err);
    if (strstr(r.out, "dropped: whoever"))
        fail_msg("another user's results reached the run");
}

static void attempt(struct attempt *a)
{
    struct box *b = a->box;
    struct field f = {.a = a};
    f.seed = arena_printf(&b->arena, "%d", (int)below(a, 1000));
    const char *wanted = undisturbed(&f);
    if (a->number % 2)
        try_users(&f);
    else
        try_open(&f);
    if (strcmp(sequence(b, 1), wanted) != 0 || trials_of(b, 1) != TRIALS)
        fail_msg("another sequence, or %" PRId64 " trials of %d", trials_of(b, 1), TRIALS);
    send_signal(f.worker, SIGKILL);
    finish(b, f.worker);
    pool_kill(b, &f.server);
}

static int64_t count(const struct attempt *a)
{
    (void)a;
    return pool_server_program() ? 0 : -1;
}

const struct attack attack_pool = {
    .name = "pool",
    .what = "who lies in a pool, with users and without",
    .share = 1,
    .count = count,
    .attempt = attempt,
};
