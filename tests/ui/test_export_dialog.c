// The dialog of an export: its command line, what it would write, and why it would not.
#include "group.h"
#include "stage.h"

#include "base/file.h"

#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void open_main(struct stage *s)
{
    stage_open(s, FIXTURE_SMALL, VIEW_MAIN, CHARSET_ASCII);
    app_resize(&s->app, 36, 120);
    app_draw(&s->app);
}

static void test_export_shows_its_command_line(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s);
    stage_play(&s, "* x");
    expect_commands(&s, "tilewalk export 1 --out export --dry-run --db tilewalk.db\n");
    stage_play(&s, "\"3 tab end \"s tab tab space"); // typing replaces, moving edits
    expect_on_screen(&s, "same as: tilewalk export 1 --out exports --best 3");
    str_finish(&s.commands);
    stage_play(&s, "enter enter");
    expect_commands(&s, "tilewalk export 1 --out exports --best 3 --db tilewalk.db\n");
    stage_close(&s);
}

static void test_the_selected_trial_is_exported(void **state)
{
    (void)state;
    struct stage s;
    open_main(&s);
    int64_t best = s.app.model.open.record.best_ask, number = 0;
    for (int64_t n = 1; n <= s.app.model.open.last_number && !number; n++) {
        const struct trial *t = model_trial_numbered(&s.app.model, n);
        if (t && t->outcome == OUTCOME_OK && t->ask != best) {
            number = n;
            app_select(&s.app, t->ask);
        }
    }
    assert_true(number > 0);
    stage_play(&s, "x tab space");
    char *wanted = mem_printf("same as: tilewalk export 1 --out export --trial %d ", (int)number);
    expect_on_screen(&s, wanted);
    free(wanted);
    stage_play(&s, "esc * x");
    expect_off_screen(&s, "the selected one"); // it is the best
    stage_close(&s);
}

// --- a stand-in for the program prints what an export does ---

static void begin_stand_in(struct stage *s, const char *script)
{
    struct err e;
    open_main(s);
    assert_true(file_write("exporter", script, strlen(script), &e));
    assert_int_equal(chmod("exporter", 0755), 0);
    s->app.jobs.pretend = NULL;
    s->app.options.program = "./exporter";
}

static void wait_for_jobs(struct stage *s)
{
    for (int i = 0; i < 3000 && s->app.jobs.count > 0; i++) {
        struct pollfd fds[2 * MOST_JOBS];
        poll(fds, (nfds_t)jobs_fds(&s->app.jobs, fds, 2 * MOST_JOBS), 10);
        jobs_step(&s->app.jobs);
    }
}

static void end_stand_in(struct stage *s)
{
    assert_int_equal(unlink("exporter"), 0);
    stage_close(s);
}

// Names that are too long lose their middle, not what tells them apart.
static void test_files_of_an_export_are_told_apart(void **state)
{
    (void)state;
    struct stage s;
    begin_stand_in(&s, "#!/bin/sh\n"
                       "name=out/conv-implicit-f32-nchw-1x256x14x14x256x3x3-padding-1-bias-add\n"
                       "echo \"$name.comp  186 lines\"; echo \"$name.pass2.spv  22 bytes\"\n");
    app_resize(&s.app, 24, 60);
    stage_play(&s, "x");
    app_draw(&s.app); // makes the command line, which starts the dry run
    wait_for_jobs(&s);
    expect_on_screen(&s, "bias-add.comp  186 lines ");
    expect_on_screen(&s, "-add.pass2.spv  22 bytes ");
    expect_on_screen(&s, " out/conv-impli");
    end_stand_in(&s);
}

static void test_why_an_export_would_fail_is_read_to_its_end(void **state)
{
    (void)state;
    struct stage s;
    begin_stand_in(&s,
                   "#!/bin/sh\n"
                   "case \"$*\" in *--force*) echo fine; exit 0;; esac\n"
                   "echo \"tilewalk: 'export/gemm-f32-nn-2048x2048x2048.comp' is there already, "
                   "and not from session 1 (--force replaces it, so does another name)\" >&2\n"
                   "exit 1\n");
    stage_play(&s, "x");
    app_draw(&s.app);
    wait_for_jobs(&s);
    expect_on_screen(&s, "another name)");
    stage_play(&s, "shift-tab shift-tab shift-tab shift-tab space"); // the last field
    app_draw(&s.app);
    wait_for_jobs(&s);
    expect_on_screen(&s, " fine ");
    expect_on_screen(&s, "--out export --force --verify");
    end_stand_in(&s);
}

// What an older dry run says is not taken for the newest one's.
static void test_a_late_dry_run_changes_nothing(void **state)
{
    (void)state;
    struct stage s;
    begin_stand_in(&s, "#!/bin/sh\n"
                       "case \"$*\" in *exports*) echo fine; exit 0;; esac\n"
                       "until [ -e late ]; do sleep 0.01; done\n"
                       "echo already there\nexit 1\n");
    stage_play(&s, "x");
    app_draw(&s.app);
    stage_play(&s, "tab tab end \"s");
    app_draw(&s.app);
    while (s.app.jobs.count > 1) {
        struct pollfd fds[2 * MOST_JOBS];
        poll(fds, (nfds_t)jobs_fds(&s.app.jobs, fds, 2 * MOST_JOBS), 10);
        jobs_step(&s.app.jobs);
    }
    expect_on_screen(&s, " fine ");
    struct err e;
    assert_true(file_write("late", "", 0, &e));
    wait_for_jobs(&s);
    expect_on_screen(&s, " fine ");
    expect_off_screen(&s, "already there");
    assert_int_equal(unlink("late"), 0);
    end_stand_in(&s);
}

static void test_an_export_names_all_its_files(void **state)
{
    (void)state;
    struct stage s;
    begin_stand_in(&s, "#!/bin/sh\n"
                       "echo 'verified: again 5.1 GFLOPS of 5.2 (a/b.c, trial 7)'\n"
                       "printf 'out/mm%s\\n' .comp .spv .pass2.comp .pass2.spv .json .h\n"
                       "printf 'out/mm-2%s\\n' .comp .spv .json .h\n");
    app_command(&s.app, (const char *const[]){"export", "1", "--out", "out", NULL});
    wait_for_jobs(&s);
    app_draw(&s.app);
    expect_on_screen(&s, "wrote out/mm.comp .spv .pass2.comp .pass2.spv .json .h, "
                         "out/mm-2.comp .spv .json .h\n");
    app_resize(&s.app, 24, 40); // what does not fit goes on in rows above
    expect_on_screen(&s, "\n wrote out/mm.comp .spv .pass2.comp\n"
                         " .pass2.spv .json .h, out/mm-2.comp .spv\n .json .h\n");
    end_stand_in(&s);
}

TEST_GROUP(export_dialog)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_export_shows_its_command_line),
        cmocka_unit_test(test_the_selected_trial_is_exported),
        cmocka_unit_test(test_files_of_an_export_are_told_apart),
        cmocka_unit_test(test_why_an_export_would_fail_is_read_to_its_end),
        cmocka_unit_test(test_a_late_dry_run_changes_nothing),
        cmocka_unit_test(test_an_export_names_all_its_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
