// The network screen: shares, sorting, where time went, and its drawing.
#include "app.h"
#include "fixture.h"
#include "group.h"
#include "look.h"
#include "text.h"
#include "view_network.h"

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// --- pure ---

static const struct network_row three[] = {
    {.operation = "conv",
     .shape = "b",
     .uses = 3,
     .start_s = 4e-4,
     .best_s = 2e-4,
     .trials = 50,
     .gain_age = 40,
     .next = 0.5},
    {.operation = "matmul",
     .shape = "a",
     .uses = 1,
     .start_s = 8e-4,
     .best_s = 2e-4,
     .trials = 60,
     .gain_age = 5,
     .next = 0.5},
    {.operation = "pool",
     .shape = "c",
     .uses = 2,
     .start_s = 1e-4,
     .best_s = 1e-4,
     .trials = 10,
     .gain_age = -1,
     .next = -1},
};

static void test_shares_of_the_objective(void **state)
{
    (void)state;
    struct network_row row[3];
    memcpy(row, three, sizeof row);
    network_share(row, 3);
    assert_true(fabs(row[0].share - 0.6) < 1e-12);
    assert_true(fabs(row[1].share - 0.2) < 1e-12);
    assert_true(fabs(row[2].share - 0.2) < 1e-12);
    assert_true(fabs(network_latency(row, 3, false) - 1e-3) < 1e-12);
    assert_true(fabs(network_latency(row, 3, true) - 2.2e-3) < 1e-12);
    row[1].best_s = 0; // a sum that lacks one is none
    assert_true(network_latency(row, 3, false) == 0);
    for (int i = 0; i < 3; i++)
        row[i].best_s = 0;
    network_share(row, 3);
    assert_true(fabs(row[2].share - 1.0 / 3) < 1e-12);
}

static void expect_order(enum network_column by, bool descending, const char *names)
{
    struct network_row row[3];
    char got[8] = "";
    memcpy(row, three, sizeof row);
    network_share(row, 3);
    network_sort(row, 3, by, descending);
    for (int i = 0; i < 3; i++)
        got[i] = row[i].operation[0];
    assert_string_equal(got, names);
}

static void test_sorting(void **state)
{
    (void)state;
    expect_order(NETWORK_OPERATION, false, "cmp");
    expect_order(NETWORK_OPERATION, true, "pmc");
    expect_order(NETWORK_SHAPE, false, "mcp");
    expect_order(NETWORK_USES, true, "cpm");
    expect_order(NETWORK_START, false, "pcm");
    expect_order(NETWORK_BEST, true, "cmp"); // equal ones keep their order
    expect_order(NETWORK_SHARE, true, "cmp");
    expect_order(NETWORK_TRIALS, true, "mcp");
    expect_order(NETWORK_GAIN, false, "mcp"); // none comes last
    expect_order(NETWORK_GAIN, true, "cmp");
    expect_order(NETWORK_NEXT, true, "cmp");
}

static void tell(struct spending *s, double elapsed, double compile, double device,
                 enum outcome outcome)
{
    struct trial t = {.elapsed_s = elapsed,
                      .compile_s = compile,
                      .pipeline_s = 0.25,
                      .device_s = device,
                      .outcome = outcome};
    spending_add(s, &t);
}

static void test_time_of_the_last_minutes(void **state)
{
    (void)state;
    struct spending *s = mem_zero(1, sizeof *s);
    struct spent sum = spending_sum(s, 0, 2);
    assert_true(sum.window == 0 && sum.all == 0 && sum.other == 0 && sum.device_busy == 0);
    sum = spending_sum(s, 100, 2);
    assert_true(sum.window == 100 && sum.all == 200 && sum.other == 200);
    tell(s, 10, 100, 100, OUTCOME_CRASH); // long ago
    tell(s, 350, 3, 60, OUTCOME_OK);
    tell(s, 400, 5, 90, OUTCOME_TIMEOUT);
    tell(s, 500, 2, 0, OUTCOME_LOST);
    sum = spending_sum(s, 600, 2);
    assert_true(sum.window == 300 && sum.all == 600);
    assert_true(sum.compile == 10 && sum.pipeline == 0.75 && sum.device == 150);
    assert_true(sum.other == 600 - 160.75 && sum.device_busy == 0.5);
    assert_true(sum.trials == 3 && sum.timeouts == 1 && sum.crashes == 1);
    sum = spending_sum(s, 600, 0);
    assert_true(sum.all == 300);
    // More trials than are kept: the window begins with the oldest one that is.
    s->count = 0;
    for (int i = 1; i <= SPENDING_MOST + 100; i++)
        tell(s, i * 0.01, 0.001, 0.001, OUTCOME_OK);
    sum = spending_sum(s, (SPENDING_MOST + 100) * 0.01, 1);
    assert_int_equal(sum.trials, SPENDING_MOST - 1);
    assert_true(fabs(sum.window - (SPENDING_MOST - 1) * 0.01) < 1e-9);
    assert_true(sum.other >= 0);
    free(s);
}

// --- the screen ---

static struct fixture fixture;
static struct ui_config config;
static struct app app;
static double now;

static void settle(void)
{
    while (app_poll(&app, now, FIXTURE_NOW))
        now += 0.01;
    app_draw(&app);
}

static void open_app(enum fixture_shape shape, int rows, int cols, enum charset charset)
{
    setlocale(LC_ALL, "C.UTF-8");
    fixture_create(&fixture, shape);
    config_init(&config);
    config.charset = charset;
    now = 100;
    struct app_options o = {
        .database = fixture.path,
        .config = &config,
        .program = "tilewalk",
        .view = VIEW_NETWORK,
        .session = fixture.session,
    };
    app_init(&app, &o);
    app_show(&app, VIEW_NETWORK);
    app_resize(&app, rows, cols);
    settle();
}

static void close_app(void)
{
    app_finish(&app);
    fixture_destroy(&fixture);
}

static void expect_text(const char *part, bool there)
{
    app_draw(&app);
    char *text = look_text(&app.screen);
    if ((strstr(text, part) != NULL) != there)
        fail_msg("'%s' is %s in\n%s", part, there ? "not" : "there", text);
    free(text);
}

static void test_the_operator_of_a_session(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120, CHARSET_BRAILLE);
    const struct opened *o = &app.model.open;
    struct network_row row[NETWORK_MOST];
    char best[32], start[32];
    assert_int_equal(network_list(&app.model, FIXTURE_NOW, row), 1);
    assert_string_equal(row[0].operation, "matmul");
    assert_true(row[0].share == 1 && row[0].next == 1 && row[0].uses == 1);
    assert_true(row[0].best_s == o->record.best_seconds);
    assert_true(row[0].start_s == o->curve.step[0].seconds && row[0].start_s > row[0].best_s);
    assert_int_equal(row[0].trials, o->record.trials);
    expect_text("Operators: this session has one", true);
    expect_text("f32 nn 2048x2048x2048", true);
    expect_text("100.0 %", true);
    expect_text(text_time(row[0].best_s, best), true);
    expect_text(text_time(row[0].start_s, start), true);
    expect_text("total", true);
    int64_t trials = o->last_number;
    fixture_tell(&fixture, 4);
    settle();
    assert_int_equal(app.model.open.last_number, trials + 4);
    app_act(&app, ACT_OPEN);
    assert_int_equal(app.view, VIEW_MAIN);
    close_app();
}

// The session as a network of two tasks, the second of which weighs a half.
static void make_network(void)
{
    char sql[600];
    snprintf(sql, sizeof sql,
             "UPDATE session SET scheduler = 'gradient', name = 'net' WHERE id = %d;"
             "INSERT INTO task(network, position, name, title, preset, settings, kind, uses, flop,"
             " session) VALUES (%d, 1, 'conv1', 'conv', 'p', '{}', 'conv2d', 2, 1e9, 0),"
             " (%d, 2, 'dense', 'mm', 'p', '{}', 'matmul', 1, 1e9, 0);"
             "INSERT INTO weight VALUES (%d, 1, 2, 8.0), (%d, 3, 2, 0.5)",
             (int)fixture.session, (int)fixture.session, (int)fixture.session, (int)fixture.session,
             (int)fixture.session);
    fixture_execute(&fixture, sql);
}

static char said[200];

static void take_words(void *context, const char *words)
{
    (void)context;
    snprintf(said, sizeof said, "%s", words);
}

static void test_weights(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 160, CHARSET_BRAILLE);
    expect_text("weight", false);
    make_network();
    now += 2;
    settle();
    app.jobs.pretend = take_words;
    expect_text("Tasks of net", true);
    expect_text("weight", true);
    expect_text("0.5", true);
    app_act(&app, ACT_SORT_INVERT); // both have no share: their order stays
    app_act(&app, ACT_WEIGH_MORE);
    assert_non_null(strstr(said, "set"));
    assert_non_null(strstr(said, "weight=conv1:2"));
    app_act(&app, ACT_DOWN);
    app_act(&app, ACT_WEIGH_LESS);
    assert_non_null(strstr(said, "weight=dense:0.25"));
    close_app();
}

// Trials are those of its tasks, wherever a session of its own would show some.
static void test_a_network_has_no_trials(void **state)
{
    (void)state;
    open_app(FIXTURE_EMPTY, 36, 160, CHARSET_BRAILLE);
    fixture.session = 1; // has no trials yet
    make_network();
    assert_true(model_open(&app.model, fixture.session, NULL));
    now += 2;
    settle();
    static const int without[] = {VIEW_MAIN, VIEW_TRIALS, VIEW_KERNEL};
    for (int i = 0; i < 3; i++) {
        app_act(&app, (enum action)(ACT_VIEW + without[i]));
        settle();
        expect_text("A network's trials are those of its tasks", true);
        expect_text("No trial", false);
    }
    app_show(&app, VIEW_SPACE);
    settle();
    expect_text("spaces are", true); // those of its tasks
    expect_text("does not load", false);
    // It is exported as soon as a task has a kernel, though it has no best trial of its own.
    app_act(&app, (enum action)(ACT_VIEW + VIEW_NETWORK));
    assert_non_null(app_disabled(&app, ACT_EXPORT));
    for (int i = 0; i < app.model.session_count; i++) {
        struct session_record *r = &app.model.session[i].record;
        r->scheduler = "gradient";
        r->ok = 1;
        r->best_ask = 0;
    }
    const char *why = app_disabled(&app, ACT_EXPORT);
    if (why)
        fail_msg("%s", why);
    close_app();
}

// Two tasks that are sessions 1 and 2. The second gained last, by a kernel of microseconds.
static void test_what_a_network_reached(void **state)
{
    (void)state;
    char sql[900];
    open_app(FIXTURE_SEVERAL, 36, 120, CHARSET_BRAILLE);
    make_network();
    snprintf(sql, sizeof sql,
             "UPDATE session SET network = %d WHERE id IN (1, 2);"
             "UPDATE task SET session = position;"
             "UPDATE trial SET rank_seconds = CASE session WHEN 1 THEN 0.0125 WHEN 2 THEN 3.36e-6"
             " END WHERE session IN (1, 2, %d) AND rank_seconds IS NOT NULL;"
             "INSERT INTO round VALUES (%d, 1, 1, 4, 0, 1, 0.0125, 1, 0.05, 4, 1, %.1f),"
             " (%d, 2, 2, 4, 0, 1, 3.36e-6, 1, 0.025, 8, 2, %.1f)",
             (int)fixture.session, (int)fixture.session, (int)fixture.session, FIXTURE_NOW - 8,
             (int)fixture.session, FIXTURE_NOW - 4);
    fixture_execute(&fixture, sql);
    assert_true(model_open(&app.model, fixture.session, NULL));
    now += 2;
    settle();
    expect_text("3.36 us", true);
    expect_text("12.5 ms", true);
    expect_text("0.00", false);
    expect_text("rows 1-", false);
    app_resize(&app, 6, 120); // a part of the table
    expect_text("rows 1-1 of 2", true);
    app_resize(&app, 36, 120);
    expect_text("dense, trial 8: sum of parts 25 ms (-50.0 %)", true); // the new best
    // The session of a task does not change whom keys mean here.
    app_open_session(&app, 1);
    assert_int_equal(app_session(&app)->record.id, 1);
    app_show(&app, VIEW_NETWORK);
    assert_int_equal(app_session(&app)->record.id, fixture.session);
    app_act(&app, ACT_BACK); // to the network
    assert_int_equal(app.model.open.record.id, fixture.session);
    assert_int_equal(app.view, VIEW_NETWORK);
    app_show(&app, VIEW_SESSIONS);
    app_act(&app, ACT_FIRST);
    app_poll(&app, now, FIXTURE_NOW + 2); // lists the sessions anew
    settle();
    expect_text("sum of parts 25 ms", true);
    expect_text("  25 ms ", true); // in the list
    expect_text("nothing valid", false);
    author_end(fixture.author, STATE_DONE, "");
    app_poll(&app, now, FIXTURE_NOW + 4);
    assert_non_null(app.announcement);
    assert_non_null(strstr(app.announcement, "done: 25"));
    close_app();
}

static void test_keys_of_sorting(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120, CHARSET_BRAILLE);
    expect_text("sort: share v", true);
    app_act(&app, ACT_SORT_NEXT);
    expect_text("sort: trials v", true);
    app_act(&app, ACT_SORT_INVERT);
    expect_text("sort: trials ^", true);
    for (int i = 0; i < NETWORK_COLUMNS; i++)
        app_act(&app, ACT_SORT_PREVIOUS);
    expect_text("sort: trials ^", true);
    close_app();
}

static void test_sessions_without_results(void **state)
{
    (void)state;
    open_app(FIXTURE_EMPTY, 36, 120, CHARSET_BRAILLE);
    expect_text("nothing valid yet", true);
    model_close(&app.model);
    settle();
    expect_text("No session is open.", true);
    app_act(&app, ACT_DOWN);
    close_app();
    open_app(FIXTURE_NOTHING, 24, 80, CHARSET_BRAILLE);
    expect_text("No session is open.", true);
    close_app();
}

static void draw_any(void *context, const struct pane *p)
{
    (void)context;
    view_network.draw(&app, app.state[VIEW_NETWORK], p);
    view_network.act(&app, app.state[VIEW_NETWORK], ACT_NEXT_PANE);
    view_network.act(&app, app.state[VIEW_NETWORK], ACT_DOWN);
}

static void test_every_size(void **state)
{
    (void)state;
    for (int shape = FIXTURE_SMALL; shape <= FIXTURE_NOTHING; shape++) {
        open_app((enum fixture_shape)shape, 36, 120, CHARSET_BRAILLE);
        look_all_sizes(CHARSET_BRAILLE, draw_any, NULL);
        look_all_sizes(CHARSET_ASCII, draw_any, NULL);
        close_app();
    }
}

static void test_ascii_is_ascii(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120, CHARSET_ASCII);
    char *text = look_text(&app.screen);
    for (const char *c = text; *c; c++)
        assert_true(*c == '\n' || (*c >= ' ' && *c < 127));
    free(text);
    close_app();
}

TEST_GROUP(network)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_of_the_objective),
        cmocka_unit_test(test_sorting),
        cmocka_unit_test(test_time_of_the_last_minutes),
        cmocka_unit_test(test_the_operator_of_a_session),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_a_network_has_no_trials),
        cmocka_unit_test(test_what_a_network_reached),
        cmocka_unit_test(test_keys_of_sorting),
        cmocka_unit_test(test_sessions_without_results),
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_ascii_is_ascii),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
