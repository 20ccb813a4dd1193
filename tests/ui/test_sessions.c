// The list of sessions: orders and filters against plain loops, the cursor and the window while
// sessions come and go, keys that mean the session under the cursor.
#include "group.h"
#include "sessions_screen.h"
#include "wording.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void assert_ids(struct stage *s, const char *expected)
{
    struct str ids = {0};
    struct sessions_view *v = view_of(s);
    sessions_sync(&s->app, v);
    for (int i = 0; i < v->count; i++)
        str_printf(&ids, "%s%lld", i ? " " : "", (long long)v->row[i]->record.id);
    assert_string_equal(str_text(&ids), expected);
    str_finish(&ids);
}

// --- order ---

static double plain_key(struct stage *s, enum sessions_column by, const struct session_row *row)
{
    const struct session_record *r = &row->record;
    switch (by) {
    case SESSIONS_ID: return (double)r->id;
    case SESSIONS_SEED: return (double)r->seed;
    case SESSIONS_TRIALS: return (double)r->trials;
    case SESSIONS_BEST: return r->flop / r->best_seconds;
    case SESSIONS_ACTIVE: return row->runner ? INFINITY : sessions_facts(view_of(s), r->id)->active;
    default: return 0;
    }
}

static const char *plain_text(enum sessions_column by, const struct session_row *row)
{
    return by == SESSIONS_STATE      ? state_name(row->state)
           : by == SESSIONS_STRATEGY ? row->record.strategy
           : by == SESSIONS_NOTE     ? (row->record.note ? row->record.note : "")
                                     : "";
}

static void every_column_sorts_both_ways(void **state)
{
    struct stage *s = *state;
    struct sessions_view *v = view_of(s);
    int seen = 0;
    for (int press = 0; press < 2 * (SESSIONS_COLUMNS - 1); press++) {
        stage_play(s, press % 2 ? "I" : ">");
        assert_int_not_equal(v->sort, SESSIONS_CURVE);
        seen |= 1 << v->sort;
        sessions_sync(&s->app, v);
        assert_int_equal(v->count, SESSIONS);
        for (int i = 1; i < v->count; i++) {
            const struct session_row *a = v->row[i - 1], *b = v->row[i];
            double x = plain_key(s, v->sort, a), y = plain_key(s, v->sort, b);
            int order = strcmp(plain_text(v->sort, a), plain_text(v->sort, b));
            order = order ? order : (x > y) - (x < y);
            assert_true(order == 0 ? a->record.id > b->record.id : (order < 0) == v->ascending);
        }
    }
    assert_int_equal(seen, (1 << SESSIONS_COLUMNS) - 1 - (1 << SESSIONS_CURVE));
}

// --- filters ---

static void filters_are_words_anywhere_or_in_a_field(void **state)
{
    static const struct {
        const char *filter, *ids;
    } cases[] = {
        {"", "7 6 5 4 3 2 1"},
        {"state:done", "3 2 1"},
        {"STATE:Done RANDOM", "3"},
        {"strategy:random", "3"},
        {"note:swizzle", "3"},
        {"swizzle", "3"},
        {"came_back", ""},  // both words, not one of them
        {"come_back", "5"}, // in its message
        {"id:1", "1"},      // not 10, 11
        {"seed:1", "3 1"},
        {"note~SWIZZLE seed==1", "3"},
        {"navi31 matmul", "7 6 5 4 3 2 1"},
        {"state:running_state:done", ""},
        {"\"opevo:\"", "7 6 5 4 2 1"},
        {"opevo:q", "7 6 5 4 2 1"}, // no field: as it stands
        {"not strategy:opevo", "3"},
        {"id:1 or (id>5 not seed=7)", "6 1"},
        {"id:1 or id>5 and not id=7", "6 1"},
        {"q=0.3", "5"},
        {"71/120", "4"}, // as the row shows it
        {"120/", "3 2 1"},
        {"device:navi31 7900", "7 6 5 4 3 2 1"},
        {"id>5", "7 6"},
        {"id<=2 id!=1", "2"},
        {"trials<60", "6 5"},
        {"tri>=71 state!=done", "7 4"},
        {"seed=7", "7"},
        {"budget=120 state=DONE", "3 2 1"},
        {"strategy=random", "3"},
        {"strategy=opevo", "7 6 4 2 1"}, // what is standard is not shown
        {"best>0", "7 6 5 4 3 2 1"},
        {"best<0", ""},
    };
    struct stage *s = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keys[128];
        char typed[64];
        snprintf(typed, sizeof typed, "%s", cases[i].filter);
        for (char *c = typed; *c; c++)
            *c = *c == ' ' ? '_' : *c;
        snprintf(keys, sizeof keys, "/ \"%s enter", typed);
        stage_play(s, keys);
        assert_ids(s, cases[i].ids);
        stage_play(s, "esc");
        assert_ids(s, "7 6 5 4 3 2 1");
    }
}

static void a_wrong_filter_is_told_and_stays_to_be_mended(void **state)
{
    static const struct {
        const char *filter, *complaint;
    } cases[] = {
        {"st:done", "several fields begin with 'st'"},
        {"frob=3", "no field 'frob' (Tab lists them)"},
        {"frob:3", "no field 'frob'"},
        {"best>", "column 6: a value belongs here"},
        {"id:1_or", "column 8: something is missing here"},
        {"trials~1", "column 8: ~ looks for words, 'trials' is a number"},
        {"trials<many", "column 8: 'trials' is a number, not 'many'"},
        {"state<done", "'state' is a text: it takes : = !=, not < >"},
    };
    struct stage *s = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keys[64];
        snprintf(keys, sizeof keys, "/ ctrl-u \"%s enter", cases[i].filter);
        stage_play(s, "/ \"random enter");
        stage_play(s, keys);
        assert_shows(s, cases[i].complaint);
        assert_true(s->app.prompt.open);
        stage_play(s, "esc");
        assert_hides(s, cases[i].complaint);
        assert_ids(s, "3");
        stage_play(s, "esc");
    }
}

// As the list shows it, whatever the digits behind.
static void the_best_equals_what_is_shown(void **state)
{
    struct stage *s = *state;
    char keys[64], number[24];
    double per_flops;
    sessions_unit(&s->app.model, &per_flops);
    sessions_speed(record_speed(&model_row(&s->app.model, 4)->record), per_flops, number);
    snprintf(keys, sizeof keys, "/ \"best=%s enter", number);
    stage_play(s, keys);
    assert_ids(s, "4");
    snprintf(keys, sizeof keys, "/ ctrl-u \"%s enter", number);
    stage_play(s, keys);
    assert_ids(s, "4");
}

static void other_sources_are_where_a_device_would_be(void **state)
{
    struct stage *s = *state;
    struct session_record r = model_row(&s->app.model, 1)->record;
    struct err e;
    int64_t id;
    r.source = "synthetic:rugged:seed=3";
    r.device = "none";
    must(store_create_session(s->fixture.store, &r, NULL, 0, &id, &e), &e);
    r.source = "replay:/home/somebody/a100.json:speed=50";
    must(store_create_session(s->fixture.store, &r, NULL, 0, &id, &e), &e);
    stage_wait(s, 5);
    app_resize(&s->app, 36, 150);
    assert_shows(s, "  synthetic:rugged  ");
    assert_shows(s, "  replay:a100.json  ");
    // As it is shown.
    stage_play(s, "/ \"synthetic:rugged enter");
    assert_ids(s, "8");
    assert_shows(s, "from synthetic:rugged:seed=3"); // in the panel, which names no device
    assert_hides(s, "none, driver");
    app_resize(&s->app, 36, 120);
    assert_shows(s, "  synthetic…  ");
}

// One trial of 10 ms.
static int64_t add_done(struct stage *s, const struct session_record *r)
{
    struct trial_record t = {.ask = 1,
                             .number = 1,
                             .told = 1,
                             .key = "",
                             .config = "{}",
                             .outcome = OUTCOME_OK,
                             .seconds = 0.01,
                             .samples = "[]"};
    struct err e;
    int64_t id;
    must(store_create_session(s->fixture.store, r, NULL, 0, &id, &e), &e);
    must(store_put_trial(s->fixture.store, id, &t, &e), &e);
    return id;
}

static int64_t add_replay(struct stage *s, const char *operation, double flop)
{
    struct session_record r = model_row(&s->app.model, 1)->record;
    r.source = "replay:/home/somebody/a100.json";
    r.operation = operation;
    r.flop = flop;
    r.state = STATE_DONE;
    return add_done(s, &r);
}

static void add_rated(struct stage *s, const char *unit, double work)
{
    struct session_record r = model_row(&s->app.model, 1)->record;
    r.unit = unit;
    r.work = work;
    r.state = STATE_DONE;
    add_done(s, &r);
}

static void relative_speeds_are_in_no_unit(void **state)
{
    struct stage *s = *state;
    assert_int_equal(add_replay(s, "{\"kind\":\"replay\",\"unit\":\"s/GFLOP\"}", 1e9), 8);
    add_replay(s, "{\"kind\":\"replay\",\"unit\":\"s\"}", 8e9); // four fifths of the fastest
    add_replay(s, "{\"kind\":\"replay\",\"unit\":\"s\"}", 8e9);
    stage_wait(s, 5);
    app_resize(&s->app, 36, 150);
    assert_shows(s, "    80 %  ");
    assert_true(record_speed(&model_row(&s->app.model, 8)->record) > 0);
    assert_true(record_speed(&model_row(&s->app.model, 9)->record) == 0);
    stage_play(s, "/ \"best>0.05_source:replay enter");
    assert_ids(s, "8");
    // As it is shown.
    stage_play(s, "/ ctrl-u \"80_source:replay enter");
    assert_ids(s, "10 9");
    assert_shows(s, "80.0 %");
    stage_play(s, "g space j space c");
    assert_shows(s, "% of the fastest");
    assert_shows(s, "  80.00  ");
}

static void what_is_not_rated_by_flop_has_a_best(void **state)
{
    struct stage *s = *state;
    add_replay(s, "{\"kind\":\"replay\",\"unit\":\"s/GFLOP\"}", 1e9);
    add_rated(s, WORK_BYTES, 8.004e9);
    add_rated(s, WORK_BYTES, 1.234e10);
    add_rated(s, "Mcells/s", 8);
    stage_wait(s, 5);
    app_resize(&s->app, 36, 150);
    static const char *const cases[][2] = {
        {"best>800.3_id>8", "10 9"}, {"best=800.4", "9"}, {"best<800.41_id>8", "11 9"},
        {"best>=1234_id>8", "10"},   {"best=1230", "10"}, {"best!=800.4_id=9", ""},
        {"best=800_id>8", "11"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keys[64];
        snprintf(keys, sizeof keys, "/ ctrl-u \"%s enter", cases[i][0]);
        stage_play(s, keys);
        assert_ids(s, cases[i][1]);
    }
}

// Speeds in different units are not compared: the fastest of each unit are first, or last.
static void what_is_not_rated_by_flop_is_sorted_by_its_unit(void **state)
{
    struct stage *s = *state;
    add_rated(s, WORK_BYTES, 8.004e9); // session 8
    add_rated(s, "Mcells/s", 8);
    add_rated(s, WORK_BYTES, 1.234e10);
    add_replay(s, "{\"kind\":\"replay\",\"unit\":\"s\"}", 8e9);
    stage_wait(s, 5);
    app_resize(&s->app, 36, 150);
    while (view_of(s)->sort != SESSIONS_BEST)
        stage_play(s, ">");
    stage_play(s, "/ \"id>7 enter");
    assert_ids(s, "10 8 9 11");
    stage_play(s, "I");
    assert_ids(s, "8 10 9 11");
    assert_shows(s, " 800.4 GB/s ");
    assert_shows(s, " 1.23 TB/s ");
}

static void small_screens_keep_cursor_and_marks(void **state)
{
    struct stage *s = *state;
    stage_play(s, "space j");
    app_resize(&s->app, 15, 60);
    assert_shows(s, "  [A]  7  running");
    assert_shows(s, "> [ ]  6  paused");
    app_resize(&s->app, 15, 40);
    assert_shows(s, "> [ ]  6");
    app_resize(&s->app, 15, 12);
    assert_shows(s, " A  7");
    assert_shows(s, ">   6");
}

static void notes_are_shown_where_there_is_room(void **state)
{
    struct stage *s = *state;
    struct err e;
    app_resize(&s->app, 36, 200);
    assert_shows(s, "baseline: before");
    assert_shows(s, "  note  ");
    app_resize(&s->app, 36, 80);
    assert_hides(s, "  note  ");
    app_resize(&s->app, 36, 200);
    must(store_set_note(s->fixture.store, 3, NULL, &e), &e);
    stage_wait(s, 5);
    assert_hides(s, "  note  ");
}

static void a_filter_given_up_leaves_all_as_it_was(void **state)
{
    struct stage *s = *state;
    stage_play(s, "j j");
    assert_int_equal(cursor_of(s), 5);
    stage_play(s, "/ \"random");
    assert_int_equal(cursor_of(s), 3);
    assert_shows(s, "1 of 7 sessions");
    stage_play(s, "esc");
    assert_int_equal(cursor_of(s), 5);
    assert_shows(s, "filter: none");
    stage_play(s, "/ \"nothing_like_it enter");
    assert_int_equal(cursor_of(s), 0);
    assert_shows(s, "No session matches.");
    stage_play(s, "D");
    // Nor is it the open one behind the user's back.
    assert_null(s->app.dialog);
    wording_is("ui", "sessions: D without a session", s->app.notice);
}

// --- the cursor ---

static void the_cursor_stays_on_its_session(void **state)
{
    struct stage *s = *state;
    stage_play(s, "j j j");
    assert_int_equal(cursor_of(s), 4);
    int64_t id = add_session(s);
    stage_wait(s, 5);
    assert_int_equal(s->app.model.session_count, SESSIONS + 1);
    assert_int_equal(view_of(s)->row[0]->record.id, id);
    assert_int_equal(cursor_of(s), 4);
    stage_play(s, "> > I");
    assert_int_equal(cursor_of(s), 4);
    stage_play(s, "< < j");
    assert_int_equal(cursor_of(s), 3);
}

static void a_deleted_session_gives_the_cursor_to_the_next(void **state)
{
    struct stage *s = *state;
    struct err e;
    stage_play(s, "j j");
    must(store_delete_session(s->fixture.store, 5, &e), &e);
    stage_wait(s, 5);
    assert_int_equal(cursor_of(s), 4);
    must(store_delete_session(s->fixture.store, 1, &e), &e);
    must(store_delete_session(s->fixture.store, 2, &e), &e);
    stage_wait(s, 5);
    stage_play(s, "G");
    assert_int_equal(cursor_of(s), 3);
    must(store_delete_session(s->fixture.store, 3, &e), &e);
    stage_wait(s, 5);
    assert_int_equal(cursor_of(s), 4); // the last one now
}

static void enter_opens_and_coming_back_finds_it(void **state)
{
    struct stage *s = *state;
    stage_play(s, "j j j j enter");
    assert_int_equal(s->app.view, VIEW_MAIN);
    assert_int_equal(s->app.model.open.record.id, 3);
    stage_play(s, "5");
    assert_int_equal(cursor_of(s), 3);
    stage_play(s, "g esc");
    assert_int_equal(s->app.view, VIEW_MAIN);
}

static void actions_mean_the_session_under_the_cursor(void **state)
{
    struct stage *s = *state;
    stage_play(s, "p"); // the running one
    assert_true(str_starts(str_text(&s->commands), "tilewalk pause 7 "));
    // It runs.
    stage_play(s, "D");
    assert_null(s->app.dialog);
    stage_play(s, "j j D");
    assert_non_null(strstr(str_text(&s->commands), "tilewalk rm 5 "));
}

static void clicks_choose_rows(void **state)
{
    struct stage *s = *state;
    app_click(&s->app, 2 + 1 + 1 + 4, 30); // head, frame, heads, the fifth row
    assert_int_equal(cursor_of(s), 3);
    app_click(&s->app, 2 + 1, 30);
    app_click(&s->app, 30, 30);
    assert_int_equal(cursor_of(s), 3);
}

// A question about a session of the old database must not act on one of the new one.
static void another_database_takes_questions_and_facts_with_it(void **state)
{
    struct stage *s = *state;
    stage_play(s, "G n");
    assert_shows(s, "set 1");
    fixture_replace(&s->fixture);
    stage_wait(s, 5);
    assert_null(s->app.dialog);
    assert_ids(s, "3 2 1");
    assert_shows(s, "replaced");
    assert_int_equal(view_of(s)->facts_count, 3);
    stage_play(s, ": \"rm_1");
    fixture_remove(&s->fixture);
    stage_wait(s, 5);
    assert_false(s->app.prompt.open);
    assert_int_equal(cursor_of(s), 0);
    assert_shows(s, "No sessions");
}

// --- many ---

static void of_many_sessions_those_shown_are_read(void **state)
{
    struct stage *s = *state;
    struct sessions_view *v = view_of(s);
    for (int i = 0; i < 400; i++)
        add_session(s);
    stage_wait(s, 5);
    assert_shows(s, "rows 387-"); // the cursor is where it was
    stage_play(s, "g");
    assert_int_equal(v->count, 400 + SESSIONS);
    assert_true(v->facts_count <= SESSIONS + 3 * v->list.rows);
    assert_shows(s, "rows 1-");
    stage_play(s, "G");
    assert_int_equal(cursor_of(s), 1);
    assert_int_equal(v->list.top, v->count - v->list.rows);
    assert_true(v->facts_count <= SESSIONS + 4 * v->list.rows);
    int top = v->list.top;
    add_session(s); // above: the window stays on what it shows
    stage_wait(s, 5);
    app_draw(&s->app);
    assert_int_equal(v->list.top, top + 1);
}

static void paging_goes_everywhere(void **state)
{
    struct stage *s = *state;
    struct sessions_view *v = view_of(s);
    for (int i = 0; i < 60; i++)
        add_session(s);
    stage_wait(s, 5);
    stage_play(s, "G g");
    app_draw(&s->app);
    stage_play(s, "pgdn");
    assert_int_equal(v->list.cursor, v->list.rows - 1);
    stage_play(s, "pgup");
    for (int i = 0; i < 40; i++) {
        stage_play(s, i < 20 ? "ctrl-d" : "ctrl-u");
        app_draw(&s->app);
        assert_true(v->list.cursor >= v->list.top && v->list.cursor < v->list.top + v->list.rows);
        assert_int_equal(v->row[v->list.cursor]->record.id, cursor_of(s));
        assert_int_equal(i == 19 ? cursor_of(s) : 1, 1);
    }
    assert_int_equal(v->list.cursor, 0);
}

TEST_GROUP(sessions)
{
    const struct CMUnitTest tests[] = {
        ON_SESSIONS(every_column_sorts_both_ways),
        ON_SESSIONS(filters_are_words_anywhere_or_in_a_field),
        ON_SESSIONS(what_is_not_rated_by_flop_has_a_best),
        ON_SESSIONS(what_is_not_rated_by_flop_is_sorted_by_its_unit),
        ON_SESSIONS(a_wrong_filter_is_told_and_stays_to_be_mended),
        ON_SESSIONS(the_best_equals_what_is_shown),
        ON_SESSIONS(other_sources_are_where_a_device_would_be),
        ON_SESSIONS(relative_speeds_are_in_no_unit),
        ON_SESSIONS(small_screens_keep_cursor_and_marks),
        ON_SESSIONS(notes_are_shown_where_there_is_room),
        ON_SESSIONS(a_filter_given_up_leaves_all_as_it_was),
        ON_SESSIONS(the_cursor_stays_on_its_session),
        ON_SESSIONS(a_deleted_session_gives_the_cursor_to_the_next),
        ON_SESSIONS(enter_opens_and_coming_back_finds_it),
        ON_SESSIONS(actions_mean_the_session_under_the_cursor),
        ON_SESSIONS(clicks_choose_rows),
        ON_SESSIONS(another_database_takes_questions_and_facts_with_it),
        ON_SESSIONS(of_many_sessions_those_shown_are_read),
        ON_SESSIONS(paging_goes_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
