// What the workbench costs, on a pseudo-terminal of 36 rows and 120 columns (issue 3, "Numbers"):
// its frames while trials arrive, in a small session and in a huge one; and how soon a key is
// answered while an engine takes all the time it can get.
#include "app.h"
#include "base/file.h"
#include "base/number.h"
#include "base/os.h"
#include "bench.h"
#include "fixture.h"
#include "term.h"
#include "terminal.h"

#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

#define ROWS              36
#define COLS              120
#define FRAMES_PER_SECOND 15.0
#define TRIALS_PER_SECOND 10.0
#define HELP              "first row" // words of the help

static int trials = 1000000, frames = 150, keys = 40;

static const enum view_id measured[] = {VIEW_MAIN, VIEW_TRIALS, VIEW_MAP};
enum { MEASURED = sizeof measured / sizeof *measured };

struct figures {
    double first_s; // from the start to the first frame, wall clock
    double cpu_s;   // of a later frame
    int64_t bytes;  // of the later frames together
};

// --- in the child: frames ---

struct scene {
    int told;  // of a huge session; 0: the small one
    bool main; // that view only
};

static void open_fixture(struct fixture *f, const struct scene *scene)
{
    if (scene->told)
        fixture_create_huge(f, scene->told);
    else
        fixture_create(f, FIXTURE_SMALL);
}

static void tell(struct fixture *f, const struct scene *scene)
{
    if (scene->told)
        fixture_tell_one(f);
    else
        fixture_tell(f, 1);
}

static double show_first(struct app *app, const struct app_options *o)
{
    int64_t start = os_now_ns();
    app_init(app, o);
    app_show(app, o->view);
    app_resize(app, ROWS, COLS);
    app_poll(app, 1000, FIXTURE_NOW);
    app_draw(app);
    term_show(&app->screen);
    return (double)(os_now_ns() - start) / 1e9;
}

// CPU seconds of a frame; the trials are written outside of what is measured.
static double show_more(struct app *app, struct fixture *f, const struct scene *scene)
{
    int64_t spent = 0;
    int told = 0;
    for (int i = 0; i < frames; i++) {
        double now = i / FRAMES_PER_SECOND;
        for (; told < now * TRIALS_PER_SECOND; told++)
            tell(f, scene);
        int64_t start = os_process_cpu_ns(getpid());
        while (app_poll(app, 1000 + now, FIXTURE_NOW + now))
            ;
        app_draw(app);
        term_show(&app->screen);
        spent += os_process_cpu_ns(getpid()) - start;
    }
    return (double)spent / 1e9 / frames;
}

static void measure_view(struct terminal *t, struct fixture *f, const struct scene *scene,
                         const struct ui_config *config, enum view_id view)
{
    struct app *app = mem_zero(1, sizeof *app);
    struct app_options o = {.database = f->path,
                            .config = config,
                            .program = "tilewalk",
                            .view = view,
                            .session = f->session};
    struct figures now = {.first_s = show_first(app, &o)};
    while (app_poll(app, 1000, FIXTURE_NOW)) // what reads all trials reads them now
        ;
    terminal_report(t, &now, sizeof now);
    now.cpu_s = show_more(app, f, scene);
    terminal_report(t, &now, sizeof now);
    app_finish(app);
    free(app);
}

static void measure_views(struct terminal *t, void *context)
{
    const struct scene *scene = context;
    struct fixture f;
    struct ui_config config;
    struct look look;
    struct err e;
    setlocale(LC_CTYPE, "C.UTF-8");
    open_fixture(&f, scene);
    config_init(&config);
    if (!term_open(&config, NULL, &look, &e))
        bench_fail("no screen", &e);
    config.charset = look.charset;
    for (int i = 0; i < (scene->main ? 1 : MEASURED); i++)
        measure_view(t, &f, scene, &config, measured[i]);
    term_close();
    fixture_destroy(&f);
}

// --- here ---

static void watch(struct scene scene, struct figures out[MEASURED])
{
    struct terminal t;
    terminal_start(&t, ROWS, COLS, measure_views, &scene);
    for (int i = 0; i < (scene.main ? 1 : MEASURED); i++) {
        terminal_take(&t, &out[i], sizeof out[i]);
        int64_t before = t.bytes;
        terminal_take(&t, &out[i], sizeof out[i]);
        out[i].bytes = t.bytes - before;
    }
    terminal_end(&t);
}

static void bench_frames(void)
{
    struct figures f[MEASURED];
    watch((struct scene){.main = true}, f);
    bench_figure("main screen: CPU time of a frame", 1e3 * f[0].cpu_s, "ms", UNDER, 1);
    bench_figure("bytes to the terminal, a frame", (double)f[0].bytes / frames, "", UNDER, 500);
    bench_figure("share of a core, 15 frames a second", 100 * f[0].cpu_s * FRAMES_PER_SECOND, "%",
                 UNDER, 2);
}

static void bench_huge(void)
{
    struct figures small[MEASURED], huge[MEASURED];
    char what[80];
    watch((struct scene){.told = trials < 1000 ? trials : 1000}, small);
    watch((struct scene){.told = trials}, huge);
    for (int i = 0; i < MEASURED; i++) {
        const char *name = views[measured[i]]->name;
        snprintf(what, sizeof what, "%s, %d trials: first frame", name, trials);
        bench_figure(what, huge[i].first_s, "s", UNDER, 0.5);
        snprintf(what, sizeof what, "%s: CPU time of a later frame", name);
        bench_figure(what, 1e3 * huge[i].cpu_s, "ms", UNDER, 2e3 * small[i].cpu_s);
    }
}

// --- keys, while an engine is busy ---

static void run_program(struct terminal *t, void *context)
{
    const char *program = getenv("TILEWALK_PROGRAM");
    char *self = path_program(), *folder = path_folder(self);
    char *path = program ? mem_strdup(program) : path_join(folder, "../../tilewalk");
    const char *argv[] = {path,       "tune",    "gemm",     "--source", "synthetic:rugged",
                          "--trials", "1000000", "--device", "none",     "--db",
                          context,    "--seed",  "1",        NULL};
    (void)t;
    setenv("LC_ALL", "C.UTF-8", 1);
    execv(path, (char *const *)(uintptr_t)argv);
    perror(path);
    _exit(127);
}

static void bench_keys(void)
{
    struct fixture f;
    struct terminal t;
    double *wait = mem_zero((size_t)keys, sizeof *wait);
    fixture_create(&f, FIXTURE_NOTHING);
    terminal_start(&t, ROWS, COLS, run_program, f.path);
    if (terminal_wait_for(&t, "Pause", 20) > 20)
        bench_fail("the workbench does not come up", NULL);
    for (int i = 0; i < keys; i++) {
        terminal_settle(&t, 0.2);
        terminal_send(&t, "?");
        wait[i] = terminal_wait_for(&t, HELP, 5);
        terminal_settle(&t, 0.1 + 0.001 * (i % 70)); // so that keys come at all times of a frame
        terminal_send(&t, "?");
    }
    terminal_end(&t);
    bench_figure("a key is answered, engine busy: median", 1e3 * median_of(wait, keys), "ms", UNDER,
                 30);
    bench_figure("the slowest of all keys", 1e3 * wait[keys - 1], "ms", UNDER, 30);
    free(wait);
    fixture_destroy(&f);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"trials", &trials, 10000000}, {"frames", &frames, 100000}, {"keys", &keys, 10000}};
    bench_options(argc, argv, options, 3);
    setenv("TILEWALK_DATA", TILEWALK_BENCH_DATA, 0);
    bench_frames();
    bench_keys();
    bench_huge();
    return 0;
}
