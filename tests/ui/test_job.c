// Children of the workbench, played by small shell scripts.
#include "base/file.h"
#include "base/mem.h"
#include "base/spawner.h"
#include "group.h"
#include "job.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_STEPS 12000 // of 10 ms

struct heard {
    struct jobs jobs;
    struct str lines;   // of runs, each ended by '|'
    struct str outputs; // of jobs
    int64_t session;
    int ends, exit_code;
    struct jobs *start_at_end; // another job is started from on_end
    const char *program;
};

static char folder[] = "/tmp/tilewalk-job-XXXXXX";

static const char *script(const char *name, const char *text)
{
    static char path[128];
    struct err e;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct str all = {0};
    str_printf(&all, "#!/bin/sh\n%s", text);
    assert_true(file_write(path, str_text(&all), all.length, &e));
    assert_int_equal(chmod(path, 0755), 0);
    str_finish(&all);
    return path;
}

static void on_line(void *context, const struct job_record *run, const char *line)
{
    struct heard *h = context;
    assert_true(run->is_run);
    str_printf(&h->lines, "%s|", line);
}

static void on_session(void *context, const struct job_record *run)
{
    ((struct heard *)context)->session = run->session;
}

static void on_run_end(void *context, const struct job_record *run)
{
    struct heard *h = context;
    h->ends++;
    h->exit_code = run->exit_code;
}

static void on_end(void *context, const struct job_record *job)
{
    struct heard *h = context;
    struct err e;
    const char *const words[] = {"again", NULL};
    h->ends++;
    h->exit_code = job->exit_code;
    str_add(&h->outputs, str_text(&job->output));
    if (h->ends == 1 && h->start_at_end)
        assert_true(jobs_start(h->start_at_end,
                               &(struct job_record){.on_end = on_end, .context = h}, h->program,
                               words, &e));
}

static struct heard *listener(void)
{
    struct heard *h = mem_zero(1, sizeof *h);
    h->jobs.context = h;
    h->jobs.on_line = on_line;
    h->jobs.on_session = on_session;
    h->jobs.on_run_end = on_run_end;
    return h;
}

static void stop_listening(struct heard *h)
{
    jobs_finish(&h->jobs);
    str_finish(&h->lines);
    str_finish(&h->outputs);
    free(h);
}

// As the workbench waits: for what there is to read, then a step. At most `steps` times.
static bool wait_for(struct heard *h, bool (*holds)(const struct heard *h), int steps)
{
    for (int i = 0; i < steps; i++) {
        struct pollfd fds[2 * MOST_JOBS];
        if (holds(h))
            return true;
        poll(fds, (nfds_t)jobs_fds(&h->jobs, fds, 2 * MOST_JOBS), 10);
        jobs_step(&h->jobs);
    }
    return holds(h);
}

static bool is_over(const struct heard *h)
{
    return h->jobs.count == 0;
}

static bool has_session(const struct heard *h)
{
    return h->session != 0;
}

static bool are_gone(const struct heard *h)
{
    return jobs_are_gone(&h->jobs);
}

static void output_and_exit_code(void **state)
{
    (void)state;
    struct heard *h = listener();
    struct err e;
    const char *const words[] = {"note", "3", "two words", NULL};
    static const char line[] = "tilewalk note 3 'two words'", output[] = "3 two words\noops\nend";
    const char *program = script("job", "echo \"$# $3\"; echo oops >&2; printf end; exit 4\n");
    assert_true(jobs_start(&h->jobs, &(struct job_record){.on_end = on_end, .context = h}, program,
                           words, &e));
    assert_string_equal(h->jobs.job[0].words, line);
    assert_true(wait_for(h, is_over, PATIENCE_STEPS));
    assert_int_equal(h->ends, 1);
    assert_int_equal(h->exit_code, 4);
    assert_string_equal(str_text(&h->outputs), output);
    assert_false(jobs_step(&h->jobs)); // nothing is left to happen
    stop_listening(h);
}

static void end_may_start_another(void **state)
{
    (void)state;
    struct heard *h = listener();
    struct err e;
    const char *const words[] = {"first", NULL};
    h->start_at_end = &h->jobs;
    h->program = script("job", "echo $1\n");
    assert_true(jobs_start(&h->jobs, &(struct job_record){.on_end = on_end, .context = h},
                           h->program, words, &e));
    assert_true(wait_for(h, is_over, PATIENCE_STEPS));
    assert_string_equal(str_text(&h->outputs), "first\nagain\n");
    stop_listening(h);
}

static void only_the_end_of_much_output_is_kept(void **state)
{
    (void)state;
    struct heard *h = listener();
    struct err e;
    const char *const words[] = {"ls", NULL};
    const char *program =
        script("job", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done\n");
    assert_true(jobs_start(&h->jobs, &(struct job_record){.on_end = on_end, .context = h}, program,
                           words, &e));
    assert_true(wait_for(h, is_over, PATIENCE_STEPS));
    assert_true(h->outputs.length >= 4096 && h->outputs.length <= 8192);
    assert_non_null(strstr(str_text(&h->outputs), "line 3000\n"));
    stop_listening(h);
}

static void what_cannot_start_says_so(void **state)
{
    (void)state;
    struct heard *h = listener();
    struct err e;
    const char *const words[] = {"ls", NULL};
    assert_false(jobs_start(&h->jobs, &(struct job_record){.on_end = on_end, .context = h},
                            "/nowhere/tilewalk", words, &e));
    assert_non_null(strstr(e.text, "/nowhere/tilewalk"));
    assert_int_equal(h->jobs.count, 0);
    stop_listening(h);
}

static void killed_ones_count_from_128(void **state)
{
    (void)state;
    struct heard *h = listener();
    struct err e;
    const char *const words[] = {"ls", NULL};
    const char *program = script("job", "kill -TERM $$\n");
    assert_true(jobs_start(&h->jobs, &(struct job_record){.on_end = on_end, .context = h}, program,
                           words, &e));
    assert_true(wait_for(h, is_over, PATIENCE_STEPS));
    assert_int_equal(h->exit_code, 128 + SIGTERM);
    stop_listening(h);
}

// A run as tune --attached is one: pauses on TERM, lets go on USR1.
static const char run_script[] = "trap 'echo saving >&2; exit 143' TERM\n"
                                 "trap 'echo detached >&3; let_go=1' USR1\n"
                                 "echo \"$*\" >&2\n"
                                 "echo session 12 >&3\n"
                                 "while [ ! \"$let_go\" ]; do sleep 0.02; done\n"
                                 "while [ ! -e \"$0.stop\" ]; do sleep 0.02; done\n"
                                 "echo over > \"$0.over\"\n";

static struct heard *start_run(void)
{
    struct heard *h = listener();
    struct err e;
    const char *const words[] = {"tune", "gemm", "--seed", "1", NULL};
    h->program = script("run", run_script);
    assert_true(jobs_start(&h->jobs, &(struct job_record){.is_run = true}, h->program, words, &e));
    assert_string_equal(h->jobs.job[0].words, "tilewalk tune gemm --seed 1");
    assert_int_equal(jobs_runs(&h->jobs), 1);
    assert_int_equal(h->jobs.job[0].session, 0);
    assert_true(wait_for(h, has_session, PATIENCE_STEPS));
    assert_int_equal(h->session, 12);
    assert_int_equal(h->jobs.job[0].session, 12);
    return h;
}

static void run_is_paused(void **state)
{
    (void)state;
    struct heard *h = start_run();
    jobs_leave(&h->jobs, false);
    assert_true(wait_for(h, is_over, PATIENCE_STEPS));
    assert_int_equal(h->exit_code, 143);
    assert_int_equal(h->ends, 1);
    assert_string_equal(str_text(&h->lines), "tune --attached gemm --seed 1|saving|");
    assert_int_equal(h->jobs.past_count, 1);
    assert_int_equal(h->jobs.past[0].session, 12);
    assert_int_equal(h->jobs.past[0].exit_code, 143);
    assert_false(h->jobs.past[0].detached);
    stop_listening(h);
}

static bool file_is_there(const char *end)
{
    char *path = mem_printf("%s/run.%s", folder, end);
    bool there = file_exists(path);
    free(path);
    return there;
}

static void run_is_let_go(void **state)
{
    (void)state;
    struct err e;
    struct heard *h = start_run();
    jobs_leave(&h->jobs, true);
    assert_true(wait_for(h, are_gone, PATIENCE_STEPS));
    assert_int_equal(jobs_runs(&h->jobs), 0);
    pid_t pid = h->jobs.job[0].child.pid;
    jobs_finish(&h->jobs);
    assert_int_equal(h->jobs.past_count, 1);
    assert_true(h->jobs.past[0].detached);
    assert_int_equal(kill(pid, 0), 0); // it goes on
    assert_false(file_is_there("over"));
    char *stop = mem_printf("%s/run.stop", folder);
    assert_true(file_write(stop, "", 0, &e));
    for (int i = 0; i < PATIENCE_STEPS && !file_is_there("over"); i++)
        poll(NULL, 0, 10);
    assert_true(file_is_there("over"));
    remove(stop);
    free(stop);
    stop_listening(h);
}

// The default action of USR1 would end it.
static void young_run_is_let_go_later(void **state)
{
    (void)state;
    struct heard *h = listener();
    struct err e;
    const char *const words[] = {"tune", "gemm", NULL};
    h->program = script("young", "while [ ! -e \"$0.go\" ]; do sleep 0.02; done\n"
                                 "trap 'echo detached >&3; exit 0' USR1\n"
                                 "echo session 5 >&3\n"
                                 "while :; do sleep 0.02; done\n");
    assert_true(jobs_start(&h->jobs, &(struct job_record){.is_run = true}, h->program, words, &e));
    jobs_leave(&h->jobs, true);
    assert_false(h->jobs.job[0].asked);
    char *go = mem_printf("%s.go", h->program);
    assert_true(file_write(go, "", 0, &e));
    free(go);
    assert_true(wait_for(h, has_session, PATIENCE_STEPS));
    jobs_leave(&h->jobs, true);
    assert_true(wait_for(h, are_gone, PATIENCE_STEPS));
    assert_true(h->jobs.past_count == 0 || h->jobs.past[0].exit_code == 0);
    stop_listening(h);
}

static void run_that_cannot_start_has_no_session(void **state)
{
    (void)state;
    struct heard *h = listener();
    struct err e;
    const char *const words[] = {"tune", "nothing", NULL};
    const char *program = script("job", "printf 'tilewalk: no space' >&2; exit 1\n");
    assert_true(jobs_start(&h->jobs, &(struct job_record){.is_run = true}, program, words, &e));
    assert_true(wait_for(h, is_over, PATIENCE_STEPS));
    assert_string_equal(str_text(&h->lines), "tilewalk: no space|");
    assert_int_equal(h->exit_code, 1);
    assert_int_equal(h->jobs.past_count, 0);
    stop_listening(h);
}

static void finish_kills(void **state)
{
    (void)state;
    struct heard *h = listener();
    struct err e;
    const char *const words[] = {"export", NULL};
    assert_true(jobs_start(&h->jobs, &(struct job_record){.on_end = on_end, .context = h},
                           script("job", "sleep 600\n"), words, &e));
    pid_t pid = h->jobs.job[0].child.pid;
    jobs_finish(&h->jobs);
    assert_int_equal(h->ends, 0);
    assert_int_equal(kill(pid, 0), -1);
    stop_listening(h);
}

static void runs_move(void **state)
{
    (void)state;
    struct heard *h = start_run();
    struct jobs other = {0};
    jobs_move(&other, &h->jobs);
    assert_int_equal(h->jobs.count, 0);
    assert_int_equal(jobs_runs(&other), 1);
    assert_int_equal(other.job[0].session, 12);
    jobs_move(&h->jobs, &other);
    jobs_leave(&h->jobs, false);
    assert_true(wait_for(h, is_over, PATIENCE_STEPS));
    stop_listening(h);
}

static void take_words(void *context, const char *words)
{
    str_printf(&((struct heard *)context)->lines, "%s|", words);
}

static void pretence_starts_nothing(void **state)
{
    (void)state;
    struct heard *h = listener();
    struct err e;
    const char *const words[] = {"note", "1", "it's $HOME", "", NULL};
    static const char line[] = "tilewalk note 1 'it'\\''s $HOME' ''|";
    const size_t length = strlen(line);
    h->jobs.pretend = take_words;
    assert_true(jobs_start(&h->jobs, &(struct job_record){.on_end = on_end, .context = h},
                           "/nowhere", words, &e));
    assert_true(jobs_start(&h->jobs, &(struct job_record){.is_run = true}, "/nowhere", words, &e));
    assert_int_equal(h->lines.length, 2 * length);
    assert_true(str_starts(str_text(&h->lines), line));
    assert_string_equal(str_text(&h->lines) + length, line);
    assert_int_equal(h->jobs.count, 0);
    stop_listening(h);
}

static void many_are_refused(void **state)
{
    (void)state;
    struct heard *h = listener();
    struct err e;
    const char *const words[] = {"ls", NULL};
    const char *program = script("job", "sleep 600\n");
    for (int i = 0; i < MOST_JOBS; i++)
        assert_true(jobs_start(&h->jobs, &(struct job_record){.on_end = on_end, .context = h},
                               program, words, &e));
    assert_false(jobs_start(&h->jobs, &(struct job_record){.on_end = on_end, .context = h}, program,
                            words, &e));
    assert_non_null(strstr(e.text, "under way"));
    stop_listening(h);
}

// The spawner starts commands of the program, the editor on a path, and new files for screens.
static void test_spawner(void **state)
{
    (void)state;
    struct heard *h = listener();
    struct ui_config config;
    struct err e;
    char *text;
    const char *program = script("job", "echo \"$@\" >edited; exit 4\n");
    int n, before = open(".", O_RDONLY | O_DIRECTORY);
    config_init(&config);
    snprintf(config.editor, sizeof config.editor, "'%s' --wait", program);
    assert_int_equal(chdir(folder), 0);
    h->jobs.spawner = jobs_spawner_create(program, &config, &e);
    assert_non_null(h->jobs.spawner);
    assert_true(jobs_start(&h->jobs, &(struct job_record){.on_end = on_end, .context = h}, program,
                           (const char *const[]){"note", "3", NULL}, &e));
    assert_true(wait_for(h, is_over, PATIENCE_STEPS));
    assert_int_equal(h->exit_code, 4);
    assert_false(jobs_start(&h->jobs, &(struct job_record){.on_end = on_end, .context = h}, program,
                            (const char *const[]){"tune", "x", "--no-sandbox", NULL}, &e));
    assert_non_null(strstr(e.text, "--no-sandbox"));
    for (int i = 1; i <= 3; i++) {
        close(spawner_open_file(h->jobs.spawner, &n));
        assert_int_equal(n, i);
    }
    assert_true(file_exists("tilewalk-screen-3.txt"));
    struct child c;
    int status = -1;
    assert_false(
        spawner_spawn(h->jobs.spawner, SPAWN_EDITOR, (const char *const[]){"+!sh", NULL}, &c, &e));
    assert_non_null(strstr(e.text, "a path"));
    assert_true(spawner_spawn(h->jobs.spawner, SPAWN_EDITOR,
                              (const char *const[]){"+12", "./+!sh", NULL}, &c, &e));
    for (int i = 0; i < PATIENCE_STEPS && !spawner_reap(h->jobs.spawner, &c, &status); i++)
        poll(NULL, 0, 10);
    assert_int_equal(WEXITSTATUS(status), 4);
    assert_true(file_read("edited", &text, NULL, NULL));
    assert_string_equal(text, "--wait +12 ./+!sh\n");
    free(text);
    spawner_destroy(h->jobs.spawner);
    h->jobs.spawner = NULL;
    assert_int_equal(fchdir(before), 0);
    close(before);
    stop_listening(h);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char *command = mem_printf("rm -r '%s'", folder);
    int code = system(command);
    free(command);
    return code;
}

TEST_GROUP(job)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_exit_code),
        cmocka_unit_test(end_may_start_another),
        cmocka_unit_test(only_the_end_of_much_output_is_kept),
        cmocka_unit_test(what_cannot_start_says_so),
        cmocka_unit_test(killed_ones_count_from_128),
        cmocka_unit_test(run_is_paused),
        cmocka_unit_test(run_is_let_go),
        cmocka_unit_test(young_run_is_let_go_later),
        cmocka_unit_test(run_that_cannot_start_has_no_session),
        cmocka_unit_test(finish_kills),
        cmocka_unit_test(runs_move),
        cmocka_unit_test(pretence_starts_nothing),
        cmocka_unit_test(many_are_refused),
        cmocka_unit_test(test_spawner),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
