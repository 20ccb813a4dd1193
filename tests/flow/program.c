#include "program.h"

#include "patience.h"

#include "base/file.h"
#include "base/str.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 60
#define POLL_MS    2

// --- the box ---

static const char *needed(const char *variable)
{
    const char *value = getenv(variable);
    if (!value)
        fail_msg("%s is not set (run these tests through meson)", variable);
    return value;
}

int box_setup(void **state)
{
    const char *base = getenv("TMPDIR");
    struct box *b = mem_zero(1, sizeof *b);
    arena_init(&b->arena);
    b->folder = mem_printf("%s/tilewalk-flow-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(b->folder));
    assert_int_equal(chmod(b->folder, 0755), 0);
    box_set(b, "TILEWALK_DB", box_path(b, "tilewalk.db"));
    box_set(b, "HOME", box_path(b, "home"));
    box_set(b, "XDG_DATA_HOME", NULL);
    box_set(b, "XDG_STATE_HOME", NULL);
    box_set(b, "XDG_CONFIG_HOME", NULL);
    box_set(b, "TILEWALK_KILL", NULL);
    *state = b;
    return 0;
}

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000l}, NULL);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)ftw;
    if (type == FTW_D || type == FTW_DNR)
        chmod(path, 0700);
    return remove(path);
}

int remove_folder(const char *path)
{
    return nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void end_running(struct running *r)
{
    if (r->pid) {
        kill(r->pid, SIGKILL);
        waitpid(r->pid, NULL, 0);
    }
    fclose(r->out);
    fclose(r->err);
}

int box_teardown(void **state)
{
    struct box *b = *state;
    for (int i = 0; i < b->started; i++)
        end_running(&b->running[i]);
    for (int i = 0; i < b->jsons; i++)
        cJSON_Delete(b->json[i]);
    for (int i = 0; i < b->variables; i++)
        free(b->environment[i]);
    struct patience p;
    int removed;
    patience_begin(&p, getpid());
    // A process that was detached still closes its files for a while after its session has ended.
    while ((removed = remove_folder(b->folder)) != 0 && patience_spent_s(&p) < PATIENCE_S)
        sleep_ms(POLL_MS);
    free(b->json);
    free(b->folder);
    arena_finish(&b->arena);
    free(b);
    return removed;
}

static int find_variable(const struct box *b, const char *name)
{
    size_t length = strlen(name);
    int i = 0;
    while (i < b->variables && (strncmp(b->environment[i], name, length) != 0 ||
                                strchr("=", b->environment[i][length]) == NULL))
        i++;
    return i;
}

const char *box_get(const struct box *b, const char *name)
{
    int i = find_variable(b, name);
    const char *equals = i < b->variables ? strchr(b->environment[i], '=') : NULL;
    return equals ? equals + 1 : NULL;
}

void box_set(struct box *b, const char *name, const char *value)
{
    int i = find_variable(b, name);
    assert_true(i < (int)(sizeof b->environment / sizeof *b->environment));
    if (i == b->variables)
        b->environment[b->variables++] = NULL;
    free(b->environment[i]);
    b->environment[i] = value ? mem_printf("%s=%s", name, value) : mem_strdup(name);
}

const char *box_path(struct box *b, const char *name)
{
    return arena_printf(&b->arena, "%s/%s", b->folder, name);
}

const char *box_write(struct box *b, const char *name, const char *text)
{
    struct err e;
    const char *path = box_path(b, name);
    if (!file_write(path, text, strlen(text), &e))
        fail_msg("%s", e.text);
    assert_int_equal(chmod(path, 0644), 0);
    return path;
}

char *box_read(struct box *b, const char *path)
{
    struct err e;
    char *text;
    if (!file_read(path, &text, NULL, &e))
        fail_msg("%s", e.text);
    char *kept = arena_strdup(&b->arena, text);
    free(text);
    return kept;
}

const char *flow_path(struct box *b, const char *name)
{
    return arena_printf(&b->arena, "%s/%s", needed("TILEWALK_FLOW_FILES"), name);
}

// --- running ---

// In the child: becomes the program, or ends with 127.
static void become_program(const struct box *b, const struct running *r, const char *program,
                           const char *const *arguments)
{
    const char *argv[64] = {program};
    int null = open("/dev/null", O_RDONLY);
    for (int i = 0; arguments[i] && i < 62; i++)
        argv[i + 1] = arguments[i];
    dup2(null, STDIN_FILENO);
    dup2(fileno(r->out), STDOUT_FILENO);
    dup2(fileno(r->err), STDERR_FILENO);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    for (int i = 0; i < b->variables; i++)
        if (strchr(b->environment[i], '='))
            putenv(b->environment[i]);
        else
            unsetenv(b->environment[i]);
    signal(SIGINT, SIG_DFL); // which shells have background processes ignore
    signal(SIGQUIT, SIG_DFL);
    if (b->prepare)
        b->prepare(b);
    execv(program, (char *const *)(uintptr_t)argv);
    _exit(127);
}

struct running *start_list(struct box *b, const char *const *arguments)
{
    const char *program = b->program ? b->program : needed("TILEWALK_PROGRAM");
    assert_true(b->started < MOST_RUNNING);
    struct running *r = &b->running[b->started];
    *r = (struct running){.out = tmpfile(), .err = tmpfile()};
    assert_true(r->out && r->err);
    b->started++;
    fflush(NULL);
    r->pid = fork();
    assert_true(r->pid >= 0);
    if (r->pid == 0)
        become_program(b, r, program, arguments);
    return r;
}

// Reads through the descriptor, not the stream: the child shares the position with it.
static const char *read_all(struct box *b, FILE *file)
{
    struct str text = {0};
    char step[8192];
    ssize_t got;
    for (off_t at = 0; (got = pread(fileno(file), step, sizeof step, at)) > 0; at += got)
        str_add_bytes(&text, step, (size_t)got);
    const char *kept = arena_strdup(&b->arena, str_text(&text));
    str_finish(&text);
    return kept;
}

const char *printed_so_far(struct box *b, const struct running *r)
{
    return read_all(b, r->out);
}

// The kernel carries over what was written a while later, in its order: a last byte is waited for.
char *read_terminal(struct box *b, int master, int slave)
{
    enum { SIZE = 1 << 16 };
    static const char last = 1;
    char *text = arena_zero(&b->arena, SIZE, 1);
    struct pollfd p = {.fd = master, .events = POLLIN};
    size_t length = 0;
    assert_int_equal(write(slave, &last, 1), 1);
    while (length == 0 || text[length - 1] != last) {
        assert_int_equal(poll(&p, 1, 1000 * PATIENCE_S), 1);
        ssize_t got = read(master, text + length, SIZE - length);
        assert_true(got > 0);
        length += (size_t)got;
    }
    text[length - 1] = '\0';
    return text;
}

void send_signal(const struct running *r, int signal_number)
{
    assert_true(r->pid > 0);
    assert_int_equal(kill(r->pid, signal_number), 0);
}

void freeze(const struct running *r)
{
    int status;
    send_signal(r, SIGSTOP);
    assert_int_equal(waitpid(r->pid, &status, WUNTRACED), r->pid);
    assert_true(WIFSTOPPED(status));
}

struct end {
    struct running *running;
    int status;
};

static bool has_ended(struct box *b, void *context)
{
    struct end *end = context;
    (void)b;
    if (waitpid(end->running->pid, &end->status, WNOHANG) != end->running->pid)
        return false;
    end->running->pid = 0;
    return true;
}

struct result finish(struct box *b, struct running *r)
{
    struct end end = {.running = r};
    wait_until(b, "the end of the program", has_ended, &end);
    struct result result = {
        .code = WIFSIGNALED(end.status) ? 128 + WTERMSIG(end.status) : WEXITSTATUS(end.status),
        .out = read_all(b, r->out),
        .err = read_all(b, r->err),
    };
    if (r == &b->running[b->started - 1]) { // make its place free again
        end_running(r);
        b->started--;
    }
    return result;
}

struct result run_list(struct box *b, const char *const *arguments)
{
    return finish(b, start_list(b, arguments));
}

// Prints the output of the programs that run, to explain why a test failed.
static const char *all_printed(struct box *b)
{
    const char *all = "";
    for (int i = 0; i < b->started; i++)
        if (b->running[i].pid)
            all = arena_printf(&b->arena, "%s\n--- process %d has printed\n%.1000s%.1000s", all,
                               (int)b->running[i].pid, read_all(b, b->running[i].out),
                               read_all(b, b->running[i].err));
    return all;
}

void wait_and_tell(struct box *b, const char *what, bool (*holds)(struct box *b, void *context),
                   const char *(*seen)(struct box *b, void *context), void *context)
{
    struct patience p;
    patience_begin(&p, getpid());
    while (!holds(b, context)) {
        if (patience_spent_s(&p) > PATIENCE_S)
            fail_msg("waited %d s in vain for %s; seen: %s%s", PATIENCE_S, what,
                     seen ? seen(b, context) : "nothing of it", all_printed(b));
        sleep_ms(POLL_MS);
    }
}

void wait_until(struct box *b, const char *what, bool (*holds)(struct box *b, void *context),
                void *context)
{
    wait_and_tell(b, what, holds, NULL, context);
}

int64_t count_trials(const char *out)
{
    return count_parts(out, "{\"event\":\"trial\"");
}
