// Trials that agents measure: --on local:, and --on ssh: by a stand-in for ssh whose line is slow,
// stalls, breaks, and ends for good (relay.c).
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIALS "40"
#define SOURCE "synthetic:rugged:invalid=0.2"

static struct result tune(struct box *b, const char *const *more)
{
    const char *words[40] = {
        "tune",  flow_path(b, "small.lua"), "--source", SOURCE, "--seed", "5", "--trials", TRIALS,
        "--json"};
    int n = 9;
    while (*more)
        words[n++] = *more++;
    return run_list(b, words);
}
#define TUNE(b, ...) tune((b), (const char *const[]){__VA_ARGS__, NULL})

// `ssh` is found in a folder of the box.
static void take_relay(struct box *b, const char *how)
{
    const char *bin = box_path(b, "bin"), *relay = getenv("TILEWALK_TEST_RELAY");
    struct err e;
    assert_true(file_make_folders(bin, &e));
    assert_int_equal(symlink(relay, arena_printf(&b->arena, "%s/ssh", bin)), 0);
    box_set(b, "PATH", arena_printf(&b->arena, "%s:%s", bin, getenv("PATH")));
    box_set(b, "TILEWALK_PROGRAM", getenv("TILEWALK_PROGRAM"));
    box_set(b, "TILEWALK_RELAY",
            arena_printf(&b->arena, "%s count=%s", how, box_path(b, "connections")));
}

// Returns the number of different machines; all trials have one, or none has.
static int machines_of(struct box *b, const char *out)
{
    const char *seen[100];
    struct events events = events_of(b, out);
    int count = 0, without = 0, trials = count_events(&events, "trial");
    for (int i = 0; i < events.count; i++) {
        if (strcmp(text_of(events.line[i], "event"), "trial") != 0)
            continue;
        without += is_null(events.line[i], "machine");
        if (is_null(events.line[i], "machine"))
            continue;
        const char *machine = text_of(events.line[i], "machine");
        bool known = false;
        for (int k = 0; k < count; k++)
            known |= strcmp(seen[k], machine) == 0;
        if (!known && count < 100)
            seen[count++] = machine;
    }
    assert_true(without == 0 || without == trials);
    return count;
}

// Session 1 is the one that ran here, undisturbed.
static void check_same(struct box *b, int64_t id)
{
    assert_string_equal(sequence(b, id), sequence(b, 1));
}

static void test_local(void **state)
{
    struct box *b = *state;
    struct result r = TUNE(b, "--strategy", "walk");
    assert_ok(&r);
    assert_int_equal(machines_of(b, r.out), 0);
    r = TUNE(b, "--strategy", "walk", "--on", "local:");
    assert_ok(&r);
    assert_int_equal(machines_of(b, r.out), 1);
    check_same(b, 2);
    r = TUNE(b, "--strategy", "walk", "--on", "local:", "--on", "local:", "--on=local:");
    assert_ok(&r);
    assert_int_equal(machines_of(b, r.out), 3);
    check_same(b, 3);
}

// Four workers here, and at two machines.
static void test_workers(void **state)
{
    struct box *b = *state;
    struct result r = TUNE(b, "--strategy", "ga", "--workers", "4");
    assert_ok(&r);
    r = TUNE(b, "--strategy", "ga", "--workers", "2", "--on", "local:", "--on", "local:");
    assert_ok(&r);
    assert_int_equal(machines_of(b, r.out), 2);
    check_same(b, 2);
}

static void test_recording(void **state)
{
    struct box *b = *state;
    const char *folder = box_path(b, "recorded");
    struct result r = TUNE(b, "--strategy", "grid");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--as", "recording", "--out", folder, "--json");
    assert_ok(&r);
    const char *source = arena_printf(&b->arena, "replay:%s/small-1.json", folder);
    r = RUN(b, "tune", "--source", source, "--seed", "1", "--trials", "20", "--json");
    assert_ok(&r);
    r = RUN(b, "tune", "--source", source, "--seed", "1", "--trials", "20", "--json", "--on",
            "local:");
    assert_ok(&r);
    assert_string_equal(sequence(b, 2), sequence(b, 3));
}

static void check_bad_line(struct box *b, const char *how)
{
    struct result r = TUNE(b, "--strategy", "random");
    assert_ok(&r);
    take_relay(b, how);
    r = TUNE(b, "--strategy", "random", "--on", "ssh:far", "--workers", "4", "--wait", "60");
    assert_ok(&r);
    check_same(b, 2);
}

static void test_slow(void **state)
{
    check_bad_line(*state, "delay=200");
}

static void test_cut(void **state)
{
    struct box *b = *state;
    check_bad_line(b, "cut=1");
    assert_true(strlen(box_read(b, box_path(b, "connections"))) > 1);
}

static void test_stalls(void **state)
{
    struct box *b = *state;
    box_set(b, "TILEWALK_LINK_SECONDS", "1");
    check_bad_line(b, "stall=1");
    assert_true(strlen(box_read(b, box_path(b, "connections"))) > 1);
}

static void test_killed(void **state)
{
    struct box *b = *state;
    check_bad_line(b, "kill=1");
    assert_true(strlen(box_read(b, box_path(b, "connections"))) > 1);
}

// A trial that ends every machine is not retried for ever.
static void test_to_blame(void **state)
{
    struct box *b = *state;
    take_relay(b, "kill=1 least=400 most=1");
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl:delay_us=20000",
            "--trials", "1", "--json", "--on", "ssh:far");
    assert_int_equal(r.code, 3);
    struct events events = events_of(b, r.out);
    const cJSON *trial = first_event(&events, "trial");
    assert_string_equal(text_of(trial, "outcome"), "lost");
    assert_string_equal(text_of(trial, "reason"), "each machine that had it was lost");
    // A connection that ends before it has the trial (on a busy machine) does not count.
    assert_true(strlen(box_read(b, box_path(b, "connections"))) >= 10);
}

// Whatever happens, nothing crashes, and there are either all trials or one line.
static void test_garbled(void **state)
{
    struct box *b = *state;
    take_relay(b, "");
    box_set(b, "TILEWALK_LINK_SECONDS", "0.5"); // a length that is garbled is waited for
    for (int seed = 0; seed < 3; seed++) {
        box_set(b, "TILEWALK_RELAY",
                arena_printf(&b->arena, "garble=%d count=%s%d", seed, box_path(b, "connections"),
                             seed));
        struct result r = TUNE(b, "--strategy", "random", "--on", "ssh:far", "--verbose");
        assert_in_range(r.code, 0, 1);
        assert_null(strstr(r.out, "Sanitizer"));
        if (r.code == 1)
            assert_one_line(r.err);
    }
}

// The others go on. Trials take longer from session to session, until the machine that is lost has
// taken part.
static void test_one_gone(void **state)
{
    struct box *b = *state;
    struct result r = TUNE(b, "--strategy", "random");
    int64_t id = 1;
    assert_ok(&r);
    take_relay(b, "");
    for (int delay_us = 2000; id == 1 || !strstr(r.out, "(ssh:far)"); delay_us *= 4) {
        box_set(b, "TILEWALK_RELAY",
                arena_printf(&b->arena, "cut=1 most=1 lives=1 count=%s",
                             box_path(b, arena_printf(&b->arena, "connections%d", (int)id))));
        r = RUN(b, "tune", flow_path(b, "small.lua"), "--source",
                arena_printf(&b->arena, SOURCE ":delay_us=%d", delay_us), "--seed", "5", "--trials",
                TRIALS, "--json", "--strategy", "random", "--on", "ssh:far", "--on", "local:");
        assert_ok(&r);
        id++;
        assert_true(delay_us < 1000000);
    }
    check_same(b, id);
    r = RUN(b, "fleet", arena_printf(&b->arena, "%d", (int)id), "--json");
    assert_ok(&r);
    const cJSON *machine, *machines = member(json_of(b, r.out), "machines");
    assert_int_equal(cJSON_GetArraySize(machines), 2);
    int trials = 0, lost = 0;
    cJSON_ArrayForEach(machine, machines)
    {
        bool far = strcmp(text_of(machine, "place"), "ssh:far") == 0;
        assert_string_equal(text_of(machine, "state"), far ? "lost" : "left");
        assert_true(strlen(text_of(machine, "name")) > 0);
        assert_string_equal(text_of(machine, "device"), "none");
        assert_string_equal(text_of(machine, "driver"), "none");
        trials += (int)number_of(machine, "trials");
        lost += (int)number_of(machine, "lost");
    }
    assert_int_equal(trials, atoi(TRIALS));
    assert_in_range(lost, 0, 1);
    assert_contains(RUN(b, "fleet").out, "ssh:far");
}

// Stored results stay, and the session continues on another machine or here.
static void test_all_gone(void **state)
{
    struct box *b = *state;
    struct result r = TUNE(b, "--strategy", "random");
    assert_ok(&r);
    take_relay(b, "cut=1 most=1 lives=1");
    box_set(b, "TILEWALK_LINK_SECONDS", "0.1");
    r = TUNE(b, "--strategy", "random", "--on", "ssh:far");
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "no machine could be reached for 1 s");
    assert_string_equal(state_of(b, 2), "failed");
    assert_true(trials_of(b, 2) < 40);
    box_set(b, "TILEWALK_LINK_SECONDS", NULL); // a busy machine is not silent
    r = RUN(b, "resume", "2", "--json", "--on", "local:");
    assert_ok(&r);
    check_same(b, 2);
}

// Errors that are refused at once, with one line.
static void test_refused(void **state)
{
    struct box *b = *state;
    struct result r = TUNE(b, "--on", "rack1");
    assert_refused(&r, 2, "--on 'rack1'", "ssh:HOST");
    r = TUNE(b, "--on", "ssh:-oProxyCommand=x");
    assert_refused(&r, 2, "is no host", NULL);
    r = RUN(b, "tune", "alexnet", "--on", "local:");
    assert_refused(&r, 2, "--on ", NULL);
    r = TUNE(b, "--on", "ssh:");
    assert_refused(&r, 2, "--on: ''", NULL);
    take_relay(b, "lives=0");
    r = TUNE(b, "--on", "ssh:far");
    assert_refused(&r, 1, "ssh:far", "Connection refused");
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 0);
}

// A stand-in for ssh: its output is the answer of the other side.
static void take_other_side(struct box *b, const char *script)
{
    const char *bin = box_path(b, "bin"), *ssh = arena_printf(&b->arena, "%s/ssh", bin);
    struct err e;
    assert_true(file_make_folders(bin, &e));
    assert_true(file_write(ssh, script, strlen(script), &e));
    assert_int_equal(chmod(ssh, 0700), 0);
    box_set(b, "PATH", arena_printf(&b->arena, "%s:%s", bin, getenv("PATH")));
}

// Any command that leads to an agent measures, and is started again when it is lost.
static void test_command(void **state)
{
    struct box *b = *state;
    const char *agent = arena_printf(&b->arena, "exec:'%s' agent", getenv("TILEWALK_PROGRAM"));
    struct result r = TUNE(b, "--strategy", "walk");
    assert_ok(&r);
    r = TUNE(b, "--strategy", "walk", "--on", agent);
    assert_ok(&r);
    assert_int_equal(machines_of(b, r.out), 1);
    check_same(b, 2);
    take_relay(b, "kill=1");
    r = TUNE(b, "--strategy", "walk", "--on", "exec:ssh -T -o BatchMode=yes -- far tilewalk agent");
    assert_ok(&r);
    check_same(b, 3);
    assert_true(strlen(box_read(b, box_path(b, "connections"))) > 1);
    r = RUN(b, "doctor", "--on", "exec:exit 3");
    assert_int_equal(r.code, 1);
    assert_contains(r.out, "the command has to lead to `tilewalk agent`");
}

// Commands that lead to no agent are left out with a line each, wherever they stand, and end a run
// that has no other machine.
static void test_bad_commands(void **state)
{
    struct box *b = *state;
    // The first three are told at once; the machine that is left has as long to begin its work.
    static const struct {
        const char *place, *wait, *why;
    } bad[] = {
        {"exec:/no/such/command", "60", "not found"},
        {"exec:echo a long welcome; cat >/dev/null", "60", "no message of an agent's"},
        {"exec:true", "60", "the connection was closed"},
        {"exec:exec sleep 1000", "4", "nothing was heard of it for 4 s"},
    };
    struct result r = TUNE(b, "--strategy", "random");
    assert_ok(&r);
    for (int i = 0; i < 4; i++) {
        const char *place = bad[i].place, *first = i % 2 ? place : "local:";
        r = TUNE(b, "--on", place, "--wait", bad[i].wait);
        assert_refused(&r, 1, place, bad[i].why);
        r = TUNE(b, "--strategy", "random", "--wait", bad[i].wait, "--on", first, "--on",
                 i % 2 ? "local:" : place);
        assert_ok(&r);
        check_same(b, i + 2);
        assert_int_equal(machines_of(b, r.out), 1);
        assert_contains(r.err, place);
        assert_contains(r.err, bad[i].why);
        assert_contains(r.err, "the run goes on with the other machines");
        assert_one_line(r.err);
    }
    r = TUNE(b, "--on", "exec: ");
    assert_refused(&r, 2, "--on exec: needs a command", NULL);
    r = TUNE(b, "--on", "exec:a\nb");
    assert_refused(&r, 2, "in one line", NULL);
}

static void test_no_agent(void **state)
{
    struct box *b = *state;
    take_other_side(b, "#!/bin/sh\necho Welcome to rack1; cat >/dev/null\n");
    struct result r = TUNE(b, "--on", "ssh:far");
    assert_refused(&r, 1, "ssh:far", "no message of an agent's");
    take_other_side(b, "#!/bin/sh\n"
                       "printf '\\000\\000\\000\\043{\"type\":\"greet\",\"version\":\"77.1.2\"}'"
                       "\ncat >/dev/null\n");
    r = TUNE(b, "--on", "ssh:far");
    assert_refused(&r, 1, "ssh:far", "protocol 0 (tilewalk 77.1.2)");
}

// Returns the words behind "tilewalk " of --version.
static char *build_of_program(struct box *b)
{
    const char *out = RUN(b, "--version").out + strlen("tilewalk ");
    return arena_printf(&b->arena, "%.*s", (int)strcspn(out, "\n"), out);
}

// Writes a copy of the program that calls itself by another version, of the same length.
static const char *program_of_another_build(struct box *b, const char *build, const char *other)
{
    const char *copy = box_path(b, "another");
    size_t length = strlen(build);
    int changed = 0;
    struct err e;
    char *bytes = NULL;
    size_t size = 0;
    assert_true(file_read(getenv("TILEWALK_PROGRAM"), &bytes, &size, &e));
    for (size_t i = 0; i + length < size; i++)
        if (bytes[i] == build[0] && memcmp(bytes + i, build, length + 1) == 0) {
            memcpy(bytes + i, other, length);
            changed++;
        }
    assert_true(changed > 0);
    assert_true(file_write(copy, bytes, size, &e));
    assert_int_equal(chmod(copy, 0700), 0);
    free(bytes);
    return copy;
}

// Machines of another build that speak the same protocol work, and their trials say so.
static void test_another_build(void **state)
{
    struct box *b = *state;
    const char *build = build_of_program(b);
    char *other = arena_strdup(&b->arena, build);
    other[0] = '9';
    take_other_side(b, arena_printf(&b->arena, "#!/bin/sh\nexec '%s' agent\n",
                                    program_of_another_build(b, build, other)));
    struct result r = TUNE(b, "--on", "ssh:far");
    assert_ok(&r);
    r = RUN(b, "show", "1", "--trials", "--json");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out);
    assert_string_equal(text_of(member(all, "session"), "build"), build);
    const cJSON *trial;
    cJSON_ArrayForEach(trial, member(all, "trials"))
        assert_string_equal(text_of(trial, "build"), other);
    r = RUN(b, "show", "1");
    assert_contains(r.out, arena_printf(&b->arena, "build    tilewalk %s\n", build));
    r = RUN(b, "show", "1", "--trial", "1");
    assert_contains(r.out, arena_printf(&b->arena, "build: tilewalk %s\n", other));
}

// Returns the last words that ssh was given, which the script of take_other_side has written down,
// a word a line.
static void assert_given(struct box *b, const char *const *words)
{
    char *rest, *word = strtok_r(box_read(b, box_path(b, "given")), "\n", &rest);
    for (; *words; words++, word = strtok_r(NULL, "\n", &rest)) {
        assert_non_null(word);
        assert_string_equal(word, *words);
    }
    assert_null(word);
}

// Address, program and options of a host's entry.
static void test_entry(void **state)
{
    struct box *b = *state;
    const char *config = box_path(b, "config");
    static const char *const whole[] = {"-T", "-o",           "BatchMode=yes", "-p",    "2222",
                                        "--", "gpu@10.0.0.5", "/opt/tw",       "agent", NULL};
    static const char *const none[] = {"-T",    "-o",       "BatchMode=yes", "--",
                                       "rack3", "tilewalk", "agent",         NULL};
    take_other_side(b, arena_printf(&b->arena, "#!/bin/sh\nprintf '%%s\\n' \"$@\" >'%s'\n",
                                    box_path(b, "given")));
    box_set(b, "XDG_CONFIG_HOME", config);
    struct err e;
    assert_true(file_make_folders(arena_printf(&b->arena, "%s/tilewalk", config), &e));
    box_write(b, "config/tilewalk/hosts.conf",
              "# a rack\n\nrack1 = address=gpu@10.0.0.5 program=/opt/tw -p 2222\nrack2 = -p 9\n");
    struct result r = TUNE(b, "--on", "ssh:rack1");
    assert_refused(&r, 1, "rack1", NULL);
    assert_given(b, whole);
    r = TUNE(b, "--on", "ssh:rack3");
    assert_refused(&r, 1, "rack3", NULL);
    assert_given(b, none);
    box_write(b, "config/tilewalk/hosts.conf", "rack1\n");
    r = TUNE(b, "--on", "ssh:rack1");
    assert_refused(&r, 1, "hosts.conf:1: ", "'rack1'");
}

TEST_GROUP(agent)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_local),    FLOW_TEST(test_workers),       FLOW_TEST(test_recording),
        FLOW_TEST(test_slow),     FLOW_TEST(test_cut),           FLOW_TEST(test_stalls),
        FLOW_TEST(test_killed),   FLOW_TEST(test_garbled),       FLOW_TEST(test_to_blame),
        FLOW_TEST(test_one_gone), FLOW_TEST(test_all_gone),      FLOW_TEST(test_refused),
        FLOW_TEST(test_no_agent), FLOW_TEST(test_another_build), FLOW_TEST(test_entry),
        FLOW_TEST(test_command),  FLOW_TEST(test_bad_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
