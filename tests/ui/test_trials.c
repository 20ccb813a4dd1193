// The trials screen: rows in every order against a plain sort, pages against lists, the window, the
// filter as it is typed, and drawing at all sizes.
#include "group.h"
#include "look.h"
#include "stage.h"
#include "view_trials.h"
#include "wording.h"

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"

enum { MOST_ASKS = 512 };

static int setup(void **state)
{
    setlocale(LC_ALL, "C.UTF-8");
    struct stage *s = mem_alloc(sizeof *s);
    stage_open(s, FIXTURE_SMALL, VIEW_TRIALS, CHARSET_BRAILLE);
    app_resize(&s->app, 36, 120);
    app_draw(&s->app);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    stage_close(*state);
    free(*state);
    return 0;
}

static struct trials_view *view_of(struct stage *s)
{
    return s->app.state[VIEW_TRIALS];
}

static bool shows(struct stage *s, const char *text)
{
    stage_rest(s);
    char *frame = stage_frame(s);
    bool found = strstr(frame, text) != NULL;
    free(frame);
    return found;
}

static void assert_shows(struct stage *s, const char *text)
{
    if (!shows(s, text)) {
        char *frame = stage_frame(s);
        fail_msg("'%s' is not in\n%s", text, frame);
    }
}

static int64_t read_all(struct rows *r, struct model *m, int64_t ask[MOST_ASKS])
{
    while (rows_step(r, m))
        ;
    int64_t count = 0;
    for (const struct trial *t; (t = rows_at(r, m, count)); count++) {
        assert_true(count < MOST_ASKS);
        ask[count] = t->ask;
    }
    return count;
}

static void start(struct rows *r, struct stage *s, struct rows_order o)
{
    rows_start(r, &s->app.model, &o);
}

// --- rows ---

struct known { // what a plain sort is made of
    double key;
    int64_t ask;
};

static int plain_order(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    if (isnan(x->key) != isnan(y->key))
        return isnan(x->key) ? 1 : -1;
    if (!isnan(x->key) && x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->ask < y->ask ? -1 : 1;
}

// All numbered trials by a column, with nothing of rows.c.
static int sort_plainly(struct stage *s, const struct column *c, bool descending,
                        struct words *words, struct known *out)
{
    struct model *m = &s->app.model;
    int count = 0;
    for (int64_t n = 1; n <= m->open.last_number; n++) {
        const struct trial *t = model_trial_numbered(m, n);
        double key = column_key(c, t, words);
        out[count++] = (struct known){descending ? -key : key, t->ask};
    }
    qsort(out, (size_t)count, sizeof *out, plain_order);
    return count;
}

static void every_column_sorts_both_ways(void **state)
{
    struct stage *s = *state;
    struct model *m = &s->app.model;
    struct columns columns;
    columns_make(&columns, m);
    assert_true(columns.count > 20);
    for (int i = 0; i < 2 * columns.count; i++) {
        struct known plain[MOST_ASKS];
        int64_t ask[MOST_ASKS];
        struct rows r = {0};
        struct rows_order o = {.by = columns.column[i / 2], .descending = i % 2};
        start(&r, s, o);
        int64_t count = read_all(&r, m, ask);
        int expected = sort_plainly(s, &o.by, o.descending, &r.words, plain);
        if (r.kind == ROWS_RANKED) { // without those that have no speed
            assert_int_equal(count, m->open.tally[OUTCOME_OK]);
            expected = (int)count;
        }
        assert_int_equal(count, expected);
        for (int k = 0; k < count; k++) {
            assert_int_equal(ask[k], plain[k].ask);
            assert_int_equal(rows_find(&r, m, ask[k], 0), k);
        }
        rows_finish(&r);
    }
}

static void pages_are_what_a_list_would_be(void **state)
{
    struct stage *s = *state;
    struct columns columns;
    columns_make(&columns, &s->app.model);
    const struct filter_amounts amounts = {.flop = 1, .ms = 1e3, .rate = 1};
    struct filter *all = filter_compile("ask>0", s->app.model.open.space, &amounts, NULL);
    struct filter *ok = filter_compile("outcome=ok", s->app.model.open.space, &amounts, NULL);
    const struct rows_order pages[] = {{columns.column[COLUMN_NUMBER], false, NULL, false},
                                       {columns.column[COLUMN_NUMBER], true, NULL, false},
                                       {columns.column[COLUMN_SPEED], true, NULL, false}};
    for (size_t i = 0; i < 3; i++) {
        struct rows page = {0}, list = {0};
        int64_t in_pages[MOST_ASKS], in_list[MOST_ASKS];
        struct rows_order o = pages[i];
        start(&page, s, o);
        o.filter = i == 2 ? ok : all;
        start(&list, s, o);
        assert_int_not_equal(page.kind, ROWS_LISTED);
        assert_int_equal(list.kind, ROWS_LISTED);
        int64_t count = read_all(&page, &s->app.model, in_pages);
        assert_int_equal(read_all(&list, &s->app.model, in_list), count);
        assert_memory_equal(in_pages, in_list, (size_t)count * sizeof *in_list);
        rows_finish(&page);
        rows_finish(&list);
    }
    filter_destroy(all);
    filter_destroy(ok);
}

// The trial's own time stays known, but lists, sorting and filters have that of the race.
static void a_race_is_what_lists_show(void **state)
{
    struct stage *s = *state;
    struct model *m = &s->app.model;
    struct trials_view *v = view_of(s);
    char number[24], keys[64];
    stage_play(s, "> I"); // the slowest first: a list
    assert_int_equal(v->rows.kind, ROWS_LISTED);
    struct trial best = *model_best(m);
    int64_t second = model_trial_ranked(m, 1)->ask;
    author_retime(s->fixture.author, best.ask, "race", 2, true);
    author_retime(s->fixture.author, second, "race", 2, false);
    stage_wait(s, 2);
    const struct trial *raced = model_trial(m, best.ask);
    assert_true(trial_shown_seconds(raced) == 2 * best.seconds);
    assert_true(trial_shown_seconds(model_trial(m, second)) == model_trial(m, second)->seconds);
    double before = 0;
    int64_t count = rows_count(&v->rows, m);
    assert_int_equal(count, m->open.last_number);
    for (int64_t i = 0; i < m->open.tally[OUTCOME_OK]; i++) {
        double speed = trial_shown_speed(m, rows_at(&v->rows, m, i));
        assert_true(speed >= before);
        before = speed;
    }
    speed_number(m, trial_shown_speed(m, raced), number);
    snprintf(keys, sizeof keys, "/ \"tflops=%s enter", number);
    stage_play(s, keys);
    assert_true(rows_find(&v->rows, m, best.ask, 0) >= 0);
    assert_shows(s, "  race  ");
    assert_shows(s, number);
}

static void texts_get_numbers_in_order(void **state)
{
    struct rng r;
    struct words w = {0};
    (void)state;
    rng_seed(&r, 5);
    for (int i = 0; i < 2000; i++) {
        char text[16];
        snprintf(text, sizeof text, "%llx", (unsigned long long)rng_below(&r, 1500));
        double key = words_key(&w, text);
        assert_true(key == words_key(&w, text));
    }
    assert_in_range(w.count, 900, 1500);
    for (int i = 1; i < w.count; i++) {
        assert_true(strcmp(w.word[i - 1].text, w.word[i].text) < 0);
        assert_true(w.word[i - 1].key < w.word[i].key);
    }
    words_finish(&w);
}

static void lists_take_what_comes_later(void **state)
{
    struct stage *s = *state;
    struct model *m = &s->app.model;
    struct columns columns;
    columns_make(&columns, m);
    struct rows r = {0};
    int64_t ask[MOST_ASKS];
    start(&r, s, (struct rows_order){.by = columns.column[COLUMN_SPEED]});
    assert_int_equal(read_all(&r, m, ask), 64);
    fixture_tell(&s->fixture, 7);
    s->app.now += 1;
    assert_true(model_poll(m, FIXTURE_NOW + 1));
    assert_int_equal(read_all(&r, m, ask), 71);
    struct known plain[MOST_ASKS];
    assert_int_equal(sort_plainly(s, &r.order.by, false, &r.words, plain), 71);
    for (int i = 0; i < 71; i++)
        assert_int_equal(ask[i], plain[i].ask);
    rows_finish(&r);
}

static void large_lists_are_sorted_in_slices(void **state)
{
    (void)state;
    struct fixture f;
    struct model m;
    struct columns columns;
    struct rows r = {0};
    fixture_create_huge(&f, 20000);
    model_init(&m, f.path);
    assert_true(model_open(&m, f.session, NULL));
    columns_make(&columns, &m);
    struct rows_order o = {.by = columns.column[COLUMN_SPEED]};
    rows_start(&r, &m, &o);
    int slices = 0, seen = 0;
    while (rows_step(&r, &m)) {
        slices++;
        seen += r.count > 0; // something is shown before all is read
        assert_true(scan_share(&r.scan, &m) < 1);
    }
    assert_true(slices > 20 && seen > 20);
    assert_int_equal(r.count, m.open.last_number);
    for (int64_t i = 1; i < r.count; i++)
        assert_true(r.entry[i - 1].key <= r.entry[i].key);
    rows_finish(&r);
    model_finish(&m);
    fixture_destroy(&f);
}

// --- keys ---

static void the_cursor_is_everybodys(void **state)
{
    struct stage *s = *state;
    assert_shows(s, ">      64");
    stage_play(s, "j j");
    assert_shows(s, ">      62");
    assert_int_equal(s->app.selected, model_trial_numbered(&s->app.model, 62)->ask);
    assert_false(s->app.follow);
    stage_play(s, "G");
    assert_shows(s, ">       1");
    app_select(&s->app, model_trial_numbered(&s->app.model, 33)->ask);
    assert_shows(s, ">      33");
    stage_play(s, "g");
    assert_shows(s, ">      64");
    assert_true(s->app.follow);
    stage_play(s, "enter");
    assert_int_equal(s->app.view, VIEW_MAIN);
}

static int row_of(struct stage *s, const char *text)
{
    char *frame = stage_frame(s);
    const char *found = strstr(frame, text);
    assert_non_null(found);
    int row = 0;
    for (const char *c = frame; c < found; c++)
        row += *c == '\n';
    free(frame);
    return row;
}

static void the_window_stands_still(void **state)
{
    struct stage *s = *state;
    stage_play(s, "j j j j j");
    int row = row_of(s, ">      59");
    fixture_tell(&s->fixture, 3);
    stage_wait(s, 1);
    assert_shows(s, "67 trials");
    assert_int_equal(row_of(s, ">      59"), row);
    stage_play(s, "g"); // and follows again
    fixture_tell(&s->fixture, 1);
    stage_wait(s, 1);
    assert_shows(s, ">      68");
}

static void sorting_is_said_and_marked(void **state)
{
    struct stage *s = *state;
    assert_shows(s, "trial ▼");
    assert_shows(s, "▼ newest first");
    stage_play(s, ">");
    assert_shows(s, "TFLOPS ▼");
    assert_shows(s, "58 of 64 ");
    stage_play(s, "I");
    assert_shows(s, "TFLOPS ▲");
    assert_shows(s, "slowest first");
    stage_play(s, "< <"); // round to the last column, which comes into sight
    assert_shows(s, "reason ▲");
    assert_int_equal(view_of(s)->rows.kind, ROWS_LISTED);
    stage_play(s, ">");
    assert_int_equal(view_of(s)->rows.kind, ROWS_NUMBERED);
}

static void columns_scroll_to_the_last(void **state)
{
    struct stage *s = *state;
    assert_false(shows(s, "reason"));
    for (int i = 0; i < 60; i++)
        stage_play(s, "l");
    assert_shows(s, "reason");
    assert_shows(s, "trial ▼   TFLOPS  outcome  <");
    int skip = view_of(s)->skip;
    stage_play(s, "h");
    assert_int_equal(view_of(s)->skip, skip - 1);
}

static void filters_apply_while_they_are_typed(void **state)
{
    struct stage *s = *state;
    stage_play(s, "/ \"pad=4");
    assert_shows(s, "filter: pad=4");
    int64_t some = rows_count(&view_of(s)->rows, &s->app.model);
    assert_in_range(some, 1, 63);
    stage_play(s, "\"_padd=2");
    assert_shows(s, "column 7: ");
    assert_int_equal(rows_count(&view_of(s)->rows, &s->app.model), some);
    stage_play(s, "esc");
    assert_shows(s, "filter: none");
    stage_play(s, "/ \"pad=4 enter");
    assert_shows(s, " of 64 ");
    stage_play(s, "n");
    assert_int_not_equal(s->app.selected, 0);
    stage_play(s, "esc");
    assert_shows(s, "filter: none");
    assert_int_equal(s->app.view, VIEW_TRIALS);
}

// All screens mean the selected trial: it is one of the rows.
static void a_filter_selects_one_of_its_rows(void **state)
{
    struct stage *s = *state;
    stage_play(s, "/ \"pad!=4 enter");
    int64_t other = rows_at(&view_of(s)->rows, &s->app.model, 0)->ask;
    app_select(&s->app, other);
    stage_play(s, "/ ctrl-u \"pad=4");
    assert_int_equal(s->app.selected, other); // it is still being typed
    stage_play(s, "enter");
    int64_t first = rows_at(&view_of(s)->rows, &s->app.model, 0)->ask;
    assert_int_equal(s->app.selected, first);
    stage_play(s, "j");
    int64_t second = s->app.selected;
    assert_int_not_equal(second, first);
    stage_play(s, "/ enter"); // a row of it stays selected
    assert_int_equal(s->app.selected, second);
}

// Enter opens the trial that the cursor is on. One that the filter hides is nowhere.
static void a_hidden_trial_does_not_open(void **state)
{
    struct stage *s = *state;
    stage_play(s, "j / \"ask<0 enter");
    assert_shows(s, " 0 of 64 ");
    stage_play(s, "enter");
    assert_int_equal(s->app.view, VIEW_TRIALS);
    wording_is("ui", "trials: enter without a trial", s->app.notice);
    stage_play(s, "esc enter");
    assert_int_equal(s->app.view, VIEW_MAIN);
}

static void rejected_ones_are_shown_when_asked_for(void **state)
{
    struct stage *s = *state;
    int64_t rejected = s->app.model.open.tally[OUTCOME_REJECTED];
    assert_true(rejected > 0);
    stage_play(s, "R");
    stage_rest(s);
    assert_int_equal(rows_count(&view_of(s)->rows, &s->app.model), 64 + rejected);
    stage_play(s, "R");
    assert_int_equal(rows_count(&view_of(s)->rows, &s->app.model), 64);
    view_trials_filter(&s->app, "outcome=rejected");
    stage_rest(s);
    assert_int_equal(rows_count(&view_of(s)->rows, &s->app.model), rejected);
    view_trials_filter(&s->app, "outcome!=ok");
    stage_rest(s);
    assert_int_equal(rows_count(&view_of(s)->rows, &s->app.model), 6);
}

static void other_screens_set_filters(void **state)
{
    struct stage *s = *state;
    stage_play(s, "1");
    view_trials_filter(&s->app, "pad=4");
    assert_int_equal(s->app.view, VIEW_TRIALS);
    assert_shows(s, "filter: pad=4");
    view_trials_filter(&s->app, "pod=4");
    assert_shows(s, "'pod'");
    assert_shows(s, "filter: pad=4");
}

static void another_session_keeps_the_filter(void **state)
{
    struct stage *s = *state;
    view_trials_filter(&s->app, "pad=4");
    app_open_session(&s->app, s->fixture.session); // the space is another one in memory
    app_show(&s->app, VIEW_TRIALS);
    assert_shows(s, "filter: pad=4");
    assert_shows(s, " of 64 ");
    model_close(&s->app.model);
    assert_shows(s, "No session");
    stage_play(s, "j > I R n l / enter esc");
    assert_shows(s, "No session");
}

static void a_filter_is_of_its_session(void **state)
{
    struct stage s;
    (void)state;
    stage_open(&s, FIXTURE_SEVERAL, VIEW_TRIALS, CHARSET_BRAILLE);
    app_resize(&s.app, 36, 120);
    app_open_session(&s.app, 7);
    view_trials_filter(&s.app, "pad=4");
    app_open_session(&s.app, 7); // read again: it is the same one
    app_open_session(&s.app, 7);
    app_show(&s.app, VIEW_TRIALS);
    assert_shows(&s, "filter: pad=4");
    app_open_session(&s.app, 1);
    app_show(&s.app, VIEW_TRIALS);
    assert_shows(&s, "filter: none");
    stage_close(&s);
}

// Of the fields of speeds the one is offered that the columns show.
static void the_shown_unit_is_offered(void **state)
{
    struct stage *s = *state;
    stage_play(s, "/");
    assert_shows(s, " tflops>30 ");
    stage_play(s, "\"gf tab");
    assert_string_equal(s->app.prompt.line.text, "gf");
    stage_play(s, "esc");
    s->app.model.open.record.flop /= 1000;
    stage_play(s, "/");
    assert_shows(s, " gflops>30 ");
    stage_play(s, "\"gf tab");
    assert_string_equal(s->app.prompt.line.text, "gflops");
    s->app.model.open.record.flop *= 1000;
}

static void a_click_selects(void **state)
{
    struct stage *s = *state;
    int row = row_of(s, "      60  ");
    app_click(&s->app, row, 20);
    assert_shows(s, ">      60");
}

// --- drawing ---

static void draw(void *context, const struct pane *p)
{
    struct stage *s = context;
    view_trials.draw(&s->app, s->app.state[VIEW_TRIALS], p);
}

static void nothing_is_drawn_outside(void **state)
{
    struct stage *s = *state;
    look_all_sizes(CHARSET_BRAILLE, draw, s);
    stage_play(s, "< I l l");
    look_all_sizes(CHARSET_ASCII, draw, s);
    model_close(&s->app.model);
    look_all_sizes(CHARSET_ASCII, draw, s);
}

static void ascii_frames_are_ascii(void **state)
{
    struct stage *s = *state;
    s->app.screen.charset = CHARSET_ASCII;
    char *frame = stage_frame(s);
    assert_non_null(strstr(frame, "trial v"));
    for (const char *c = frame; *c; c++)
        assert_true((unsigned char)*c < 128);
    free(frame);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

TEST_GROUP(trials)
{
    const struct CMUnitTest tests[] = {
        TEST(every_column_sorts_both_ways),
        TEST(pages_are_what_a_list_would_be),
        TEST(a_race_is_what_lists_show),
        cmocka_unit_test(texts_get_numbers_in_order),
        TEST(lists_take_what_comes_later),
        cmocka_unit_test(large_lists_are_sorted_in_slices),
        TEST(the_cursor_is_everybodys),
        TEST(the_window_stands_still),
        TEST(sorting_is_said_and_marked),
        TEST(columns_scroll_to_the_last),
        TEST(filters_apply_while_they_are_typed),
        TEST(a_hidden_trial_does_not_open),
        TEST(rejected_ones_are_shown_when_asked_for),
        TEST(a_filter_selects_one_of_its_rows),
        TEST(other_screens_set_filters),
        TEST(another_session_keeps_the_filter),
        cmocka_unit_test(a_filter_is_of_its_session),
        TEST(the_shown_unit_is_offered),
        TEST(a_click_selects),
        TEST(nothing_is_drawn_outside),
        TEST(ascii_frames_are_ascii),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
