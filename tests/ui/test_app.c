// Keys become command lines: what is run, what is asked first, what is refused and why.
#include "group.h"
#include "stage.h"

#include "base/file.h"
#include "dialog.h"

#include <locale.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void open_main(struct stage *s, enum fixture_shape shape)
{
    stage_open(s, shape, VIEW_MAIN, CHARSET_ASCII);
    app_resize(&s->app, 36, 120);
    app_draw(&s->app);
}

static void open_sessions(struct stage *s)
{
    stage_open(s, FIXTURE_SEVERAL, VIEW_SESSIONS, CHARSET_ASCII);
    app_resize(&s->app, 36, 120);
    app_draw(&s->app);
}

static void test_pause_asks_the_runner(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "p");
    expect_commands(&s, "tilewalk pause 1 --db tilewalk.db\n");
    stage_close(&s);
}

static void test_a_run_that_has_begun_is_in_the_log(void **state)
{
    (void)state;
    struct stage s;
    char words[] = "tilewalk resume 1 --trials 200 --db tilewalk.db";
    open_main(&s, FIXTURE_SMALL);
    const struct job_record run = {.is_run = true, .session = 1, .words = words};
    s.app.jobs.on_session(&s.app, &run);
    stage_play(&s, "7");
    expect_on_screen(&s, "tilewalk resume 1 --trials 200 --db tilewalk.db: session 1");
    stage_close(&s);
}

static void test_a_run_is_starting_until_it_has_begun(void **state)
{
    (void)state;
    struct stage s;
    char words[] = "tilewalk resume 6";
    open_sessions(&s);
    stage_play(&s, "j r enter");
    expect_on_screen(&s, "starting...");
    const struct job_record run = {.is_run = true, .session = 6, .words = words};
    s.app.jobs.on_session(&s.app, &run);
    stage_rest(&s);
    char *frame = stage_frame(&s);
    assert_null(strstr(frame, "starting..."));
    free(frame);
    stage_close(&s);
}

static void test_a_command_line_names_the_database_where_a_shell_would_take_another(void **state)
{
    (void)state;
    static const char named[] = "tilewalk set 1 trials=200 --db tilewalk.db",
                      unnamed[] = "tilewalk set 1 trials=200",
                      stop[] = "tilewalk stop 1 --db tilewalk.db";
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "B tab tab enter"); // copies it
    expect_on_screen(&s, "same as: tilewalk set 1 trials=200 --db tilewalk.db");
    assert_string_equal(s.app.copy, named);
    setenv("TILEWALK_DB", "tilewalk.db", 1);
    stage_play(&s, "esc B tab tab enter");
    assert_string_equal(s.app.copy, unnamed);
    unsetenv("TILEWALK_DB");
    stage_play(&s, "esc");
    app_key(&s.app, 's'); // the next key comes before there is a frame
    app_key(&s.app, 'y');
    assert_string_equal(s.app.copy, stop);
    stage_close(&s);
}

static void test_a_session_without_runner_is_resumed(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    fixture_kill_runner(&s.fixture);
    stage_wait(&s, 2);
    stage_play(&s, "p");
    expect_commands(&s, "");
    expect_on_screen(&s, "same as: tilewalk resume 1 --trials 200 --db tilewalk.db");
    stage_play(&s, "enter enter"); // once: it is starting
    expect_commands(&s, "tilewalk resume 1 --trials 200 --db tilewalk.db\n");
    expect_on_screen(&s, "starting...");
    stage_close(&s);
}

static void test_the_footer_says_what_pause_does_to_this_session(void **state)
{
    (void)state;
    struct stage s;
    open_sessions(&s);
    expect_on_screen(&s, "p Pause");
    stage_play(&s, "j"); // paused, with trials left
    expect_on_screen(&s, "p Resume");
    stage_play(&s, "G"); // done
    expect_on_screen(&s, "p More ");
    stage_play(&s, "p");
    expect_on_screen(&s, "same as: tilewalk resume 1 --trials 220 --db tilewalk.db");
    stage_close(&s);
}

static void test_the_final_race_is_told(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    expect_on_screen(&s, "  running  64/200");
    fixture_tell(&s.fixture, 136);
    stage_play(&s, "*");
    expect_on_screen(&s, "  racing  200/200");
    stage_close(&s);
}

static void test_budget_presses_add_up(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "+ + -");
    expect_commands(&s, "tilewalk set 1 trials=300 --db tilewalk.db\n"
                        "tilewalk set 1 trials=400 --db tilewalk.db\n"
                        "tilewalk set 1 trials=300 --db tilewalk.db\n");
    stage_play(&s, "- - - -"); // 64 are spent: nothing ends by a slip of the finger
    expect_commands(&s, "tilewalk set 1 trials=200 --db tilewalk.db\n"
                        "tilewalk set 1 trials=100 --db tilewalk.db\n");
    expect_on_screen(&s, "64 trials are spent");
    stage_close(&s);
}

static void test_stop_asks_first(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "s esc s enter"); // left, then cancelled
    expect_commands(&s, "");
    assert_null(s.app.dialog);
    stage_play(&s, "s enter"); // what is chosen first is to leave
    expect_commands(&s, "");
    stage_play(&s, "s tab enter");
    expect_commands(&s, "tilewalk stop 1 --db tilewalk.db\n");
    stage_close(&s);
}

// Deleting asks nothing, because a key takes it back.
static void test_delete_is_undone_by_a_key(void **state)
{
    (void)state;
    struct stage s;
    open_sessions(&s);
    stage_play(&s, "D");
    expect_on_screen(&s, "it is running (pause it first)");
    stage_play(&s, "j D");
    assert_null(s.app.dialog);
    expect_commands(&s, "tilewalk rm 6 --db tilewalk.db\n");
    stage_play(&s, "U");
    expect_commands(&s, "tilewalk restore --db tilewalk.db\n");
    stage_close(&s);
    stage_open(&s, FIXTURE_NOTHING, VIEW_SESSIONS, CHARSET_ASCII); // the last one was deleted
    stage_play(&s, "U");
    expect_commands(&s, "tilewalk restore --db tilewalk.db\n");
    stage_close(&s);
}

static void expect_not_on_screen(struct stage *s, const char *text)
{
    char *frame = stage_frame(s);
    if (strstr(frame, text))
        fail_msg("'%s' is on the screen:\n%s", text, frame);
    free(frame);
}

static void test_an_error_stays_until_it_is_acknowledged_or_mended(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    app_say(&s.app, STYLE_BAD, "the disk is full");
    stage_wait(&s, 3600);
    app_say(&s.app, STYLE_TEXT, "something else");
    expect_on_screen(&s, " the disk is full  (esc)\n something else\n");
    stage_wait(&s, 10);
    expect_on_screen(&s, "the disk is full");
    stage_play(&s, "esc");
    expect_not_on_screen(&s, "the disk is full");
    assert_int_equal(s.app.view, VIEW_MAIN); // and nothing else was left

    app_say(&s.app, STYLE_BAD, "the disk is full");
    app_forget_error(&s.app, ERROR_OF_FILE); // another one was mended
    expect_on_screen(&s, "the disk is full");
    const struct job_record run = {.is_run = true, .session = 1, .words = (char[]){"x"}};
    s.app.jobs.on_session(&s.app, &run);
    expect_not_on_screen(&s, "the disk is full");
    stage_close(&s);
}

static void test_a_failed_session_says_why_in_the_head(void **state)
{
    (void)state;
    struct stage s;
    open_sessions(&s);
    for (int i = 0; i < s.app.model.session_count; i++)
        if (s.app.model.session[i].state == STATE_FAILED)
            app_open_session(&s.app, s.app.model.session[i].record.id);
    stage_rest(&s);
    assert_int_equal(s.app.model.open.state, STATE_FAILED);
    assert_non_null(s.app.model.open.record.message);
    char *frame = stage_frame(&s), *second = strchr(frame, '\n') + 1;
    assert_true(str_starts(second + 1, s.app.model.open.record.message));
    free(frame);
    stage_close(&s);
}

// What ships is never edited: the first time it is asked to make a copy.
static void test_what_ships_is_edited_as_a_copy(void **state)
{
    (void)state;
    struct stage s;
    struct err e;
    open_main(&s, FIXTURE_SMALL);
    setenv("XDG_DATA_HOME", s.fixture.folder, 1);
    char *shipped = path_shipped("presets/gemm.lua"), *copy = path_user_data("presets/gemm.lua");
    assert_non_null(shipped);
    app_edit(&s.app, shipped, 7);
    assert_null(s.app.edit_path);
    expect_on_screen(&s, "same as: tilewalk ops gemm --copy");
    expect_on_screen(&s, "from lua/"); // which is not copied
    stage_play(&s, "esc");
    expect_commands(&s, "");
    app_edit(&s.app, shipped, 7);
    stage_play(&s, "enter");
    expect_commands(&s, "tilewalk ops gemm --copy\n");

    struct job_record job = {.exit_code = 1, .words = (char[]){"x"}};
    str_add(&job.output, "no room");
    app_copied(&s.app, &job);
    assert_null(s.app.edit_path);
    expect_on_screen(&s, "no room");
    job.exit_code = 0;
    char *folder = path_folder(copy);
    assert_true(file_make_folders(folder, &e) && file_write(copy, "x", 1, &e));
    app_copied(&s.app, &job);
    assert_string_equal(s.app.edit_path, copy);
    assert_int_equal(s.app.edit_line, 7);
    // Screen 5 says so of a session that is older than the copy.
    char *sql = mem_printf("UPDATE session SET path = '%s'", shipped);
    fixture_execute(&s.fixture, sql);
    free(sql);
    stage_wait(&s, 3);
    stage_play(&s, "5");
    stage_wait(&s, 3);
    expect_on_screen(&s, "since:"); // paths break lines elsewhere in each checkout
    struct session_record later = {.id = 1, .path = shipped, .created = 1e12};
    assert_null(app_file_copy(&later));
    app_edit(&s.app, shipped, 9); // the copy is there: no question
    assert_null(s.app.dialog);
    assert_string_equal(s.app.edit_path, copy);
    str_finish(&job.output);
    assert_int_equal(unlink(copy), 0);
    unsetenv("XDG_DATA_HOME");
    free(folder);
    free(copy);
    free(shipped);
    stage_close(&s);
}

static void test_wrong_fields_are_complained_about_and_nothing_runs(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "B \"64 enter"); // all of them are spent
    expect_on_screen(&s, "so many are spent: that would end it (:stop does)");
    stage_play(&s, "esc B \"many enter");
    expect_on_screen(&s, "the budget is a number of trials, at least 1");
    expect_commands(&s, "");
    assert_non_null(s.app.dialog);
    stage_play(&s, "esc d tab space tab \"lamda=4"); // options of the strategy
    expect_on_screen(&s, "did you mean 'lambda'?");
    stage_close(&s);
}

static void test_duplicate(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "d right tab tab tab \"7"); // the next of the common ones, without options
    stage_play(&s, "enter enter");
    expect_commands(&s, "tilewalk tune --like 1 --strategy local --trials 200 --seed 7"
                        " --db tilewalk.db\n");
    stage_play(&s, "esc d tab tab \"1 enter enter"); // it begins with a best if that is chosen
    expect_commands(&s, "tilewalk tune --like 1 --warm-start 1 --strategy opevo --trials 200"
                        " --db tilewalk.db\n");
    stage_close(&s);
}

#define ON_DEVICE " --device 'AMD Radeon RX 7900 XTX (RADV NAVI31)'"

static void test_new_session(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "i");
    expect_on_screen(&s, "presets: ");
    expect_on_screen(&s, "networks: alexnet");
    stage_play(&s, "\"mm tab");
    expect_on_screen(&s, "sizes: N=512 M=1024 K=1024");
    stage_play(&s, "\"N=64_M=32 enter enter");
    expect_commands(&s, "tilewalk tune mm --set N=64 --set M=32" ON_DEVICE
                        " --strategy opevo --trials 200 --db tilewalk.db\n");
    stage_play(&s, "esc i \"mm tab tab tab \"synthetic:bowl");
    expect_on_screen(&s, "Its times are made up");
    stage_play(&s, "enter enter");
    expect_commands(&s, "tilewalk tune mm --source synthetic:bowl --strategy opevo --trials 200"
                        " --db tilewalk.db\n");
    stage_close(&s);
}

static void test_a_new_session_is_checked_as_it_is_typed(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "i \"gemn");
    expect_on_screen(&s, "did you mean 'gemm'?");
    stage_play(&s, "ctrl-u \"mm tab \"Q=4");
    expect_on_screen(&s, "Q=4");
    expect_on_screen(&s, "did you mean 'N'?");
    stage_play(&s, "ctrl-u \"N=none");
    expect_on_screen(&s, "none");
    stage_play(&s, "ctrl-u tab tab \"synthetic:bowel");
    expect_on_screen(&s, "did you mean bowl");
    stage_play(&s, "ctrl-u \"device tab tab tab \"9");
    expect_on_screen(&s, "there is no such session");
    stage_play(&s, "enter enter");
    expect_commands(&s, "");
    stage_close(&s);
}

// What could not start is told in the form, which has its input still.
static void test_a_run_that_does_not_start_keeps_its_form(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "i \"mm tab \"N=64 enter enter enter"); // started once
    expect_commands(&s, "tilewalk tune mm --set N=64" ON_DEVICE
                        " --strategy opevo --trials 200 --db tilewalk.db\n");
    struct job_record run = {.is_run = true, .exit_code = 1, .words = (char[]){"x"}};
    str_add(&run.output, "no device has room\n");
    s.app.jobs.on_run_end(&s.app, &run);
    expect_on_screen(&s, "no device has room");
    expect_on_screen(&s, "N=64");
    stage_play(&s, "enter");
    expect_commands(&s, "tilewalk tune mm --set N=64" ON_DEVICE
                        " --strategy opevo --trials 200 --db tilewalk.db\n");
    run.session = 1;
    s.app.jobs.on_session(&s.app, &run);
    assert_null(s.app.dialog);
    str_finish(&run.output);
    stage_close(&s);
}

static void test_a_long_command_line_is_shown_to_its_end(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "i \"gemm tab tab tab tab left tab space tab"); // the options of walk
    stage_play(&s, "\"starts=10:elites=8:children=40:strangers=8:near=6:refine=0.4:doubt=2:q=0.2");
    expect_on_screen(&s, "same as: tilewalk tune gemm --device");
    expect_on_screen(&s, " walk:starts=10:elites=8:children=40:strangers=8:near=6:refine=0.4:  ");
    expect_on_screen(&s, " doubt=2:q=0.2 --trials 200 --db tilewalk.db  ");
    stage_close(&s);
}

static void test_a_note_keeps_its_blanks(void **state)
{
    (void)state;
    struct stage s;
    open_sessions(&s);
    stage_play(&s, "n \"it's_fast enter");
    expect_commands(&s, "tilewalk set 7 'note=it'\\''s fast' --db tilewalk.db\n");
    stage_close(&s);
}

static void test_a_note_may_begin_with_a_dash(void **state)
{
    (void)state;
    struct stage s;
    open_sessions(&s);
    stage_play(&s, "n \"--db_is_no_option enter : \"note_7_--_-5% enter");
    expect_commands(&s, "tilewalk set 7 'note=--db is no option' --db tilewalk.db\n"
                        "tilewalk note 7 --db tilewalk.db -- -5%\n");
    stage_close(&s);
}

static void test_the_prompt_takes_actions_and_command_lines(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, ": \"trials enter");
    assert_int_equal(s.app.view, VIEW_TRIALS);
    stage_play(&s, ": \"note_1_'two_words' enter");
    expect_commands(&s, "tilewalk note 1 'two words' --db tilewalk.db\n");
    stage_play(&s, ": \"frobnicate enter");
    expect_on_screen(&s, "'frobnicate' is no action");
    stage_play(&s, "ctrl-u \"exp tab enter"); // it stayed to be mended; completed
    expect_on_screen(&s, "same as: tilewalk export 1");
    str_finish(&s.commands); // of the preview
    stage_play(&s, "esc : \"zoom enter");
    expect_on_screen(&s, "'zoom' does nothing on this screen");
    // It is asked before what cannot be taken back.
    stage_play(&s, "ctrl-u \"rm_--purge_1 enter enter");
    assert_null(s.app.dialog);
    stage_play(&s, ": \"rm_--purge_1 enter tab enter : \"rm_1 enter");
    expect_commands(&s, "tilewalk rm --purge 1 --db tilewalk.db\ntilewalk rm 1 --db tilewalk.db\n");
    stage_close(&s);
}

// At the start as well, before the clock runs.
static void test_why_a_session_is_not_open(void **state)
{
    (void)state;
    struct stage s;
    struct app app;
    open_main(&s, FIXTURE_SMALL);
    struct app_options o = s.app.options;
    o.session = 99;
    app_init(&app, &o);
    app_poll(&app, 1000, FIXTURE_NOW);
    assert_non_null(strstr(app.error, "session 99"));
    app_key(&app, KEY_IS_ESC);
    assert_string_equal(app.error, "");
    app_finish(&app);
    stage_close(&s);
}

static void test_without_a_session_keys_say_why(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_NOTHING);
    stage_play(&s, "p");
    expect_on_screen(&s, "pause: no session is open");
    stage_play(&s, "x s B r d e + y");
    expect_commands(&s, "");
    stage_close(&s);
}

static void test_frozen_stands_still(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "Z");
    fixture_tell(&s.fixture, 3);
    stage_wait(&s, 10);
    expect_on_screen(&s, "64/200");
    expect_on_screen(&s, "FROZEN");
    stage_play(&s, "Z");
    stage_wait(&s, 1);
    expect_on_screen(&s, "67/200");
    stage_close(&s);
}

static void test_help_is_of_this_screen_and_scrolls(void **state)
{
    (void)state;
    struct stage s;
    stage_open(&s, FIXTURE_SMALL, VIEW_MAP, CHARSET_ASCII);
    app_resize(&s.app, 15, 60);
    stage_play(&s, "?");
    expect_on_screen(&s, "This screen: Map");
    expect_on_screen(&s, "next parameter across");
    stage_play(&s, "j j pgdn");
    expect_on_screen(&s, "column or cell to the right");
    stage_play(&s, "x");
    assert_false(s.app.help);
    assert_null(s.app.dialog);
    stage_close(&s);
}

static void test_help_names_actions_without_keys(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    assert_true(keymap_bind(&s.app.keymap, "stop", "none", NULL, NULL));
    stage_play(&s, "?");
    expect_on_screen(&s, "no key       stop session, keep results");
    stage_close(&s);
}

static void test_clicks_on_the_footer_are_keys(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    static const char first[] = " p Pause  e Edit  x Export  ? Help ";
    for (int cols = 80; cols <= 120; cols += 40) {
        app_resize(&s.app, 36, cols);
        char *frame = stage_frame(&s), *row = frame, *map = NULL;
        for (char *line = frame; *line; line += strcspn(line, "\n") + 1)
            row = line;
        assert_true(str_starts(row, first)); // by use
        assert_non_null(map = strstr(row, "1Main "));
        assert_non_null(strstr(row, "q Quit"));
        app_show(&s.app, VIEW_MAIN);
        app_click(&s.app, 35, (int)(map - row) + 6); // after "1Main "
        assert_int_equal(s.app.view, VIEW_MAP);
        app_click(&s.app, 35, cols - 1);
        assert_int_equal(s.app.view, VIEW_MAP);
        app_show(&s.app, VIEW_MAIN);
        free(frame);
    }
    stage_close(&s);
}

static void paste(struct stage *s, const char *text)
{
    app_key(&s->app, KEY_IS_PASTE);
    for (; *text; text++)
        app_key(&s->app, *text == '\n' ? KEY_IS_ENTER : *text);
    app_key(&s->app, KEY_IS_PASTE_END);
}

static void test_a_paste_is_text_and_nothing_else(void **state)
{
    (void)state;
    struct stage s;
    open_sessions(&s);
    stage_play(&s, "j");
    paste(&s, "Dx\nq");
    assert_null(s.app.dialog);
    assert_false(s.app.quit);
    expect_on_screen(&s, "pasted text is taken only where text is typed");
    stage_play(&s, "n");
    paste(&s, "from elsewhere\n");
    assert_non_null(s.app.dialog);
    expect_commands(&s, "");
    stage_play(&s, "enter");
    expect_commands(&s, "tilewalk set 6 'note=from elsewhere' --db tilewalk.db\n");
    stage_close(&s);
}

static void test_quitting(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    stage_play(&s, "q");
    assert_true(s.app.quit && !s.app.leave_runs);
    stage_play(&s, "Q");
    assert_true(s.app.leave_runs);
    expect_commands(&s, "");
    stage_close(&s);
}

static void test_ends_are_announced(void **state)
{
    (void)state;
    struct stage s;
    for (int notify = NOTIFY_END; notify <= NOTIFY_OFF; notify++) {
        open_main(&s, FIXTURE_SMALL);
        s.config.notify = notify;
        stage_wait(&s, 2);
        assert_null(s.app.announcement); // what was there before is no news
        int steps = s.app.model.open.curve.count;
        while (s.app.model.open.curve.count == steps) {
            fixture_tell(&s.fixture, 1);
            stage_wait(&s, 2);
        }
        assert_int_equal(s.app.announcement != NULL, notify == NOTIFY_BEST);
        if (s.app.announcement)
            assert_non_null(strstr(s.app.announcement, "best: "));
        free(s.app.announcement);
        s.app.announcement = NULL;
        author_end(s.fixture.author, STATE_DONE, "all trials are done");
        stage_wait(&s, 2);
        assert_int_equal(s.app.announcement != NULL, notify != NOTIFY_OFF);
        if (s.app.announcement)
            assert_non_null(strstr(s.app.announcement, " done: "));
        stage_close(&s);
    }
}

static void test_made_up_speeds_are_named(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s, FIXTURE_SMALL);
    fixture_execute(&s.fixture, "UPDATE session SET source = 'device'");
    stage_wait(&s, 2);
    char *frame = stage_frame(&s);
    assert_null(strstr(frame, "SYNTHETIC"));
    free(frame);
    fixture_execute(&s.fixture, "UPDATE session SET source = 'synthetic:bowl'");
    stage_wait(&s, 2);
    expect_on_screen(&s, "SYNTHETIC");
    fixture_execute(&s.fixture, "UPDATE session SET source = 'replay:a.json'");
    stage_wait(&s, 2);
    expect_on_screen(&s, "REPLAY");
    stage_close(&s);
}

TEST_GROUP(app)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pause_asks_the_runner),
        cmocka_unit_test(test_a_run_that_has_begun_is_in_the_log),
        cmocka_unit_test(test_a_run_is_starting_until_it_has_begun),
        cmocka_unit_test(test_a_command_line_names_the_database_where_a_shell_would_take_another),
        cmocka_unit_test(test_a_session_without_runner_is_resumed),
        cmocka_unit_test(test_the_footer_says_what_pause_does_to_this_session),
        cmocka_unit_test(test_the_final_race_is_told),
        cmocka_unit_test(test_budget_presses_add_up),
        cmocka_unit_test(test_stop_asks_first),
        cmocka_unit_test(test_delete_is_undone_by_a_key),
        cmocka_unit_test(test_an_error_stays_until_it_is_acknowledged_or_mended),
        cmocka_unit_test(test_a_failed_session_says_why_in_the_head),
        cmocka_unit_test(test_what_ships_is_edited_as_a_copy),
        cmocka_unit_test(test_wrong_fields_are_complained_about_and_nothing_runs),
        cmocka_unit_test(test_duplicate),
        cmocka_unit_test(test_new_session),
        cmocka_unit_test(test_a_new_session_is_checked_as_it_is_typed),
        cmocka_unit_test(test_a_run_that_does_not_start_keeps_its_form),
        cmocka_unit_test(test_a_long_command_line_is_shown_to_its_end),
        cmocka_unit_test(test_a_note_keeps_its_blanks),
        cmocka_unit_test(test_a_note_may_begin_with_a_dash),
        cmocka_unit_test(test_the_prompt_takes_actions_and_command_lines),
        cmocka_unit_test(test_why_a_session_is_not_open),
        cmocka_unit_test(test_without_a_session_keys_say_why),
        cmocka_unit_test(test_frozen_stands_still),
        cmocka_unit_test(test_help_is_of_this_screen_and_scrolls),
        cmocka_unit_test(test_help_names_actions_without_keys),
        cmocka_unit_test(test_clicks_on_the_footer_are_keys),
        cmocka_unit_test(test_a_paste_is_text_and_nothing_else),
        cmocka_unit_test(test_quitting),
        cmocka_unit_test(test_ends_are_announced),
        cmocka_unit_test(test_made_up_speeds_are_named),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
