// bench foreign: what is left in shaders that others ship, on this machine's CPU device.
//
// Tunes ggml's and ncnn's shaders as they are ($TILEWALK_FOREIGN has them) on products and
// convolutions of theirs, and holds the best against each configuration that ships and runs here:
// all of a session are raced in one process, so the ratios are of one run. Full size:
// 200 trials, 3 seeds, every problem. `--db FILE` keeps the sessions: those that are there with as
// many trials are read and not measured again, others go on. `--problem I` is one; `--page FILE`
// writes the table of what is there between that page's marks, and measures nothing. `--shapes N`
// asks instead what few configurations of mul_mm are worth for twelve shapes, of N random ones that
// were measured on each, and how many measurements a search for one configuration for all takes.
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "bench.h"
#include "figures/figure_doc.h"
#include "kept.h"
#include "tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SEEDS = 9, MOST_SET = 5 };

struct problem {
    const char *name, *preset, *folder; // below $TILEWALK_FOREIGN, and the setting
    const char *set[MOST_SET];
};

static const struct problem problems[] = {
    {"mul_mm f32 256^3", "ggml-mul-mm", "ggml", {"type=f32", "M=256", "N=256", "K=256"}},
    {"mul_mm f32 512x256x1024", "ggml-mul-mm", "ggml", {"type=f32", "M=512", "N=256", "K=1024"}},
    {"mul_mm q4_0 256^3", "ggml-mul-mm", "ggml", {"type=q4_0", "M=256", "N=256", "K=256"}},
    {"mul_mm q4_K 256^3", "ggml-mul-mm", "ggml", {"type=q4_K", "M=256", "N=256", "K=256"}},
    {"mul_mat_vec q4_K 4096^2", "ggml-mul-mat-vec", "ggml", {"type=q4_K", "M=4096", "K=4096"}},
    {"conv1x1 64 to 256, 56x56",
     "ncnn-conv1x1",
     "ncnn",
     {"in_channels=64", "out_channels=256", "height=56", "width=56"}},
    {"conv1x1 128 to 512, 28x28",
     "ncnn-conv1x1",
     "ncnn",
     {"in_channels=128", "out_channels=512", "height=28", "width=28"}},
    {"conv1x1 1024 to 256, 14x14",
     "ncnn-conv1x1",
     "ncnn",
     {"in_channels=1024", "out_channels=256", "height=14", "width=14"}},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

struct counts {
    double trials, wrong, timeouts;
};

// `also` is freed.
static struct kept session_of(const struct problem *p, int trials, int seed, const char *db,
                              char **also)
{
    struct kept k = {.db = db, .preset = p->preset, .trials = trials, .seed = seed, .device = -1};
    const char *folder = getenv("TILEWALK_FOREIGN");
    memcpy(k.set, p->set, sizeof p->set);
    k.also = *also = mem_printf("%s=%s/%s", p->folder, folder, p->folder);
    return k;
}

static int make_session(const struct problem *p, int trials, int seed, const char *db)
{
    char *also;
    const struct kept k = session_of(p, trials, seed, db, &also);
    int id = kept_make(&k);
    free(also);
    return id;
}

static void count_outcomes(const char *db, const char *id, struct counts *n)
{
    struct bench_child child;
    char *line = NULL;
    size_t capacity = 0;
    bench_start(&child, (const char *const[]){"show", id, "--csv", "--db", db, NULL});
    while (getline(&line, &capacity, child.out) > 0) {
        n->wrong += strstr(line, ",wrong,") != NULL;
        n->timeouts += strstr(line, ",timeout,") != NULL;
        n->trials++;
    }
    n->trials--; // the head
    bench_end(&child);
    free(line);
}

// Of the best to the fastest that ships; prints all.
static double least_ratio(const char *db, int session, struct counts *n)
{
    char *id = mem_printf("%d", session);
    cJSON *shown = bench_json((const char *const[]){"show", id, "--json", "--db", db, NULL}), *one;
    double least = INFINITY;
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(shown, "baselines"))
    {
        double ratio = bench_number(one, "ratio");
        if (ratio > 0)
            printf("    %.2f times as fast as '%s'\n", ratio, bench_text(one, "name"));
        else
            printf("    '%s' %s: %s\n", bench_text(one, "name"), bench_text(one, "outcome"),
                   bench_text(one, "reason"));
        if (ratio > 0)
            least = fmin(least, ratio);
    }
    cJSON_Delete(shown);
    count_outcomes(db, id, n);
    free(id);
    return least;
}

// --- the table of a page ---

enum { MOST_SHIPPED = 8 };

struct row {
    char *name[MOST_SHIPPED]; // of what ships
    struct str told[MOST_SHIPPED];
    int count, seeds;
    struct counts n;
    struct str trials; // of each seed
};

static struct str *told_of(struct row *r, const char *name)
{
    int i = 0;
    while (i < r->count && strcmp(r->name[i], name) != 0)
        i++;
    if (i == MOST_SHIPPED)
        bench_fail("more configurations ship than fit a row", NULL);
    if (i == r->count)
        r->name[r->count++] = mem_strdup(name);
    return &r->told[i];
}

static void add_session(struct row *r, const char *db, int session)
{
    char *id = mem_printf("%d", session);
    cJSON *shown = bench_json((const char *const[]){"show", id, "--json", "--db", db, NULL}), *one;
    double before = r->n.trials;
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(shown, "baselines"))
    {
        struct str *told = told_of(r, bench_text(one, "name"));
        double ratio = bench_number(one, "ratio");
        if (ratio > 0)
            str_printf(told, "%s%.2f", told->length ? ", " : "", ratio);
        else if (!told->length)
            str_printf(told, "%s (%s)", bench_text(one, "outcome"), bench_text(one, "reason"));
    }
    count_outcomes(db, id, &r->n);
    str_printf(&r->trials, "%s%g", r->seeds++ ? ", " : "", r->n.trials - before);
    cJSON_Delete(shown);
    free(id);
}

// The line of the page that was written for a problem before; nothing where there is none.
static void keep_row(const struct problem *p, const char *page, struct str *out)
{
    char *begin = mem_printf("\n| %s | ", p->name);
    const char *line = strstr(page, begin);
    if (line)
        str_add_bytes(out, line + 1, strcspn(line + 1, "\n") + 1);
    free(begin);
}

static void add_row(const struct problem *p, const char *db, const char *page, struct str *out)
{
    struct row r = {.count = 0};
    bool done = false;
    for (int seed = 1; seed <= MOST_SEEDS; seed++) {
        char *also;
        const struct kept k = session_of(p, 1, seed, db, &also);
        int id = kept_find(&k, &done);
        free(also);
        if (id && done)
            add_session(&r, db, id);
    }
    if (!r.seeds)
        keep_row(p, page, out);
    else
        str_printf(out, "| %s | %s | %g, %g | ", p->name, str_text(&r.trials), r.n.wrong,
                   r.n.timeouts);
    for (int i = 0; i < r.count; i++) {
        str_printf(out, "%s%s %s", i ? "; " : "", r.name[i], str_text(&r.told[i]));
        str_finish(&r.told[i]);
        free(r.name[i]);
    }
    str_add(out, r.seeds ? " |\n" : "");
    str_finish(&r.trials);
}

// Of what the database holds, whatever its trials; the page's rows of other problems stay. Nothing
// is measured.
static void write_page(const char *page, const char *db)
{
    struct str table = {0};
    struct err e;
    char *before;
    size_t length;
    if (!file_read(page, &before, &length, &e))
        bench_fail(page, &e);
    str_add(&table,
            "| problem | trials of each seed | wrong, timeouts | best of a session, times as "
            "fast as what ships |\n|---|---|---|---|\n");
    for (int i = 0; i < PROBLEMS; i++)
        add_row(&problems[i], db, before, &table);
    figure_doc_fill_one(page, "foreign.md", str_text(&table));
    str_finish(&table);
    free(before);
}

// --- twelve shapes ---

static const char *const shapes[][3] = {
    {"M=64", "N=64", "K=256"},   {"M=128", "N=64", "K=256"},  {"M=64", "N=128", "K=256"},
    {"M=256", "N=64", "K=256"},  {"M=64", "N=256", "K=256"},  {"M=128", "N=128", "K=256"},
    {"M=256", "N=128", "K=256"}, {"M=128", "N=256", "K=256"}, {"M=256", "N=256", "K=256"},
    {"M=512", "N=64", "K=256"},  {"M=64", "N=64", "K=1024"},  {"M=128", "N=128", "K=1024"},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST_CONFIGURATIONS = 3 };

// The same draws on each shape, beside what ships.
static void measure_shapes(const char *folder, const char *trials, const char *db)
{
    for (int i = 0; i < SHAPES; i++)
        kept_run((const char *const[]){"tune",       "ggml-mul-mm", "--json",     "--strategy",
                                       "random",     "--seed",      "1",          "--trials",
                                       trials,       "--db",        db,           "--set",
                                       folder,       "--set",       shapes[i][0], "--set",
                                       shapes[i][1], "--set",       shapes[i][2], NULL});
}

static void tell_portfolio(const char *configurations, const char *db)
{
    const char *words[8 + SHAPES] = {"portfolio", "--json",           "--db",
                                     db,          "--configurations", configurations};
    char id[SHAPES][4];
    for (int i = 0; i < SHAPES; i++) {
        snprintf(id[i], sizeof id[i], "%d", i + 1);
        words[6 + i] = id[i];
    }
    cJSON *told = bench_json(words), *all = cJSON_GetObjectItem(told, "portfolios"), *one, *shape;
    cJSON_ArrayForEach(one, all)
    {
        double worst = 0, least = INFINITY;
        if (bench_number(one, "configurations") != atoi(configurations))
            continue;
        cJSON_ArrayForEach(shape, cJSON_GetObjectItem(one, "shapes"))
        {
            worst = fmax(worst, bench_number(shape, "loss"));
            if (bench_number(shape, "ratio") > 0)
                least = fmin(least, bench_number(shape, "ratio"));
        }
        printf("  %s for %d shapes: %.1f %% more time than each one's own best, the worst shape "
               "%.1f %%; against what ships at least %.2f\n",
               configurations, SHAPES, 100 * bench_number(one, "loss"), 100 * worst, least);
    }
    cJSON_Delete(told);
}

static void search_all_shapes(const char *folder, const char *trials, const char *db)
{
    const char *words[16 + 2 * SHAPES] = {
        "tune",     "ggml-mul-mm", "--json", "--strategy", "random", "--seed", "1",
        "--trials", trials,        "--db",   db,           "--set",  folder};
    char *shape[SHAPES];
    for (int i = 0, at = 13; i < SHAPES; i++) {
        shape[i] = mem_printf("%s,%s,%s", shapes[i][0], shapes[i][1], shapes[i][2]);
        words[at++] = "--shape";
        words[at++] = shape[i];
    }
    kept_run(words);
    for (int i = 0; i < SHAPES; i++)
        free(shape[i]);
}

static void bench_shapes(int trials, const char *db)
{
    char *folder = mem_printf("ggml=%s/ggml", getenv("TILEWALK_FOREIGN"));
    char *count = mem_printf("%d", trials), number[2] = "1";
    measure_shapes(folder, count, db);
    for (; number[0] <= '0' + MOST_CONFIGURATIONS; number[0]++)
        tell_portfolio(number, db);
    printf("  one for all shapes, searched for:\n");
    search_all_shapes(folder, count, db);
    free(folder);
    free(count);
}

int main(int argc, char **argv)
{
    int trials = 200, seeds = 3, only = 0, random = 0;
    const char *kept = NULL, *page = NULL;
    const struct bench_option options[] = {
        {"trials", &trials, 100000}, {"seeds", &seeds, MOST_SEEDS}, {"problem", &only, PROBLEMS},
        {"shapes", &random, 1000},   {"db", NULL, 0, &kept},        {"page", NULL, 0, &page}};
    struct counts n = {0};
    bench_options(argc, argv, options, 6);
    if (!getenv("TILEWALK_FOREIGN"))
        bench_skip("TILEWALK_FOREIGN names no folder with the shaders of ggml and ncnn");
    char *db = kept ? mem_strdup(kept) : mem_printf("%s/foreign.db", tuned_folder());
    if (random)
        bench_shapes(random, db);
    if (page)
        write_page(page, db);
    for (int i = 0; i < PROBLEMS && !random && !page; i++) {
        double ratio[MOST_SEEDS];
        if (only && only != i + 1)
            continue;
        for (int k = 0; k < seeds; k++) {
            printf("  %s, seed %d, %d trials\n", problems[i].name, k + 1, trials);
            ratio[k] = least_ratio(db, make_session(&problems[i], trials, k + 1, db), &n);
            fflush(stdout);
        }
        bench_figure(problems[i].name, median_of(ratio, seeds), "times what ships", AT_LEAST, 1.2);
    }
    if (!random && !page) {
        bench_figure("wrong trials", n.wrong, "", UNDER, 1);
        bench_figure("timeouts", n.trials > 0 ? 100 * n.timeouts / n.trials : 0, "%", UNDER, 5);
    }
    free(db);
    return EXIT_SUCCESS;
}
