#include "cli/prove.h"

#include "base/build.h"
#include "base/file.h"
#include "base/os.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "engine/devices.h"
#include "record/unpack.h"

#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define STANDARD_MINUTES  8.0
#define STATEMENTS_ON_CPU 150 // drivers of CPU devices compile about a thousand a second

struct part {
    const char *name, *title;
    double until; // share of the time at which it ends
    bool (*run)(struct prove *p, struct err *e);
};

// In order of importance.
static const struct part parts[] = {
    {"limits", "Limits and features", 0.02, prove_limits},
    {"correctness", "Correctness", 0.35, prove_correctness},
    {"timing", "Timing", 0.43, prove_timing},
    {"roof", "Roof", 0.47, prove_roof},
    {"statistics", "The driver's compiler", 0.53, prove_statistics},
    {"tuning", "Tuning", 0.92, prove_tuning},
    {"spaces", "Recorded spaces", 1, prove_spaces},
};
enum { PARTS = sizeof parts / sizeof *parts };

// --- time, signals ---

static struct engine *signalled_engine;
static volatile sig_atomic_t signal_seen;

static void on_signal(int number)
{
    signal_seen = number;
    if (signalled_engine)
        engine_interrupt(signalled_engine);
}

static double elapsed_s(const struct prove *p)
{
    return (double)(os_now_ns() - p->begin_ns) * 1e-9;
}

double prove_left(const struct prove *p)
{
    return p->until_s - elapsed_s(p);
}

bool prove_is_over(const struct prove *p)
{
    return signal_seen || prove_left(p) <= 0;
}

static void ignore_event(void *context, const struct event *event)
{
    (void)context, (void)event; // the database has it
}

bool prove_session(struct prove *p, const struct session_options *o, int64_t *id, struct err *e)
{
    struct engine *g = engine_create(p->store, ignore_event, NULL);
    if (!g)
        return err_set(e, "the engine cannot start: %s", strerror(errno));
    bool ok = engine_start(g, o, id, e);
    signalled_engine = g;
    if (ok && signal_seen)
        engine_interrupt(g);
    ok = ok && engine_run(g, e);
    signalled_engine = NULL;
    engine_destroy(g);
    return ok;
}

// --- the archive: free of private paths ---

// Converts "llvmpipe (LLVM 15.0.6, 256 bits)" to "tilewalk-report-llvmpipe-llvm-15-0-6-256-bits".
static char *report_name(const struct prove *p)
{
    struct str out = {0};
    str_add(&out, "tilewalk-report");
    for (const char *c = p->device.name; *c && out.length < 60; c++)
        if (isalnum((unsigned char)*c)) {
            bool begins = c == p->device.name || !isalnum((unsigned char)c[-1]);
            str_printf(&out, "%s%c", begins ? "-" : "", tolower((unsigned char)*c));
        }
    return str_take(&out);
}

void prove_add_file(struct prove *p, const char *name, const char *text)
{
    char *folder = report_name(p), *inside = mem_printf("%s/%s", folder, name);
    // Messages of compilers and drivers may hold the names of the user's folders.
    char *here = realpath(".", NULL), *shipped = path_shipped("presets");
    const char *const private[] = {p->folder, shipped, here, getenv("HOME"), getenv("TMPDIR")};
    char *shown = mem_strdup(text);
    for (size_t i = 0; i < sizeof private / sizeof *private; i++) {
        struct str next = {0};
        const char *rest = shown, *path = private[i] ? private[i] : "";
        size_t length = strlen(path);
        for (const char *at; length > 1 && (at = strstr(rest, path)); rest = at + length) {
            str_add_bytes(&next, rest, (size_t)(at - rest));
            str_add(&next, "...");
        }
        str_add(&next, rest);
        free(shown);
        shown = str_take(&next);
    }
    free(shipped);
    free(here);
    pack_add(&p->tar, inside, shown, strlen(shown));
    free(shown);
    free(inside);
    free(folder);
}

// --- the page ---

struct part_result {
    const char *state; // "done", "cut short", "did not fit", "failed"
    double seconds;
    char *left_out, *error, *page; // heap
};

struct report {
    struct prove *prove;
    struct part_result part[PARTS];
    struct str text; // JSON
    int failed;      // parts
    bool json;       // prints JSON only
    bool has_begun;  // the first part has: it begins however short the time is
};

static void add_date(struct str *out)
{
    char date[16];
    time_t now = time(NULL);
    struct tm day;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &day));
    str_add(out, date);
}

static void add_page(const struct report *r, struct str *out)
{
    const struct prove *p = r->prove;
    struct utsname system = {0};
    uname(&system);
    // The report's row in the table of records, which tests/lint/records.sh makes.
    str_add(out, "<!-- record: | ");
    str_add_markdown(out, p->device.name);
    str_add(out, " | ");
    str_add_markdown(out, p->device.driver);
    str_printf(out, " | %s, ", build_name());
    add_date(out);
    str_printf(out, " | %" PRId64 " / %" PRId64 " / %" PRId64 " | ", p->right, p->wrong, p->failed);
    if (isfinite(p->unsteady))
        str_printf(out, "%.1f %% |", 100 * p->unsteady);
    else
        str_add(out, "- |");
    for (int i = 0; i < PROVE_PROBLEMS; i++)
        str_printf(out, " %s |", p->speed[i][0] ? p->speed[i] : "-");
    str_add(out, " -->\n");
    str_printf(out, "# tilewalk on %s\n\n| | |\n|---|---|\n| driver | ", p->device.name);
    str_add_markdown(out, p->device.driver);
    str_printf(out, " |\n| system | %s %s, %s, %d cores |\n", system.sysname, system.release,
               system.machine, os_cores());
    str_printf(out, "| tilewalk | %s, ", build_name());
    add_date(out);
    str_printf(out, ", %g minutes asked, seed %" PRIu64 " |\n\n", p->seconds / 60, p->seed);
    str_add(out, "| part | | seconds | left out |\n|---|---|---:|---|\n");
    for (int i = 0; i < PARTS; i++) {
        const struct part_result *o = &r->part[i];
        if (!o->state)
            continue;
        str_printf(out, "| %s | %s | %.1f | ", parts[i].name, o->state, o->seconds);
        str_add_markdown(out, *o->error ? o->error : o->left_out);
        str_add(out, " |\n");
    }
    for (int i = 0; i < PARTS; i++)
        if (r->part[i].page && *r->part[i].page)
            str_printf(out, "\n## %s\n\n%s", parts[i].title, r->part[i].page);
}

// --- running ---

static bool is_wanted(const char *only, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = only; at && (at = strstr(at, name)); at++)
        if ((at == only || at[-1] == ',') && (!at[length] || at[length] == ','))
            return true;
    return !only;
}

static void run_part(struct report *r, int i, const char *only)
{
    struct prove *p = r->prove;
    struct part_result *o = &r->part[i];
    struct err e = {0};
    char error[1400];
    double begin_s = elapsed_s(p);
    bool fits = !signal_seen && (begin_s < p->seconds || !r->has_begun), ok = true;
    // The part and those after it get the time that is left, by their planned shares.
    double last = 0, until = 0;
    for (int k = 0; k < PARTS; k++) {
        double share = parts[k].until - (k ? parts[k - 1].until : 0);
        last += is_wanted(only, parts[k].name) ? share : 0;
        until += is_wanted(only, parts[k].name) && k <= i ? share : 0;
    }
    p->until_s = p->seconds * until / last;
    json_begin_object(&p->json, NULL);
    json_add_text(&p->json, "name", parts[i].name);
    r->has_begun = true;
    if (fits)
        ok = parts[i].run(p, &e);
    o->seconds = elapsed_s(p) - begin_s;
    o->error = mem_strdup(ok ? "" : err_format(&e, error, sizeof error));
    o->left_out = str_take(&p->left_out);
    o->page = str_take(&p->page);
    o->state = !fits                         ? "did not fit"
               : !ok                         ? "failed"
               : o->left_out && *o->left_out ? "cut short"
                                             : "done";
    o->left_out = o->left_out ? o->left_out : mem_strdup("");
    r->failed += !ok;
    json_add_text(&p->json, "state", o->state);
    json_add_real(&p->json, "seconds", o->seconds);
    json_add_text_if_any(&p->json, "left_out", o->left_out);
    json_add_text_if_any(&p->json, "error", o->error);
    json_end(&p->json);
    if (!r->json)
        printf("%-12s %-11s %6.1f s%s%s\n", parts[i].name, o->state, o->seconds,
               *o->error ? "  " : "", o->error);
    fflush(stdout);
}

static void run_parts(struct report *r, const char *only)
{
    struct prove *p = r->prove;
    if (!r->json)
        printf("proving %s for %g minutes; an interruption ends it, and its findings are written\n",
               p->device.name, p->seconds / 60);
    fflush(stdout);
    p->json = json_begin(&r->text);
    json_add_text(&p->json, "format", "tilewalk-report");
    json_add_int(&p->json, "version", 1);
    json_add_text(&p->json, "tilewalk", build_name());
    json_add_text(&p->json, "device", p->device.name);
    json_add_text(&p->json, "driver", p->device.driver);
    json_add_real(&p->json, "minutes", p->seconds / 60);
    json_add_count(&p->json, "seed", p->seed);
    json_begin_list(&p->json, "parts");
    for (int i = 0; i < PARTS; i++)
        if (is_wanted(only, parts[i].name))
            run_part(r, i, only);
    json_end_all(&p->json);
    str_add(&r->text, "\n");
}

static bool write_report(struct report *r, const char *wanted, struct err *e)
{
    struct prove *p = r->prove;
    struct str page = {0};
    char *name = report_name(p),
         *path = wanted ? mem_strdup(wanted) : mem_printf("%s.tar.xz", name);
    add_page(r, &page);
    prove_add_file(p, "report.md", str_text(&page));
    prove_add_file(p, "report.json", str_text(&r->text));
    bool ok = pack_write(&p->tar, path, e);
    if (ok && !r->json)
        printf("wrote %s: %" PRId64 " kernels right, %" PRId64 " wrong, %" PRId64 " failed\n", path,
               p->right, p->wrong, p->failed);
    str_finish(&page);
    free(path);
    free(name);
    return ok;
}

// --- before and after ---

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

bool prove_begin_store(struct prove *p, struct sandbox *s, struct err *e)
{
    const char *base = getenv("TMPDIR");
    char *folder = mem_printf("%s/tilewalk-prove-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder)) {
        sandbox_finish(s);
        err_set(e, "%s: %s", folder, strerror(errno));
        free(folder);
        return false;
    }
    p->folder = folder;
    char *path = path_join(p->folder, "prove.db");
    confine_write_database(s, path);
    confine_enter(s);
    p->store = store_open(path, STORE_WRITE, e);
    free(path);
    common_on_signals(on_signal, (int)SA_RESETHAND); // the findings are still written
    signal(SIGPIPE, SIG_IGN);
    return p->store != NULL;
}

void prove_finish(struct prove *p)
{
    store_close(p->store);
    if (p->folder)
        nftw(p->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(p->folder);
    str_finish(&p->page);
    str_finish(&p->left_out);
    str_finish(&p->tar);
}

int prove_signal(void)
{
    return signal_seen;
}

static bool prove_begin(struct prove *p, const struct arguments *a, struct err *e)
{
    struct sandbox s;
    const char *only = arguments_text(a, "only");
    char *rest, *copy = mem_strdup(only ? only : "");
    bool ok = true;
    for (char *one = strtok_r(copy, ",", &rest); ok && one; one = strtok_r(NULL, ",", &rest)) {
        bool found = false;
        for (int i = 0; i < PARTS; i++)
            found |= str_equal(one, parts[i].name);
        ok = found || err_usage(e,
                                "--only: there is no part '%s' (limits, correctness, timing, "
                                "roof, statistics, tuning, spaces)",
                                one);
    }
    free(copy);
    if (!ok)
        return false;
    const char *out = arguments_text(a, "out");
    if (out && file_is_folder(out))
        return err_usage(e, "--out '%s' is a folder", out);
    // It is better to fail now than at the end.
    char *folder = path_folder(out ? out : ".");
    ok = access(folder, W_OK | X_OK) == 0 ||
         err_set(e, "cannot write the archive to '%s': %s", folder, strerror(errno));
    free(folder);
    struct gpu_info *list = NULL;
    int count, index;
    ok = ok && devices_find(&list, &count, e) &&
         gpu_choose(list, count, arguments_text(a, "device"), &index, e) &&
         gpu_can_run(&list[index], e);
    if (ok)
        p->device = list[index];
    if (ok && p->device.is_cpu)
        p->device.limits.statements = STATEMENTS_ON_CPU;
    free(list);
    if (!ok)
        return false;
    confine_begin(&s);
    confine_write_beside(&s, out ? out : ".");
    return prove_begin_store(p, &s, e);
}

static int run_prove(const struct command *self, const struct arguments *a)
{
    struct err e;
    int64_t seed = arguments_integer(a, "seed", -1);
    struct prove p = {.seed = seed >= 0 ? (uint64_t)seed : os_seed() >> 11,
                      .trials = arguments_integer(a, "trials", 0),
                      .fault = arguments_text(a, "fault"),
                      .begin_ns = os_now_ns(),
                      .unsteady = NAN,
                      .seconds = 60 * arguments_real(a, "minutes", STANDARD_MINUTES)};
    struct report r = {.prove = &p, .json = arguments_flag(a, "json")};
    (void)self;
    bool begun = prove_begin(&p, a, &e);
    if (begun)
        run_parts(&r, arguments_text(a, "only"));
    bool ok = begun && write_report(&r, arguments_text(a, "out"), &e);
    if (ok && !signal_seen && (p.wrong || p.failed || r.failed))
        ok = err_set(&e,
                     "kernels: %" PRId64 " wrong, %" PRId64 " failed; %d part%s ended early (the "
                     "report names them)",
                     p.wrong, p.failed, r.failed, r.failed == 1 ? "" : "s");
    int code = ok && signal_seen ? 128 + signal_seen : common_exit(ok, &e);
    if (begun && r.json)
        printf("%s", str_text(&r.text));
    prove_finish(&p);
    for (int i = 0; i < PARTS; i++) {
        free(r.part[i].left_out);
        free(r.part[i].error);
        free(r.part[i].page);
    }
    str_finish(&r.text);
    return code;
}

static const struct option options[] = {
    {"minutes", OPTION_REAL, "N",
     "time limit (default: 8); the report names the work that did not fit", 0.01, 1e5},
    {"only", OPTION_TEXT, "PART[,...]",
     "only these parts: limits, correctness, timing, roof, statistics, tuning, spaces"},
    {"out", OPTION_TEXT, "FILE",
     "the archive, which is replaced (default: tilewalk-report-DEVICE.tar.xz)"},
    {"seed", OPTION_INTEGER, "S", "seed of problems, kernels and searches (default: a new one)", 0,
     9007199254740992.0},
    OPTION_DEVICE,
    OPTION_GLSLANG,
    OPTION_SANDBOX,
    OPTION_JSON,
    {"trials", OPTION_INTEGER, "N", "trials of a session at most", 1, 1e6, true},
    OPTION_FAULT,
    OPTION_END,
};

const struct command cmd_prove = {
    .name = "prove",
    .help = "test and measure a device: limits, correctness, times, roofline, driver, tuning; the "
            "results are one archive without paths and names, which can be shown to others",
    .options = options,
    .run = run_prove,
};
