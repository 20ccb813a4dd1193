// Sessions and their texts: what goes in comes out, and goes away whole.
#include "group.h"
#include "help.h"

#include "store/db.h"

#include <math.h>

static const struct session_record full = {
    .created = 1700000000.25,
    .state = STATE_PAUSED,
    .name = "gemm",
    .path = "my 'space' \"file\".lua",
    .title = "matmul f32 nn 256x256x256",
    .operation = "{\"op\":\"matmul\"}",
    .settings = "{\"N\":512}",
    .declared = "{\"op\":\"matmul\",\"batch\":9}",
    .work = 1.5e6,
    .unit = "B/s",
    .reduced = "batch 9 reduced to 3: it is large",
    .device = "llvmpipe \xe2\x88\x9e",
    .driver = "Mesa 22.3.6",
    .device_type = "cpu",
    .device_id = "0123abcd",
    .limits = "{\"threads\":1024}",
    .source = "device",
    .strategy = "opevo:lambda=8",
    .seed = 0xfedcba9876543210, // above 2^63
    .flop = 33554432,
    .size = "340282366920938463463374607431768211456",
    .text_hash = "ffff",
    .budget_trials = (int64_t)1 << 40,
    .budget_seconds = 12.5,
    .workers = 3,
    .count_rejected = true,
    .cold = true,
    .ran_seconds = 0.125,
    .message = "the user asked",
    .note = "a\nb",
    .warm = "1,2",
    .population = "12,5,9",
    .history = "3:200 5:180",
};

static void assert_same_text(const char *a, const char *b)
{
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_ptr_equal(a, b);
}

static void assert_same_session(const struct session_record *a, const struct session_record *b)
{
    assert_true(a->created == b->created && a->flop == b->flop && a->seed == b->seed);
    assert_true(a->work == b->work);
    assert_true(a->budget_trials == b->budget_trials && a->budget_seconds == b->budget_seconds);
    assert_true(a->workers == b->workers && a->count_rejected == b->count_rejected &&
                a->cold == b->cold);
    assert_true(a->ran_seconds == b->ran_seconds);
    const char *const texts[][2] = {
        {state_name(a->state), state_name(b->state)},
        {a->name, b->name},
        {a->path, b->path},
        {a->title, b->title},
        {a->operation, b->operation},
        {a->settings, b->settings},
        {a->unit, b->unit},
        {a->declared, b->declared},
        {a->reduced, b->reduced},
        {a->history, b->history},
        {a->device, b->device},
        {a->driver, b->driver},
        {a->device_type, b->device_type},
        {a->limits, b->limits},
        {a->device_id, b->device_id},
        {a->source, b->source},
        {a->strategy, b->strategy},
        {a->size, b->size},
        {a->text_hash, b->text_hash},
        {a->message, b->message},
        {a->note, b->note},
        {a->warm, b->warm},
        {a->population, b->population},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_same_text(texts[i][0], texts[i][1]);
}

static void test_round_trip(void **state)
{
    (void)state;
    char *path = temp_path("deep/er/x.db"); // the folder is made
    struct store *s = must_open(path, STORE_WRITE);
    struct session_record none = {
        .seed = UINT64_MAX,
        .message = "left",
        .state = STATE_RUNNING,
        .workers = 1,
    };
    // Texts that a session has to have are "" in place of NULL.
    none.name = none.path = none.title = none.operation = none.settings = none.device = "";
    none.driver = none.device_type = none.device_id = none.limits = none.source = "";
    none.strategy = none.size = none.text_hash = "";
    struct err e;
    int64_t first, second;
    assert_true(store_create_session(s, &full, NULL, 0, &first, &e));
    assert_true(store_create_session(s, &none, NULL, 0, &second, &e));
    assert_int_equal(first, 1);
    assert_int_equal(second, 2);
    store_close(s);

    s = must_open(path, STORE_READ);
    struct arena a;
    arena_init(&a);
    struct session_record r = must_get(s, first, &a);
    assert_int_equal(r.id, first);
    assert_same_session(&r, &full);
    assert_true(r.trials == 0 && r.rejected == 0 && r.ok == 0);
    assert_true(r.best_ask == 0 && r.best_seconds == 0);
    r = must_get(s, second, &a);
    assert_same_session(&r, &none); // texts that were NULL are NULL

    struct session_record *list;
    int count;
    assert_true(store_list_sessions(s, &a, &list, &count, &e));
    assert_int_equal(count, 2);
    assert_int_equal(list[0].id, second); // newest first
    assert_int_equal(list[1].id, first);
    assert_same_session(&list[1], &full);
    arena_finish(&a);
    store_close(s);
    temp_remove(path);
}

static void test_texts(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    char *large = mem_alloc(100001);
    memset(large, 'x', 100000);
    large[100000] = '\0';
    const struct text_record given[] = {
        {"zebra", "z.lua", "-- last of the alphabet, first in order\n"},
        {"ape", "", large},
        {"nothing", "n", ""},
    };
    struct session_record r = {.name = "gemm", .state = STATE_DONE, .workers = 1}, other = r;
    struct err e;
    int64_t id, other_id;
    assert_true(store_create_session(s, &r, given, 3, &id, &e));
    assert_true(store_create_session(s, &other, given, 1, &other_id, &e));

    struct arena a;
    arena_init(&a);
    struct text_record *texts;
    int count;
    assert_true(store_get_texts(s, id, &a, &texts, &count, &e));
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++) {
        assert_same_text(texts[i].name, given[i].name);
        assert_same_text(texts[i].path, given[i].path);
        assert_same_text(texts[i].text, given[i].text);
    }
    assert_true(store_get_texts(s, other_id, &a, &texts, &count, &e));
    assert_int_equal(count, 1);
    // Relative to where the program was started: whoever reads may be elsewhere.
    const struct text_record old[] = {{"a.lua", "sub/a.lua", ""}, {"x/b.lua", "/lib/x/b.lua", ""}};
    other.path = "/home/sub/a.lua";
    assert_true(store_create_session(s, &other, old, 2, &other_id, &e));
    assert_true(store_get_texts(s, other_id, &a, &texts, &count, &e));
    assert_string_equal(texts[0].path, "/home/sub/a.lua");
    assert_string_equal(texts[1].path, "/lib/x/b.lua");
    arena_finish(&a);
    store_close(s);
    free(large);
    temp_remove(path);
}

static void test_changes(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    struct err e;
    struct arena a;
    arena_init(&a);
    int64_t id = must_create(s, "gemm"), other = must_create(s, "mm");
    assert_true(store_set_state(s, id, STATE_PAUSED, "disk full", 2.5, &e));
    assert_true(store_set_budget(s, id, 77, 8.5, &e));
    struct session_record r = must_get(s, id, &a);
    assert_int_equal(r.state, STATE_PAUSED);
    assert_string_equal(r.message, "disk full");
    assert_true(r.ran_seconds == 2.5 && r.budget_trials == 77 && r.budget_seconds == 8.5);
    static const char note[] = "try it on the other card";
    assert_true(store_set_note(s, id, note, &e));
    assert_true(store_set_population(s, id, "3,1,2", &e));
    r = must_get(s, id, &a);
    assert_string_equal(r.note, note);
    assert_string_equal(r.population, "3,1,2");
    assert_true(store_set_note(s, id, NULL, &e));
    assert_null(must_get(s, id, &a).note);
    assert_true(store_set_state(s, id, STATE_RUNNING, NULL, 3, &e));
    assert_null(must_get(s, id, &a).message);
    r = must_get(s, other, &a);
    assert_int_equal(r.state, STATE_RUNNING);
    assert_int_equal(r.budget_trials, 0);
    assert_null(r.population);
    arena_finish(&a);
    store_close(s);
    temp_remove(path);
}

static void test_missing(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    struct arena a;
    arena_init(&a);
    struct session_record r;
    struct trial_record t = {.ask = 1, .outcome = OUTCOME_OPEN};
    struct err e;
    char line[256];
    snprintf(line, sizeof line, "there is no session 9 (`tilewalk ls --db %s` lists them)", path);
    assert_false(store_get_session(s, 9, &a, &r, &e));
    assert_string_equal(e.text, line);
    assert_false(store_set_state(s, 9, STATE_DONE, NULL, 0, &e));
    assert_string_equal(e.text, line);
    assert_false(store_set_budget(s, 9, 1, 0, &e));
    assert_string_equal(e.text, line);
    assert_false(store_set_note(s, 9, "x", &e));
    assert_string_equal(e.text, line);
    assert_false(store_set_population(s, 9, "1", &e));
    assert_string_equal(e.text, line);
    assert_false(store_delete_session(s, 9, &e));
    assert_string_equal(e.text, line);
    assert_false(store_put_trial(s, 9, &t, &e));
    assert_string_equal(e.text, line);
    assert_false(store_push_command(s, 9, "stop", NULL, &e));
    assert_string_equal(e.text, line);
    assert_false(store_add_message(s, 9, "info", "hello", &e));
    assert_string_equal(e.text, line);
    assert_false(store_get_session(s, 9, &a, &r, NULL)); // an error may go nowhere
    arena_finish(&a);
    store_close(s);
    temp_remove(path);
}

static void test_delete(void **state)
{
    (void)state;
    static const char *const tables[] = {"session", "text",    "trial",      "retime",
                                         "refit",   "command", "message",    "best_step",
                                         "tally",   "look",    "calibration"};
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    struct err e;
    int64_t ids[2];
    for (int i = 0; i < 2; i++) {
        ids[i] = must_create(s, "gemm");
        struct retime_record race = {.ask = 1, .kind = "race", .seconds = 1, .verified = true};
        must_put(s, ids[i], 1, OUTCOME_OK, 2);
        assert_true(store_put_retime(s, ids[i], &race, &e));
        assert_true(store_put_refit(s, ids[i], &(struct refit_record){.number = 1}, &e));
        assert_true(store_add_calibration(s, ids[i], &(struct calibration_record){1, 0, 1}, &e));
        for (int twice = 0; twice < 2; twice++) // each is kept once
            assert_true(store_put_probe(s, ids[i], &(struct probe_record){"1", true, NULL}, &e));
        assert_true(store_push_command(s, ids[i], "stop", NULL, &e));
        assert_true(store_add_message(s, ids[i], "info", "hello", &e));
    }
    assert_true(store_begin(s, &e));
    for (int ask = 2; ask <= 10001; ask++) // more than are deleted at a time
        must_put(s, ids[1], ask, OUTCOME_OK, 2);
    assert_true(store_commit(s, &e));
    assert_true(store_delete_session(s, ids[1], &e));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_int_equal(count_rows(s, tables[i]), strcmp(tables[i], "text") ? 1 : 2);
    assert_true(must_create(s, "gemm") > ids[1]); // a number is never used again
    store_close(s);
    temp_remove(path);
}

// What is in the trash is in no list, keeps its rows, and still teaches those that learned from it.
static void test_trash(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    struct arena a;
    struct session_record r, *list;
    struct err e;
    int count;
    arena_init(&a);
    int64_t one = must_create(s, "gemm"), two = must_create(s, "gemm");
    must_put(s, one, 1, OUTCOME_OK, 2);
    assert_true(store_set_state(s, one, STATE_STOPPED, "interrupted", 1, &e));
    assert_true(store_trash_session(s, one, &e));
    assert_false(store_trash_session(s, one, &e));
    assert_contains(e.text, "restore 1");
    assert_false(store_get_session(s, one, &a, &r, &e));
    assert_false(store_set_note(s, one, "x", &e));
    assert_true(store_get_history(s, one, &a, &r, &e));
    assert_true(store_list_sessions(s, &a, &list, &count, &e));
    assert_int_equal(count, 1);
    assert_true(store_delete_session(s, two, &e)); // deleting another one leaves it alone
    assert_true(store_list_trash(s, &a, &list, &count, &e));
    assert_int_equal(count, 1);
    assert_int_equal(list[0].id, one);
    assert_int_equal(list[0].state, STATE_STOPPED);
    assert_true(list[0].trashed > 0);

    assert_true(store_restore_session(s, one, &e));
    r = must_get(s, one, &a);
    assert_int_equal(r.state, STATE_STOPPED);
    assert_string_equal(r.message, "interrupted");
    assert_int_equal(r.trials, 1);
    assert_true(r.trashed <= 0);
    assert_false(store_restore_session(s, one, &e));
    assert_contains(e.text, "trash");
    assert_true(store_trash_session(s, one, &e) && store_delete_session(s, one, &e));
    assert_int_equal(count_rows(s, "session") + count_rows(s, "trial"), 0);
    assert_false(store_restore_session(s, one, &e));
    arena_finish(&a);
    store_close(s);
    temp_remove(path);
}

static int64_t create_after(struct store *s, const char *history)
{
    struct err e;
    int64_t id;
    struct session_record r = {
        .name = "gemm", .state = STATE_DONE, .history = history, .workers = 1};
    assert_true(store_create_session(s, &r, NULL, 0, &id, &e));
    must_put(s, id, 1, OUTCOME_OK, 2);
    return id;
}

static int64_t left(struct store *s)
{
    return count_rows(s, "session");
}

// A session that others learn from is gone for users, but those sessions still read it.
static void test_delete_history(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    struct arena a;
    struct session_record r, *list;
    struct err e;
    int count;
    arena_init(&a);
    int64_t one = create_after(s, NULL), two = create_after(s, "1:1");
    int64_t three = create_after(s, "2:1 1:1"), eleven = 11;
    assert_true(store_delete_session(s, one, &e));
    assert_int_equal(left(s), 3);
    assert_int_equal(count_rows(s, "trial"), 3);
    assert_false(store_get_session(s, one, &a, &r, &e));
    assert_contains(e.text, "there is no session 1 (`tilewalk ls");
    assert_false(store_set_note(s, one, "x", &e));
    assert_false(store_push_command(s, one, "stop", NULL, &e));
    assert_false(store_add_message(s, one, "info", "x", &e));
    assert_false(store_delete_session(s, one, &e));
    assert_true(store_list_sessions(s, &a, &list, &count, &e));
    assert_int_equal(count, 2);
    assert_true(store_get_history(s, one, &a, &r, &e) && r.id == one && !r.history);
    assert_false(store_get_history(s, eleven, &a, &r, &e));

    assert_true(store_delete_session(s, two, &e)); // three learns from both
    assert_int_equal(left(s), 3);
    assert_string_equal(must_get(s, three, &a).history, "2:1 1:1");
    assert_true(store_delete_session(s, three, &e));
    assert_int_equal(left(s), 0);
    assert_int_equal(count_rows(s, "trial"), 0);

    int64_t four = create_after(s, NULL); // 14:1 is not 4:1
    create_after(s, "14:1 24:2");
    assert_int_equal(four, 4);
    assert_true(store_delete_session(s, four, &e));
    assert_int_equal(left(s), 1);
    arena_finish(&a);
    store_close(s);
    temp_remove(path);
}

// Sums of what was added, of each session its own.
static void test_calibration(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    int64_t id = must_create(s, "gemm"), other = must_create(s, "gemm");
    struct calibration_record c;
    struct err e;
    assert_true(store_add_calibration(s, id, &(struct calibration_record){1, 0, 1}, &e));
    assert_true(store_add_calibration(s, id, &(struct calibration_record){3, 2, 2}, &e));
    assert_true(store_get_calibration(s, id, &c, &e));
    assert_true(c.results == 4 && c.within_50 == 2 && c.within_90 == 3);
    assert_true(store_get_calibration(s, other, &c, &e));
    assert_true(c.results == 0 && c.within_50 == 0 && c.within_90 == 0);
    store_close(s);
    temp_remove(path);
}

static bool take_refit(void *context, const struct refit_record *r)
{
    struct refit_record *out = context;
    out[r->number - 1] = *r;
    return r->number < 3;
}

static void test_refits(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    struct err e;
    int64_t count, id = must_create(s, "gemm"), other = must_create(s, "gemm");
    struct refit_record r = {1, 64, 128, NAN, NAN, 0, 0, 0.5, 1e6, 12, 1e9}, out[4] = {{0}};
    assert_true(store_put_refit(s, id, &r, &e));
    assert_false(store_put_refit(s, id, &r, &e)); // each once
    r = (struct refit_record){2, 128, 256, -0.25, 0.75, 8, 64, 0.25, 2e6, 20, 2e9};
    assert_true(store_put_refit(s, id, &r, &e));
    assert_true(store_put_refit(s, id, &(struct refit_record){.number = 3}, &e));
    assert_true(store_put_refit(s, id, &(struct refit_record){.number = 4}, &e));
    assert_true(store_count_refits(s, id, &count, &e));
    assert_int_equal(count, 4);
    assert_true(store_count_refits(s, other, &count, &e));
    assert_int_equal(count, 0);
    assert_true(store_each_refit(s, id, take_refit, out, &e));
    assert_true(isnan(out[0].correlation) && isnan(out[0].recall) && out[0].told == 64);
    assert_memory_equal(&out[1], &r, sizeof r);
    assert_int_equal(out[3].number, 0); // it was enough
    assert_true(store_each_refit(s, other, take_refit, NULL, &e));
    store_close(s);
    temp_remove(path);
}

TEST_GROUP(session)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_texts),
        cmocka_unit_test(test_changes),        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_delete),         cmocka_unit_test(test_trash),
        cmocka_unit_test(test_delete_history), cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_refits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
