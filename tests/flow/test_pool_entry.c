// Entry to a pool: passwords, credentials, certificates, rights, and their errors; and messages
// that a server refuses.
#include "group.h"
#include "pool_run.h"

#include "base/file.h"
#include "base/str.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void test_refused(void **state)
{
    struct box *b = *state;
    struct pool_server s =
        pool_start(b, "authorization { timeout: 60, users = [ { user: a, password: right } ] }\n");
    struct result r = TUNE(b, QUICK, "--on", s.url);
    assert_refused(&r, 1, s.url, "Authorization Violation");
    const char *url = arena_printf(&b->arena, "nats://a:wrong@127.0.0.1:%d", s.port);
    r = TUNE(b, QUICK, "--on", url);
    assert_refused(&r, 1, s.url, "Authorization Violation");
    assert_null(strstr(r.err, "wrong"));
    r = RUN(b, "worker", url);
    assert_refused(&r, 1, "Authorization Violation", NULL);
    r = TUNE(b, QUICK, "--on", s.url, "--credentials", box_path(b, "none.creds"));
    assert_refused(&r, 1, "none.creds: ", NULL);
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 0);
    r = RUN(b, "worker");
    assert_refused(&r, 2, "missing the server of the pool", "nats://HOST");
    r = TUNE(b, QUICK, "--on", "127.0.0.1");
    assert_refused(&r, 2, "'127.0.0.1'", "nats://HOST");
    pool_kill(b, &s);
    r = TUNE(b, QUICK, "--on", s.url);
    assert_refused(&r, 1, s.url, "available");
}

// A client without the rights of a run gets an error.
static void test_not_permitted(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(
        b, "authorization { timeout: 60, users = [ { user: w, password: w, permissions: {\n"
           "  publish: { deny: [\"$JS.API.STREAM.CREATE.>\"] } } } ] }\n");
    const char *url = arena_printf(&b->arena, "nats://w:w@127.0.0.1:%d", s.port);
    struct result r = TUNE(b, QUICK, "--on", url);
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "ermissions");
}

static bool says_stuck(struct box *b, void *context)
{
    return strstr(printed_so_far(b, context), "is stuck: its results are not kept: ") != NULL;
}

// The first trial fills the server: the worker keeps its result, and the run that waits gets the
// reason.
static void test_full(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "jetstream { max_file_store: 200, max_mem: 200 }\n");
    start_worker(b, &s);
    struct running *run = BEGIN(b, QUICK, "--strategy", "random", "--on", s.url);
    wait_until(b, "a word about the server", says_stuck, run);
    send_signal(run, SIGINT);
    assert_int_equal(finish(b, run).code, 128 + SIGINT);
    assert_string_equal(state_of(b, 1), "paused");
}

static void test_too_long(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "max_payload: 1100\n");
    start_worker(b, &s);
    struct result r = TUNE(b, QUICK, "--strategy", "random", "--on", s.url);
    struct events events = events_of(b, r.out);
    const cJSON *trial = first_event(&events, "trial");
    assert_string_equal(text_of(trial, "outcome"), "compile");
    assert_contains(text_of(trial, "reason"), "longer than the pool's server takes");
}

static void test_nobody(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    struct result r = TUNE(b, QUICK, "--on", s.url, "--wait", "0.5");
    assert_int_equal(r.code, 1);
    assert_contains(r.err, " 0.5 s");
    assert_string_equal(state_of(b, 1), "failed");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--pool", s.url, "--wait", "0.2"); // as before
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "no worker that measures came within 0.2 s");
}

// Lists the devices, and waits for another one.
static void test_other_device(void **state)
{
    struct box *b = *state;
    if (!has_device())
        return;
    struct pool_server s = pool_start(b, "");
    struct running *worker = START(b, "worker", s.url);
    wait_for_worker(b, worker);
    struct result r = {.code = 1};
    // Waits until the worker, which may wait for a processor, has answered within the time.
    for (double wait_s = 0.3; r.code == 1 && wait_s < 100; wait_s *= 3)
        r = RUN(b, "tune", flow_path(b, "small.lua"), "--on", s.url, "--device", "nowhere",
                "--wait", arena_printf(&b->arena, "%g", wait_s));
    assert_int_equal(r.code, 2);
    assert_contains(r.err, "'nowhere'");
}

// All have the rights of docs/fleet/pool.conf; a worker cannot submit trials, and does not learn
// what others take.
static void test_rights(void **state)
{
    struct box *b = *state;
    box_set(b, "POOL_RUN", "r");
    box_set(b, "POOL_ONE", "w");
    box_set(b, "POOL_TWO", "x");
    const char *config = box_read(b, flow_path(b, "../../docs/fleet/pool.conf"));
    struct pool_server s = pool_start(b, strstr(config, "accounts {")); // its storage is in the box
    const char *run = arena_printf(&b->arena, "nats://run:r@127.0.0.1:%d", s.port);
    const char *worker = arena_printf(&b->arena, "nats://one:w@127.0.0.1:%d", s.port);
    int hand = pool_talk_as(&s, "\"user\":\"two\",\"pass\":\"x\",", "_INBOX.one.>");
    pool_listen(b, hand, "Permissions Violation for Subscription");
    close(hand);
    begin_with_ours(b, "random");
    START(b, "worker", worker, "--device", "none");
    struct result r = TUNE(b, QUICK, "--strategy", "random", "--on", run);
    check_same(b, &r, 2);
    assert_string_equal(r.err, ""); // no warning
    r = TUNE(b, QUICK, "--strategy", "random", "--on", worker);
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "ermissions Violation");
}

// Each command that connects warns once.
static void test_warned(void **state)
{
    static const char open[] = "there are no credentials", plain[] = "there is no TLS";
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    box_set(b, "TILEWALK_LINK_SECONDS", "1");
    struct result r = RUN(b, "fleet", "drain", "nobody", "--on", s.url);
    assert_int_equal(count_parts(r.err, open), 1);
    assert_null(strstr(r.err, plain));
    r = RUN(b, "worker", s.url, "--device", "none", "--idle-exit", "0.1");
    assert_int_equal(count_parts(r.err, open), 1);
    start_worker(b, &s);
    for (int i = 0; i < 2; i++) {
        r = TUNE(b, QUICK, "--strategy", "random", "--on", s.url);
        assert_ok(&r);
        assert_int_equal(count_parts(r.err, open), 1);
    }
    r = RUN(b, "fleet", "drain", "nobody", "--on", "nats://a:secret@pool.invalid");
    assert_int_equal(count_parts(r.err, plain), 1);
    assert_null(strstr(r.err, open));
    assert_null(strstr(r.err, "secret"));
    r = RUN(b, "fleet", "drain", "nobody", "--on", "tls://a:secret@pool.invalid");
    assert_int_equal(count_parts(r.err, "warning"), 0);
}

// Credentials are files as nsc writes them; made once, with keys that are used nowhere else.
static void test_credentials(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, box_read(b, flow_path(b, "pool/operator.conf")));
    const char *lab = flow_path(b, "pool/lab.creds"), *other = flow_path(b, "pool/stranger.creds");
    begin_with_ours(b, "random");
    START(b, "worker", s.url, "--device", "none", "--credentials", lab);
    struct result r = TUNE(b, QUICK, "--strategy", "random", "--on", s.url, "--credentials", lab);
    check_same(b, &r, 2);
    r = TUNE(b, QUICK, "--on", s.url, "--credentials", other);
    assert_refused(&r, 1, s.url, "Authorization Violation");
    r = RUN(b, "worker", s.url, "--device", "none", "--credentials", other);
    assert_refused(&r, 1, "Authorization Violation", NULL);
    r = TUNE(b, QUICK, "--on", s.url, "--credentials", flow_path(b, "small.lua"));
    assert_refused(&r, 1, "small.lua", NULL);
    r = TUNE(b, QUICK, "--on", s.url);
    assert_refused(&r, 1, s.url, "Authorization Violation");
    // The file of hosts names them too.
    struct err e;
    box_set(b, "XDG_CONFIG_HOME", box_path(b, "config"));
    assert_true(file_make_folders(box_path(b, "config/tilewalk"), &e));
    box_write(b, "config/tilewalk/hosts.conf",
              arena_printf(&b->arena, "%s = credentials=%s wait=60\n", s.url, lab));
    r = TUNE(b, QUICK, "--strategy", "random", "--on", s.url);
    check_same(b, &r, 3);
    box_write(b, "config/tilewalk/hosts.conf", arena_printf(&b->arena, "%s = wait=-1\n", s.url));
    r = TUNE(b, QUICK, "--on", s.url);
    assert_refused(&r, 1, "hosts.conf:1: ", "wait=-1");
}

// Makes a certificate for this machine and its authority; returns false where there is no openssl.
static bool make_certificates(struct box *b)
{
    static const char script[] =
        "cd \"$0\" && exec 2>openssl.log && command -v openssl >/dev/null && "
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ours -keyout ca.key "
        "-out ca.pem && openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key "
        "-out server.csr && echo subjectAltName=DNS:localhost >names && "
        "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 "
        "-extfile names -out server.pem";
    const char *program = b->program;
    b->program = "/bin/sh";
    struct result r = RUN(b, "-c", script, b->folder);
    b->program = program;
    return r.code == 0;
}

static void test_tls(void **state)
{
    struct box *b = *state;
    if (!make_certificates(b)) {
        print_message("there is no openssl: no server with TLS was tried\n");
        return;
    }
    const char *config =
        arena_printf(&b->arena, "tls { timeout: 60, cert_file: \"%s\", key_file: \"%s\" }\n",
                     box_path(b, "server.pem"), box_path(b, "server.key"));
    struct pool_server s = pool_start(b, config);
    const char *url = arena_printf(&b->arena, "tls://localhost:%d", s.port);
    const char *ca = box_path(b, "ca.pem");
    begin_with_ours(b, "random");
    START(b, "worker", url, "--device", "none", "--ca", ca);
    struct result r = TUNE(b, QUICK, "--strategy", "random", "--on", url, "--ca", ca);
    check_same(b, &r, 2);
    r = TUNE(b, QUICK, "--on", url); // the system does not know who signed it
    assert_refused(&r, 1, url, "certificate");
    r = TUNE(b, QUICK, "--on", url, "--ca", flow_path(b, "small.lua"));
    assert_refused(&r, 1, "small.lua", NULL);
    const char *wrong = arena_printf(&b->arena, "tls://127.0.0.1:%d", s.port);
    r = TUNE(b, QUICK, "--on", wrong, "--ca", ca); // it is another's name
    assert_refused(&r, 1, wrong, "mismatch");
}

// --- of a program that was built without pools ---

static void test_not_built(void **state)
{
    struct box *b = *state;
    static const char url[] = "nats://127.0.0.1:1", why[] = "was built without pools";
    struct result r = TUNE(b, QUICK, "--on", url);
    assert_refused(&r, 1, url, why);
    r = RUN(b, "worker", url, "--device", "none");
    assert_refused(&r, 1, why, NULL);
    r = RUN(b, "fleet", "drain", "nobody", "--on", url);
    assert_refused(&r, 1, why, NULL);
    assert_contains(RUN(b, "doctor", "--on", url).out, why);
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 0);
}

TEST_GROUP(pool_entry)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_refused),  FLOW_TEST(test_not_permitted), FLOW_TEST(test_full),
        FLOW_TEST(test_too_long), FLOW_TEST(test_nobody),        FLOW_TEST(test_other_device),
        FLOW_TEST(test_rights),   FLOW_TEST(test_warned),        FLOW_TEST(test_credentials),
        FLOW_TEST(test_tls),
    };
    const struct CMUnitTest without[] = {FLOW_TEST(test_not_built)};
    if (!getenv("TILEWALK_POOLS"))
        return cmocka_run_group_tests(without, NULL, NULL);
    if (!pool_server_program()) {
        printf("skipped: there is no nats-server\n");
        return EXIT_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
