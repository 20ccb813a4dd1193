// Facts that are read of sessions, the panel and the comparison below the list, the screen without
// sessions, and drawing at all sizes.
#include "group.h"
#include "look.h"
#include "sessions_screen.h"
#include "wording.h"

#include "base/file.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// --- what is read of a session ---

struct levels {
    double speed[512];
    int64_t trials;
    double finished;
};

static bool add_level(void *context, const struct trial_record *t)
{
    struct levels *l = context;
    double before = t->number > 1 ? l->speed[t->number - 1] : 0;
    l->speed[t->number] = t->seconds > 0 ? fmax(before, 1 / t->seconds) : before;
    l->trials = t->number;
    l->finished = t->finished;
    return true;
}

static void sparks_are_the_best_so_far(void **state)
{
    struct stage *s = *state;
    for (int64_t id = 1; id <= SESSIONS; id++) {
        struct levels l = {.trials = 0};
        struct err e;
        const struct session_facts *f = sessions_facts(view_of(s), id);
        must(store_each_numbered(s->app.model.store, id, 1, add_level, &l, &e), &e);
        assert_non_null(f);
        assert_true(fabs(f->active - l.finished) < 1e-6);
        for (int i = 0; i < SPARK_COLS; i++) {
            double want = l.speed[l.trials * (i + 1) / SPARK_COLS] / l.speed[l.trials];
            assert_true(want > 0 ? fabs(f->spark[i] - want) < 1e-9 : isnan(f->spark[i]));
        }
    }
}

static void a_session_that_moves_on_is_read_again(void **state)
{
    struct stage *s = *state;
    double before = sessions_facts(view_of(s), 7)->active;
    fixture_tell(&s->fixture, 5);
    stage_wait(s, 5);
    assert_true(sessions_facts(view_of(s), 7)->active > before);
    assert_int_equal(view_of(s)->facts_count, SESSIONS);
}

// --- the panel ---

static void the_panel_tells_of_the_session(void **state)
{
    struct stage *s = *state;
    char process[64];
    snprintf(process, sizeof process, "running, process %d ", (int)s->fixture.runner);
    assert_shows(s, "Session 7");
    assert_shows(s, process);
    assert_shows(s, "ran 3m23s"); // of which the database knows nothing yet
    stage_play(s, "j");
    assert_shows(s, "paused: paused");
    assert_shows(s, "2 h ago");
    stage_play(s, "j");
    assert_shows(s, "failed: ");
    assert_shows(s, "q=0.3");
    stage_play(s, "j j");
    assert_shows(s, "baseline: ");
    assert_shows(s, "radv 25.0.7");
    assert_shows(s, "threads=");
    stage_play(s, "y");
    assert_non_null(s->app.copy);
    assert_true(str_starts(s->app.copy, "{\"threads\":"));
}

static void write_text(const struct text_record *t, const char *more)
{
    struct err e;
    char *folder = path_folder(t->path), *text = mem_printf("%s%s", t->text, more);
    must(file_make_folders(folder, &e), &e);
    must(file_write(t->path, text, strlen(text), &e), &e);
    free(folder);
    free(text);
}

static void a_space_that_changed_is_stale(void **state)
{
    struct stage *s = *state;
    struct session_panel *p = &view_of(s)->panel;
    stage_play(s, "j");
    assert_shows(s, "gemm.lua: stale");
    assert_true(p->text_count > 1);
    for (int i = 0; i < p->text_count; i++)
        write_text(&p->text[i], "");
    stage_wait(s, 0.5); // looked at once a second
    assert_shows(s, "stale");
    stage_wait(s, 0.6);
    assert_shows(s, "presets/gemm.lua: unchanged");
    write_text(&p->text[0], "-- more\n");
    stage_wait(s, 1.1);
    assert_shows(s, "stale, ");
    write_text(&p->text[0], "");
    write_text(&p->text[1], "-- more\n");
    stage_wait(s, 1.1);
    char stale[128];
    snprintf(stale, sizeof stale, "stale, %s changed since", p->text[1].name);
    assert_shows(s, stale);
    stage_play(s, "j"); // every session's own
    assert_shows(s, stale);
}

// --- marks and comparisons ---

static void two_marks_are_compared(void **state)
{
    struct stage *s = *state;
    stage_play(s, "c");
    assert_false(view_of(s)->comparing);
    wording_is("ui", "sessions: c without marks", s->app.notice);
    stage_play(s, "space j space c");
    assert_shows(s, "Comparison of 2 sessions");
    assert_shows(s, " 90 trials");
    // Marking goes on while it is shown.
    stage_play(s, "j j j j space");
    assert_shows(s, " 3 sessions");
    assert_shows(s, "100.0 %");
    stage_play(s, "esc");
    assert_hides(s, "Comparison");
    assert_shows(s, "3 marked");
    assert_int_equal(s->app.view, VIEW_SESSIONS);
    // They are unmarked under its eyes.
    stage_play(s, "c space space g space");
    assert_shows(s, " 2 sessions");
    stage_play(s, "j space");
    assert_shows(s, "Mark two sessions or more");
}

static void groups_say_what_sets_them_apart(void **state)
{
    struct stage *s = *state;
    stage_play(s, "G space k space c");
    s->app.model.mark[0].record.warm = s->app.model.mark[1].record.warm = "1,2,3";
    assert_shows(s, "warm start  ");
    assert_hides(s, "other");
    s->app.model.mark[0].record.text_hash = "edited";
    assert_shows(s, ", other files  ");
}

static void no_more_marks_than_there_are_letters(void **state)
{
    struct stage *s = *state;
    add_session(s);
    add_session(s);
    stage_wait(s, 5);
    stage_play(s, "g");
    for (int i = 0; i <= MODEL_MOST_MARKS; i++)
        stage_play(s, "space j");
    assert_int_equal(s->app.model.mark_count, MODEL_MOST_MARKS);
    wording_is("ui", "sessions: more marks than letters", s->app.notice);
}

static void a_comparison_without_room_scrolls(void **state)
{
    struct stage *s = *state;
    app_resize(&s->app, 15, 60);
    stage_play(s, "space j space j space c");
    assert_hides(s, "Sessions ");
    assert_shows(s, " 3 sessions");
    int64_t cursor = cursor_of(s);
    assert_hides(s, "mean: ");
    stage_play(s, "G");
    assert_shows(s, "mean: ");
    stage_play(s, "g");
    assert_hides(s, "mean: ");
    assert_int_equal(cursor_of(s), cursor);
}

// --- nothing to show ---

static void an_empty_database_says_how_to_begin(void **state)
{
    struct stage *s = sessions_stage(FIXTURE_NOTHING);
    (void)state;
    assert_shows(s, "tilewalk tune gemm");
    assert_shows(s, "Press i");
    stage_play(s, "j k G space c enter / y >");
    assert_int_equal(cursor_of(s), 0);
    sessions_leave(s);
}

static void an_unreadable_database_says_why(void **state)
{
    struct stage *s = sessions_stage(FIXTURE_NOTHING);
    struct err e;
    (void)state;
    must(file_write("tilewalk.db", "this is no database, far from it", 32, &e), &e);
    stage_wait(s, 5);
    assert_shows(s, "The database cannot be read:");
    assert_true(s->app.model.trouble.text[0] != '\0');
    sessions_leave(s);
}

static void sessions_without_results_are_shown(void **state)
{
    struct stage *s = sessions_stage(FIXTURE_EMPTY);
    (void)state;
    assert_shows(s, "nothing valid");
    stage_play(s, "space j space");
    assert_shows(s, "no trial yet");
    stage_play(s, "c");
    assert_shows(s, " 2 sessions");
    stage_play(s, "y");
    assert_null(s->app.copy);
    sessions_leave(s);
}

// --- sizes ---

static void draw_body(void *context, const struct pane *p)
{
    struct stage *s = context;
    view_sessions.draw(&s->app, view_of(s), p);
}

static void it_stays_inside_at_every_size(void **state)
{
    struct stage *s = *state;
    for (int ascii = 0; ascii < 2; ascii++) {
        enum charset charset = ascii ? CHARSET_ASCII : CHARSET_BRAILLE;
        look_all_sizes(charset, draw_body, s);
        stage_play(s, ascii ? "g" : "space j space G");
        view_of(s)->comparing = true;
        look_all_sizes(charset, draw_body, s);
        view_of(s)->comparing = false;
    }
    struct stage *nothing = sessions_stage(FIXTURE_NOTHING);
    look_all_sizes(CHARSET_BRAILLE, draw_body, nothing);
    sessions_leave(nothing);
}

TEST_GROUP(sessions_below)
{
    const struct CMUnitTest tests[] = {
        ON_SESSIONS(sparks_are_the_best_so_far),
        ON_SESSIONS(a_session_that_moves_on_is_read_again),
        ON_SESSIONS(the_panel_tells_of_the_session),
        ON_SESSIONS(a_space_that_changed_is_stale),
        ON_SESSIONS(two_marks_are_compared),
        ON_SESSIONS(groups_say_what_sets_them_apart),
        ON_SESSIONS(no_more_marks_than_there_are_letters),
        ON_SESSIONS(a_comparison_without_room_scrolls),
        cmocka_unit_test(an_empty_database_says_how_to_begin),
        cmocka_unit_test(an_unreadable_database_says_why),
        cmocka_unit_test(sessions_without_results_are_shown),
        ON_SESSIONS(it_stays_inside_at_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
