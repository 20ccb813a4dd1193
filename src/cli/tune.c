// tune, resume: runs a session, here, on several devices, in the background or in the workbench.
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
#include "trial/benchmark.h"

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

// --- in the background: tune --detach ---
//
// The parent waits until the child has begun its session or has failed; until then the child's
// errors go to the terminal. From then on it writes to the session's log, session-ID-HASH.log in
// the user's state folder. The hash is that of the database's real path: each database has a
// session 1. A new session truncates its log, a resumed one appends to it.

// The side of the fork that a process is on.
struct detach {
    bool is_parent;
    int exit_code;  // of the parent: the child's when it failed, else 0
    int ready_pipe; // write end of the child; -1: not detached
};

// Forks, before any thread or driver.
static bool tune_detach(struct detach *d, struct err *e)
{
    int ends[2], status = 0;
    char byte;
    ssize_t got;
    if (pipe(ends) != 0)
        return err_set(e, "cannot detach: %s", strerror(errno));
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t child = fork();
    if (child < 0)
        return err_set(e, "cannot detach: %s", strerror(errno));
    if (child == 0) {
        close(ends[0]);
        d->ready_pipe = ends[1];
        setsid();
        return true;
    }
    close(ends[1]);
    do
        got = read(ends[0], &byte, 1);
    while (got < 0 && errno == EINTR);
    close(ends[0]);
    d->is_parent = true;
    if (got == 1) // the child is ready; else it has ended
        return true;
    waitpid(child, &status, 0);
    d->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
    return true;
}

// Lets the parent go and writes to the session's log from now on.
static void detach_ready(struct detach *d, int64_t id, const char *database, bool is_new)
{
    char hash[33], *real = realpath(database, NULL);
    struct err ignored;
    const char *known = real ? real : database;
    hash_hex(known, strlen(known), hash);
    char *name = mem_printf("session-%" PRId64 "-%.8s.log", id, hash);
    char *path = path_user_state(name), *folder = path_folder(path);
    file_make_folders(folder, &ignored);
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND | (is_new ? O_TRUNC : 0), 0644);
    int error = errno, null = open("/dev/null", O_RDWR);
    if (log >= 0)
        fprintf(stderr, "session %" PRId64 " runs in the background; log: %s\n", id, path);
    else
        fprintf(stderr, "session %" PRId64 " runs in the background, without a log: %s: %s\n", id,
                path, strerror(error));
    fflush(NULL);
    log = log >= 0 ? log : dup(null);
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close(log);
    close(null);
    if (write(d->ready_pipe, "r", 1) != 1)
        perror("tilewalk: the parent is gone");
    close(d->ready_pipe);
    free(folder);
    free(path);
    free(name);
    free(real);
}

// --- options ---

extern const struct command cmd_tune;

#define RUN_OPTIONS                                                                                \
    {"trials", OPTION_INTEGER,                                                                     \
     "N",      "measured configurations in all (default of a new session: 200)",                   \
     1,        9e18},                                                                              \
        {"seconds", OPTION_REAL, "S", "running time in all", 0.001, 1e9},                          \
        {"until", OPTION_TEXT, "P%",                                                               \
         "end once the best reaches this share of the device's peak, such as 95% (devices "        \
         "--roof)"},                                                                               \
        {"patience", OPTION_INTEGER, "N", "end after N trials in a row without a gain", 1, 9e18},  \
        {"workers", OPTION_INTEGER, "N", "worker processes (default: as fits the device)",         \
         1,         MOST_WORKERS},                                                                 \
        OPTION_ON, OPTION_ACCESS, OPTION_GLSLANG, OPTION_SANDBOX, OPTION_DB, OPTION_JSON,          \
        {"show-rejected", OPTION_FLAG, NULL, "report rejected configurations too"},                \
        {"export", OPTION_TEXT, "DIR",                                                             \
         "write the best kernel to this folder at the end, unless a faster one is there"},         \
        {"detach", OPTION_FLAG, NULL, "run in the background, with a log"},                        \
        {"attached", OPTION_FLAG, NULL, "run as a child of the workbench", 0, 0, true},            \
        {"plain", OPTION_FLAG, NULL, "print lines of text, also on a terminal"},                   \
        OPTION_LOOKS(true),                                                                        \
        {"verbose", OPTION_FLAG, NULL, "report every trial, and the logs of workers and drivers"}, \
        {"validate", OPTION_FLAG, NULL,                                                            \
         "use the Vulkan validation layer, which is slow; its messages are warnings"},             \
        OPTION_FAULT

static void fill_options(const struct arguments *a, struct session_options *o)
{
    int64_t seed = arguments_integer(a, "seed", -1), spills = arguments_integer(a, "spills", -1);
    *o = (struct session_options){
        .strategy = arguments_text(a, "strategy"),
        .source = arguments_text(a, "source"),
        .device = arguments_text(a, "device"),
        .trials = arguments_integer(a, "trials", 0),
        .seconds = arguments_real(a, "seconds", 0),
        .objective = arguments_text(a, "objective"),
        .patience = arguments_integer(a, "patience", 0),
        .has_seed = seed >= 0,
        .seed = (uint64_t)seed,
        .workers = (int)arguments_integer(a, "workers", 0),
        .warm = arguments_text(a, "warm-start"),
        .guesses = arguments_text(a, "seed-from"),
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

static void take_outside(struct session_options *o, const struct outside *outside)
{
    o->machines = outside->machines;
    o->benchmark = outside->benchmark;
    o->card_users = outside->card_users;
}

// Parses "95%".
static bool parse_until(const struct arguments *a, struct session_options *o, struct err *e)
{
    const char *text = arguments_text(a, "until");
    char *end = NULL;
    double percent = text ? strtod(text, &end) : 0;
    if (text && (end == text || !str_equal(end, "%") || !(percent > 0 && percent <= 100)))
        return err_usage(e, "--until: '%s' is no share of the peak (try 95%%)", text);
    o->until = percent / 100;
    return true;
}

// Runs the session that has begun, and exports its best kernel where that is asked for.
static int tune_run(const struct arguments *a, struct front *f, int64_t id)
{
    struct err e;
    const struct export_request request = {.session = id,
                                           .folder = arguments_text(a, "export"),
                                           .count = 1,
                                           .keep_faster = true, // it is too late to ask
                                           .quiet = arguments_flag(a, "json") ||
                                                    arguments_flag(a, "attached")};
    int code = front_run(f, id);
    if (code == EXIT_OK && !ferror(stdout) && request.folder && !export_run(f->store, &request, &e))
        return fail_with(&e, EXIT_FAILED);
    return code;
}

static bool is_network(const struct arguments *a)
{
    return a->operand_count && !arguments_integer(a, "like", 0) && network_is(a->operand[0]);
}

// Checks the options for networks.
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
                            "network have peaks of their own (--only TASK)");
    if (arguments_text(a, "objective"))
        return err_usage(e,
                         "tune: --objective is for one operation: the times of a network's tasks "
                         "are added up (--only TASK)");
    if (arguments_integer(a, "patience", 0))
        return err_usage(e, "tune: --patience ends the search for one operation: the tasks of a "
                            "network share their trials (--only TASK)");
    if (arguments_text(a, "seed-from"))
        return err_usage(e, "tune: --seed-from is for one operation: the tasks of a network have "
                            "spaces of their own (--only TASK)");
    return !arguments_text(a, "export") ||
           err_usage(e, "tune: --export writes the kernels of one operation: tilewalk export ID "
                        "does for each task of a network");
}

// Checks that exactly one of a space, a network, a recording and --like is given.
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

static bool start_network(struct front *f, const struct arguments *a, struct session_options *o,
                          int64_t *id, struct err *e)
{
    struct network network = {.name = NULL};
    const char *path = o->space;
    const char *only = arguments_text(a, "only");
    struct arena arena;
    const struct network_options all = {.network = &network,
                                        .path = path,
                                        .only = only,
                                        .each = o,
                                        .scheduler = arguments_text(a, "scheduler"),
                                        .again = arguments_flag(a, "again")};
    arena_init(&arena);
    struct session_options alone; // a task, as a session of its own
    bool ok = only ? network_choose_task(&arena, &all, &alone, e) &&
                         engine_start(f->engine, &alone, id, e)
                   : engine_start_network(f->engine, &all, id, e);
    arena_finish(&arena);
    network_finish(&network);
    return ok;
}

static bool begin_tune(struct front *f, const struct arguments *a, int64_t *id, struct err *e)
{
    struct session_options o;
    struct arena storage;
    arena_init(&storage);
    fill_options(a, &o);
    take_outside(&o, f->outside);
    o.like = arguments_integer(a, "like", 0);
    o.space = a->operand_count ? common_space(a, is_network(a), &storage, e) : NULL;
    o.set = common_settings(a, &storage, &o.set_count);
    const char **text = arena_zero(&storage, (size_t)a->given_count + 1, sizeof *text);
    o.shape_count = arguments_list(a, "shape", text, a->given_count);
    o.shape = text;
    o.by = arguments_text(a, "by");
    bool measured = o.source ? str_equal(o.source, "device") : !o.like;
    bool ok = (o.space || !a->operand_count) && parse_until(a, &o, e) &&
              (!measured || !str_equal(o.device, "none") ||
               err_usage(e, "--device none: measuring needs a device (or --source synthetic:bowl, "
                            "which needs none)")) &&
              (is_network(a) ? start_network(f, a, &o, id, e) : engine_start(f->engine, &o, id, e));
    arena_finish(&storage);
    return ok;
}

static bool begin_resume(struct front *f, const struct arguments *a, int64_t *id, struct err *e)
{
    struct session_options o;
    fill_options(a, &o);
    take_outside(&o, f->outside);
    return parse_until(a, &o, e) && common_session_id(a->operand[0], id, e) &&
           common_take_network(f->store, id, e) && engine_resume(f->engine, *id, &o, e);
}

static int run_session(const struct arguments *a, const struct outside *outside,
                       bool (*begin)(struct front *f, const struct arguments *a, int64_t *id,
                                     struct err *e))
{
    struct err e;
    struct front front;
    int64_t id = 0;
    struct detach background = {.ready_pipe = -1};
    bool detaches = arguments_flag(a, "detach"), attached = arguments_flag(a, "attached");
    if (attached && detaches) {
        err_usage(&e, "--attached and --detach exclude each other");
        return fail_with(&e, EXIT_USAGE);
    }
    if ((attached && !attached_check(&e)) || (detaches && !tune_detach(&background, &e)))
        return fail_with(&e, EXIT_FAILED);
    if (background.is_parent)
        return background.exit_code;
    const char *folder = arguments_text(a, "export"); // it is better to fail now than at the end
    if (folder && !file_make_folders(folder, &e))
        return fail_with(&e, EXIT_FAILED);
    struct store *store = common_open(a, STORE_WRITE, &e);
    if (!store)
        return fail_with(&e, EXIT_FAILED);
    front_init(&front, a, store);
    front.outside = outside;
    front.engine = engine_create(store, front_on_event, &front);
    if (!front.engine)
        err_set(&e, "the engine cannot start: %s", strerror(errno));
    bool begun = front.engine && begin(&front, a, &id, &e);
    if (begun && background.ready_pipe >= 0) {
        char *database = common_database(a);
        detach_ready(&background, id, database, begin != begin_resume);
        free(database);
    }
    int code = begun ? tune_run(a, &front, id) : fail_with(&e, EXIT_FAILED);
    engine_destroy(front.engine);
    store_close(store);
    return code;
}

// Makes the process that starts the program of a source run: or serve:, which for a session that
// goes on, or that is like another one, is stored there. `*out` stays NULL for other sources.
static bool begin_program(const struct arguments *a, bool resumes, struct benchmark **out,
                          struct err *e)
{
    struct err ignored; // reported where the session is read
    struct arena arena;
    struct session_record r = {.source = arguments_text(a, "source")};
    int64_t id = arguments_integer(a, "like", 0);
    arena_init(&arena);
    if (resumes && !common_session_id(a->operand[0], &id, &ignored))
        id = 0;
    char *database = common_database(a);
    struct store *store = !r.source && id && file_exists(database)
                              ? store_open(database, STORE_READ, &ignored)
                              : NULL;
    if (store && !store_get_session(store, id, &arena, &r, &ignored))
        r.source = NULL;
    bool ok = !benchmark_is(r.source) || (*out = benchmark_begin(r.source, e)) != NULL;
    store_close(store);
    free(database);
    arena_finish(&arena);
    return ok;
}

// The machines of --on are reached from outside the sandbox, in which no other process is seen, and
// a program that measures is started there.
static int run_confined(const struct arguments *a,
                        bool (*begin)(struct front *f, const struct arguments *a, int64_t *id,
                                      struct err *e))
{
    struct err e;
    struct on on;
    struct benchmark *benchmark = NULL;
    int code;
    if (on_begin_all(&on, a, &e) && begin_program(a, begin == begin_resume, &benchmark, &e)) {
        char *card_users = card_users_read();
        confine_session(a);
        code = run_session(a, &(struct outside){on_machines(&on), benchmark, card_users}, begin);
        free(card_users);
    } else {
        code = fail_with(&e, EXIT_FAILED);
    }
    benchmark_end(benchmark);
    on_end(&on);
    return code;
}

static int run_tune(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct fleet fleet;
    const char *first;
    (void)self;
    if (!check_space(a, arguments_integer(a, "like", 0), &e))
        return fail_with(&e, EXIT_USAGE);
    if (!fleet_wanted(a))
        return run_confined(a, begin_tune);
    if (arguments_list(a, "on", &first, 1)) {
        err_usage(&e, "tune: --on %s: --device %s is of this machine", first,
                  arguments_text(a, "device"));
        return fail_with(&e, EXIT_USAGE);
    }
    int code = fleet_init(&fleet, a, &e) ? fleet_run(&fleet, arguments_flag(a, "json"))
                                         : fail_with(&e, EXIT_FAILED);
    fleet_finish(&fleet);
    return code;
}

static int run_resume(const struct command *self, const struct arguments *a)
{
    struct err e;
    bool waited;
    (void)self;
    if (!common_continue(a, &waited, &e))
        return fail_with(&e, EXIT_FAILED);
    return waited ? EXIT_OK : run_confined(a, begin_resume);
}

static const struct option tune_options[] = {
    {"scheduler", OPTION_TEXT, "gradient|roundrobin[:KEY=VALUE]...",
     "for a network: how its tasks get their trials (default: gradient; see tilewalk strategies)"},
    {"only", OPTION_TEXT, "TASK", "for a network: tune this task alone"},
    {"again", OPTION_FLAG, NULL, "for a network: tune also tasks whose best kernels are known"},
    {"like", OPTION_INTEGER, "ID",
     "tune as session ID was tuned, but for what other options change", 1, 9e18},
    OPTION_SET,
    OPTION_SHIPPED,
    {"shape", OPTION_LIST, "SIZE=N,SIZE=N[,weight=W]",
     "search one configuration for several shapes, each with these sizes (two or more)"},
    {"by", OPTION_WORD, "time|worst",
     "objective over shapes: weighted total time (default), or the worst ratio to a baseline"},
    {"strategy", OPTION_TEXT, "STRATEGY[:KEY=VALUE]...",
     "search strategy (default: walk; see tilewalk strategies)"},
    {"seed", OPTION_INTEGER, "S", "seed of the search and of the inputs (default: a new one)", 0,
     9007199254740992.0},
    {"device", OPTION_TEXT, "DEVICE",
     "index or part of a name (default: the best one); all, or 0,2: a session on each of them; "
     "0+2: one session on several cards of one model"},
    {"source", OPTION_TEXT, "SOURCE", engine_source_help},
    {"objective", OPTION_WORD, "time|energy|edp",
     "what is sought the least of: time (default), joules a run, or their product (energy-delay); "
     "with this option joules are measured too, where the device tells its power"},
    {"seed-from", OPTION_TEXT, "FILE",
     "try these configurations, JSON lines from a person, a script or a language model, every "
     "second trial; those that the model gives no chance are dropped (-: standard input)"},
    {"warm-start", OPTION_TEXT, "FILE|ID|baseline[,...]|none",
     "begin with the best of these sessions and files (export --as warm-start), or with the "
     "baselines of the space and, on a device, where the space begins (default)"},
    {"transfer", OPTION_TEXT, "ID[,...]|auto|none",
     "train the strategy's model with the results of other sessions too, or of all that fit (auto; "
     "default: none, for walk those of this device)"},
    {"spills", OPTION_INTEGER, "N",
     "skip kernels with more than N register spills, where the driver reports them (default: the "
     "device's; 0: skip none)",
     0, 1e9},
    {"count-rejected", OPTION_FLAG, NULL,
     "count each rejected configuration as a trial, as papers do"},
    {"cold", OPTION_FLAG, NULL,
     "time kernels with cold caches: on copies of their buffers in turns"},
    RUN_OPTIONS,
    OPTION_END,
};

static const struct option resume_options[] = {
    RUN_OPTIONS,
    OPTION_END,
};

const struct command cmd_tune = {
    .name = "tune",
    .operands = "PRESET|NETWORK|FILE",
    .help =
        "search for the best configuration of a space, or of all tasks of a network, on a device",
    .most = 1,
    .options = tune_options,
    .run = run_tune,
    .in_workbench = true,
};

const struct command cmd_resume = {
    .name = "resume",
    .operands = "ID",
    .help = "continue a session exactly where it stopped",
    .least = 1,
    .most = 1,
    .options = resume_options,
    .run = run_resume,
    .in_workbench = true,
};
