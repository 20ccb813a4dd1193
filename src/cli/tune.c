#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "cli/fleet.h"
#include "cli/front.h"
#include "cli/on.h"
#include "cli/workbench.h"
#include "engine/network_run.h"
#include "engine/stored.h"
#include "export/export.h"
#include "script/network.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Running in the background: `tune --detach`.
//
//     struct detach d = DETACH_NOT;
//     detach(&d, e);          the parent waits until the child is ready or has failed
//     if (d.is_parent)
//         return d.exit_code;
//     ...the child makes its session; its errors still go to the terminal...
//     detach_ready(&d, id, database, is_new);
//                             the child lets the parent go; from now on it writes to the
//                             session's log, session-ID-HASH.log in the user's state folder
//
// The hash is that of the database's real path: each database has a session 1. A new session begins
// its log, one that goes on adds to it.
//
// detach_ready does nothing where `d` was not detached.

// The side of the fork that a process is on.
struct detach {
    bool is_parent;
    int exit_code;  // of the parent: the child's when it failed, else 0
    int ready_pipe; // of the child, its end; -1: there is nobody to tell
};

#define DETACH_NOT ((struct detach){.ready_pipe = -1})

bool detach(struct detach *d, struct err *e); // before any thread or driver

// A byte means ready. None means that the child has ended: its exit code is ours.
static int wait_for_child(pid_t child, int pipe_end)
{
    char byte;
    int status = 0;
    ssize_t got;
    do
        got = read(pipe_end, &byte, 1);
    while (got < 0 && errno == EINTR);
    close(pipe_end);
    if (got == 1)
        return 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

bool detach(struct detach *d, struct err *e)
{
    int ends[2];
    if (pipe(ends) != 0)
        return err_set(e, "cannot detach: %s", strerror(errno));
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t child = fork();
    if (child < 0)
        return err_set(e, "cannot detach: %s", strerror(errno));
    if (child > 0) {
        close(ends[1]);
        d->is_parent = true;
        d->exit_code = wait_for_child(child, ends[0]);
        return true;
    }
    close(ends[0]);
    d->ready_pipe = ends[1];
    setsid();
    return true;
}

static int open_log(const char *path, bool is_new)
{
    struct err ignored;
    char *folder = path_folder(path);
    file_make_folders(folder, &ignored);
    free(folder);
    return open(path, O_WRONLY | O_CREAT | O_APPEND | (is_new ? O_TRUNC : 0), 0644);
}

extern const struct command cmd_tune;

#define RUN_OPTIONS                                                                                \
    {"trials", OPTION_INTEGER,                                                                     \
     "N",      "measured configurations in all (default of a new session: 200)",                   \
     1,        9e18},                                                                              \
        {"seconds", OPTION_REAL, "S", "running time in all", 0.001, 1e9},                          \
        {"until", OPTION_TEXT, "P%",                                                               \
         "end once the best reaches so much of the device's roof (tilewalk devices --roof), 95% "  \
         "say"},                                                                                   \
        {"workers", OPTION_INTEGER, "N", "worker processes (default: as fits the device)", 1, 64}, \
        OPTION_ON, OPTION_POOL("measure by the workers of a pool (tilewalk worker --pool)"),       \
        OPTION_WAIT, OPTION_GLSLANG, OPTION_SANDBOX, OPTION_DB, OPTION_JSON,                       \
        {"show-rejected", OPTION_FLAG, NULL, "report rejected configurations too"},                \
        {"export", OPTION_TEXT, "DIR",                                                             \
         "write the best kernel there at the end, unless a faster one is there"},                  \
        {"detach", OPTION_FLAG, NULL, "run in the background, with a log"},                        \
        {"attached", OPTION_FLAG, NULL, "run as a child of the workbench", 0, 0, true},            \
        {"plain", OPTION_FLAG, NULL, "lines of text, also on a terminal"}, OPTION_LOOKS,           \
        {"verbose", OPTION_FLAG, NULL, "report every trial, and what workers and drivers say"},    \
        {"validate", OPTION_FLAG, NULL,                                                            \
         "turn the Vulkan validation layer on (needs it installed; slower); its messages are "     \
         "warnings"},                                                                              \
    {                                                                                              \
        "fault", OPTION_TEXT, "KIND@PHASE:N", "inject a fault", 0, 0, true                         \
    }

static void fill_options(const struct arguments *a, struct session_options *o)
{
    int64_t seed = arguments_integer(a, "seed", -1), spills = arguments_integer(a, "spills", -1);
    *o = (struct session_options){
        .strategy = arguments_text(a, "strategy"),
        .source = arguments_text(a, "source"),
        .device = arguments_text(a, "device"),
        .trials = arguments_integer(a, "trials", 0),
        .seconds = arguments_real(a, "seconds", 0),
        .has_seed = seed >= 0,
        .seed = (uint64_t)seed,
        .workers = (int)arguments_integer(a, "workers", 0),
        .warm = arguments_text(a, "warm-start"),
        .transfer = arguments_text(a, "transfer"),
        .transfers = true,
        .count_rejected = arguments_flag(a, "count-rejected"),
        .cold = arguments_flag(a, "cold"),
        .validate = arguments_flag(a, "validate"),
        .has_spills = spills >= 0,
        .spills = (uint32_t)spills,
        .fault = arguments_text(a, "fault"),
    };
}

// "95%"
static bool take_until(const struct arguments *a, struct session_options *o, struct err *e)
{
    const char *text = arguments_text(a, "until");
    char *end = NULL;
    double percent = text ? strtod(text, &end) : 0;
    if (text && (end == text || !str_equal(end, "%") || !(percent > 0 && percent <= 100)))
        return err_usage(e, "--until: '%s' is no share of a roof (try 95%%)", text);
    o->until = percent / 100;
    return true;
}

static bool export_best(const struct arguments *a, struct store *store, int64_t id, struct err *e)
{
    struct export_request request = {.session = id,
                                     .folder = arguments_text(a, "export"),
                                     .count = 1,
                                     .keep_faster = true, // it is too late to ask
                                     .quiet = arguments_flag(a, "json") ||
                                              arguments_flag(a, "attached")};
    return export_run(store, &request, e);
}

// Runs what was started, and exports when that was asked for and something is there to export.
static int run(const struct arguments *a, struct front *f, struct detach *background, int64_t id,
               bool is_new)
{
    struct err e;
    char *database = common_database(a);
    if (!(background->ready_pipe < 0)) {
        // Heap.
        char hash[33], *real = realpath(database, NULL);
        const char *known = real ? real : database;
        hash_hex(known, strlen(known), hash);
        char *name = mem_printf("session-%" PRId64 "-%.8s.log", id, hash);
        char *path = path_user_state(name);
        free(name);
        free(real);
        int log = open_log(path, is_new), error = errno, null = open("/dev/null", O_RDWR);
        if (log >= 0)
            fprintf(stderr, "session %" PRId64 " runs in the background; log: %s\n", id, path);
        else
            fprintf(stderr, "session %" PRId64 " runs in the background, without a log: %s: %s\n",
                    id, path, strerror(error));
        fflush(NULL);
        log = log >= 0 ? log : dup(null);
        dup2(null, STDIN_FILENO);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        close(log);
        close(null);
        if (write(background->ready_pipe, "r", 1) != 1)
            perror("tilewalk: the parent is gone");
        close(background->ready_pipe);
        background->ready_pipe = -1;
        free(path);
    }
    free(database);
    int code = front_run(f, id);
    if (code == EXIT_OK && !ferror(stdout) && arguments_text(a, "export") &&
        !export_best(a, f->store, id, &e))
        return fail_with(&e, EXIT_FAILED);
    return code;
}

// A whole network is run on a device here, and --device all is of this machine.
static bool check_on(const struct arguments *a, struct err *e)
{
    const char *first = arguments_text(a, "pool"), *option = first ? "pool" : "on";
    if (!first && !arguments_list(a, "on", &first, 1))
        return true;
    if (fleet_wanted(a))
        return err_usage(e, "tune: --%s %s: --device %s is of this machine", option, first,
                         arguments_text(a, "device"));
    return true;
}

static bool check_device_word(const struct session_options *o, struct err *e)
{
    bool measured = o->source ? str_equal(o->source, "device") : !o->like;
    if (measured && str_equal(o->device, "none"))
        return err_usage(e, "--device none: measuring needs a device (or --source synthetic:bowl, "
                            "which needs none)");
    return true;
}

static bool is_network(const struct arguments *a)
{
    return a->operand_count && !arguments_integer(a, "like", 0) && network_is(a->operand[0]);
}

// What is for networks alone.
static bool check_network(const struct arguments *a, struct err *e)
{
    bool network = is_network(a), only = arguments_text(a, "only") != NULL;
    const char *nothing;
    if (!network && (only || arguments_text(a, "scheduler") || arguments_flag(a, "again")))
        return err_usage(e, "tune: --only, --scheduler and --again are for networks (tilewalk ops "
                            "lists them)");
    if (only && (arguments_text(a, "scheduler") || arguments_flag(a, "again")))
        return err_usage(e, "tune: --only tunes one task, as a session of its own: without "
                            "--scheduler and --again");
    if (network && (arguments_text(a, "by") || arguments_list(a, "shape", &nothing, 1)))
        return err_usage(e, "tune: --shape and --by are for a space: the layers of a network have "
                            "shapes of their own");
    if (!network || only)
        return true;
    if (arguments_text(a, "until"))
        return err_usage(e, "tune: --until ends the search for one operation: the tasks of a "
                            "network have roofs of their own (--only TASK)");
    return !arguments_text(a, "export") ||
           err_usage(e, "tune: --export writes the kernels of one operation: tilewalk export ID "
                        "does for each task of a network");
}

// Exactly one of a space, a network, a recording and a session to be like.
static bool check_space(const struct arguments *a, int64_t like, struct err *e)
{
    if (like && a->operand_count)
        return err_usage(e,
                         "tune: '%s' is one argument too many: --like takes the space of "
                         "session %" PRId64,
                         a->operand[0], like);
    if (!check_network(a, e))
        return false;
    if (recorded_is(arguments_text(a, "source"))) {
        // A recording brings its own space, and has no kernel.
        const char *nothing;
        if (a->operand_count)
            return err_usage(e, "tune: '%s' is one argument too many: the space is the recording's",
                             a->operand[0]);
        return (!arguments_list(a, "set", &nothing, 1) ||
                err_usage(e, "tune: --set is for space files, a recording has no sizes")) &&
               (!arguments_text(a, "export") ||
                err_usage(e, "tune: --export writes kernels, a recording has none"));
    }
    return like || a->operand_count ||
           err_usage(e, "tune: missing %s, or --like ID (usage: tilewalk tune %s)",
                     cmd_tune.operands, cmd_tune.operands);
}

static const char *task_name_at(const void *context, size_t i)
{
    const struct network *n = context;
    return n->task[i].label;
}

static const struct network_task *find_task(const struct network *n, const char *only,
                                            struct err *e)
{
    for (int i = 0; i < n->task_count; i++)
        if (str_equal(n->task[i].label, only))
            return &n->task[i];
    const char *near = str_suggest(only, (size_t)n->task_count, task_name_at, n);
    if (near)
        err_usage(e, "--only: %s has no task '%s' (did you mean '%s'?)", n->name, only, near);
    else
        err_usage(e, "--only: %s has no task '%s' (tilewalk check %s lists them)", n->name, only,
                  n->name);
    return NULL;
}

static bool start_network(struct front *f, const struct arguments *a, struct session_options *o,
                          int64_t *id, struct err *e)
{
    struct network network;
    char *path;
    const char *only = arguments_text(a, "only");
    const struct network_task *task = NULL;
    network = (struct network){.name = NULL};
    path = network_find(a->operand[0], e);
    bool ok = (path && network_read(path, o->set, o->set_count, &network, e)) &&
              (!only || (task = find_task(&network, only, e)) != NULL);
    if (ok && task) { // as a session of its own
        o->space = task->preset;
        o->set = task->set;
        o->set_count = task->set_count;
        ok = engine_start(f->engine, o, id, e);
    } else if (ok) {
        struct network_options all = {.network = &network,
                                      .path = path,
                                      .each = o,
                                      .scheduler = arguments_text(a, "scheduler"),
                                      .again = arguments_flag(a, "again")};
        ok = engine_start_network(f->engine, &all, id, e);
    }
    network_finish(&network);
    free(path);
    return ok;
}

static bool begin_tune(struct front *f, const struct arguments *a, int64_t *id, struct err *e)
{
    struct session_options o;
    struct arena storage;
    arena_init(&storage);
    fill_options(a, &o);
    o.dialer = f->dialer;
    o.like = arguments_integer(a, "like", 0);
    o.space = a->operand_count ? a->operand[0] : NULL;
    o.set = common_settings(a, &storage, &o.set_count);
    const char **text = arena_zero(&storage, (size_t)a->given_count + 1, sizeof *text);
    o.shape_count = arguments_list(a, "shape", text, a->given_count);
    o.shape = text;
    o.by = arguments_text(a, "by");
    bool ok = take_until(a, &o, e) && check_device_word(&o, e) &&
              (is_network(a) ? start_network(f, a, &o, id, e) : engine_start(f->engine, &o, id, e));
    arena_finish(&storage);
    return ok;
}

// A session that is paused may still have its runner, which waits: it has only to be told.
static bool check_nobody_waits(struct store *store, int64_t id, struct err *e)
{
    struct arena arena;
    struct session_record r;
    pid_t runner = 0;
    arena_init(&arena);
    bool ok = store_get_session(store, id, &arena, &r, e);
    if (ok && store_state(store, &r, &runner) == STATE_PAUSED && runner)
        ok = err_set(e,
                     "session %" PRId64 " is paused, and process %d, which runs it, waits "
                     "(`tilewalk pause %" PRId64 " --off%s` lets it go on)",
                     id, (int)runner, id, store_option(store));
    arena_finish(&arena);
    return ok;
}

static bool begin_resume(struct front *f, const struct arguments *a, int64_t *id, struct err *e)
{
    struct session_options o;
    fill_options(a, &o);
    o.dialer = f->dialer;
    return take_until(a, &o, e) && common_session_id(a->operand[0], id, e) &&
           common_take_network(f->store, id, e) && check_nobody_waits(f->store, *id, e) &&
           engine_resume(f->engine, *id, &o, e);
}

static bool check_attached(const struct arguments *a, struct err *e)
{
    if (!arguments_flag(a, "attached"))
        return true;
    if (arguments_flag(a, "detach"))
        return err_usage(e, "--attached and --detach exclude each other");
    return attached_check(e);
}

static int run_session(const struct arguments *a, struct dialer *dialer,
                       bool (*begin)(struct front *f, const struct arguments *a, int64_t *id,
                                     struct err *e))
{
    struct err e;
    struct front front;
    int64_t id = 0;
    struct detach background = DETACH_NOT;
    if (!check_attached(a, &e) || (arguments_flag(a, "detach") && !detach(&background, &e)))
        return fail_with(&e, EXIT_FAILED);
    if (background.is_parent)
        return background.exit_code;
    const char *folder = arguments_text(a, "export"); // better known to fail now than at the end
    if (folder && !file_make_folders(folder, &e))
        return fail_with(&e, EXIT_FAILED);
    struct store *store = common_open(a, STORE_WRITE, &e);
    if (!store)
        return fail_with(&e, EXIT_FAILED);
    front_init(&front, a, store);
    front.dialer = dialer;
    front.engine = engine_create(store, front_on_event, &front);
    if (!front.engine)
        err_set(&e, "the engine cannot start: %s", strerror(errno));
    bool begun = front.engine && begin(&front, a, &id, &e);
    int code =
        begun ? run(a, &front, &background, id, begin != begin_resume) : fail_with(&e, EXIT_FAILED);
    engine_destroy(front.engine);
    store_close(store);
    return code;
}

static int run_on_several(const struct arguments *a)
{
    struct err e;
    struct fleet fleet;
    int code = fleet_init(&fleet, a, &e) ? fleet_run(&fleet, arguments_flag(a, "json"))
                                         : fail_with(&e, EXIT_FAILED);
    fleet_finish(&fleet);
    return code;
}

// The machines of --on are reached from outside of the sandbox.
static int run_confined(const struct arguments *a,
                        bool (*begin)(struct front *f, const struct arguments *a, int64_t *id,
                                      struct err *e))
{
    struct err e;
    struct on on;
    int code;
    if (on_begin_all(&on, a, &e)) {
        confine_session(a);
        code = run_session(a, on_dialer(&on), begin);
    } else {
        code = fail_with(&e, EXIT_FAILED);
    }
    on_end(&on);
    return code;
}

static int run_tune(const struct command *self, const struct arguments *a)
{
    struct err e;
    (void)self;
    if (!check_space(a, arguments_integer(a, "like", 0), &e))
        return fail_with(&e, EXIT_USAGE);
    if (!check_on(a, &e))
        return fail_with(&e, EXIT_USAGE);
    if (fleet_wanted(a))
        return run_on_several(a);
    return run_confined(a, begin_tune);
}

static int run_resume(const struct command *self, const struct arguments *a)
{
    struct err e;
    int64_t id;
    (void)self;
    if (!common_session_id(a->operand[0], &id, &e))
        return fail_with(&e, EXIT_USAGE);
    return run_confined(a, begin_resume);
}

static const struct option tune_options[] = {
    {"scheduler", OPTION_TEXT, "gradient|roundrobin[:KEY=VALUE]...",
     "of a network: what gives its tasks their trials (default: gradient; see tilewalk "
     "strategies)"},
    {"only", OPTION_TEXT, "TASK", "of a network, tune this task alone"},
    {"again", OPTION_FLAG, NULL, "of a network, tune also tasks whose best kernels are known"},
    {"like", OPTION_INTEGER, "ID",
     "instead of a space: that of session ID, as it was stored, with its sizes, device, strategy "
     "and budget where nothing else is said",
     1, 9e18},
    OPTION_SET,
    {"shape", OPTION_LIST, "SIZE=N,SIZE=N[,weight=W]",
     "look for one configuration for several shapes, each with these sizes and as often as W says "
     "(default: 1); twice or more"},
    {"by", OPTION_WORD, "time|worst",
     "what is to be good of several shapes: the time of all, by weight (default), or the shape "
     "that "
     "gains least, or loses most, against the fastest baseline of the space"},
    {"strategy", OPTION_TEXT, "STRATEGY[:KEY=VALUE]...",
     "search strategy (default: walk; see tilewalk strategies)"},
    {"seed", OPTION_INTEGER, "S", "seed of the search and of the inputs (default: a new one)", 0,
     9007199254740992.0},
    {"device", OPTION_TEXT, "DEVICE",
     "index or part of a name (default: the best one; see tilewalk devices); all, or indices "
     "(0,2): a session on each of them at once; 0+2, or a name that several cards of one model "
     "have: one session that measures on all of them"},
    {"source", OPTION_TEXT, "SOURCE",
     "where times come from: device, synthetic:bowl, synthetic:rugged, synthetic:machine, "
     "synthetic:trap, or a recorded space, which then is the one that is searched: "
     "replay:FILE[:speed=X]"},
    {"warm-start", OPTION_TEXT, "FILE|ID|baseline[,...]|none",
     "begin with the best configurations of other sessions, or of files that tilewalk export "
     "--warm-start wrote, or with what the space declares as its baselines (default: these); those "
     "of other shapes are moved to the nearest ones here"},
    {"transfer", OPTION_TEXT, "ID[,...]|auto|none",
     "let the model of the strategy begin with the results of other sessions; auto: of all before "
     "it on this device (for walk, which weighs them, on any), of this kind of operator, with "
     "these parameters (default: none; for walk on a device, those of this device; in a network, "
     "but for walk, of tasks that began before)"},
    {"spills", OPTION_INTEGER, "N",
     "where the driver tells what spills, leave out kernels that spill more than N, once they are "
     "compiled, but for those of --warm-start (default: as tilewalk devices --json has it, or the "
     "session of --like; 0: leave out none)",
     0, 1e9},
    {"count-rejected", OPTION_FLAG, NULL,
     "spend a trial on each rejected configuration, as papers do"},
    {"cold", OPTION_FLAG, NULL,
     "time kernels on copies of their buffers in turns, so that caches do not have what they read"},
    RUN_OPTIONS,
    OPTION_HELP,
    OPTION_END,
};

static const struct option resume_options[] = {
    RUN_OPTIONS,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_tune = {
    .name = "tune",
    .operands = "PRESET|NETWORK|FILE",
    .help = "search the best configuration of a space, or of all tasks of a network, on a device",
    .least = 0,
    .most = 1,
    .options = tune_options,
    .run = run_tune,
    .in_workbench = true,
};

const struct command cmd_resume = {
    .name = "resume",
    .operands = "ID",
    .help = "go on with a session exactly where it stood",
    .least = 1,
    .most = 1,
    .options = resume_options,
    .run = run_resume,
    .in_workbench = true,
};
