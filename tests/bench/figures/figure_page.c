#include "figure_page.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_SESSIONS = 120, MOST_WORDS = MOST_SESSIONS + 16 };

struct view {
    enum figure_view bit;
    const char *suffix, *against;
};
static const struct view views[] = {
    {FIGURE_TRIALS, "", "trials"},
    {FIGURE_TIME, "-time", "time"},
    {FIGURE_SPACE, "-space", "space"},
    {FIGURE_BOXES, "-boxes", "trials"},
};

struct page {
    const struct figure_runs *runs;
    const char *folder;
    struct str text;
    char *id[MOST_SESSIONS]; // of the figure at hand
    int count;
};

static void save(const struct page *p, const char *file, const char *text)
{
    struct err e;
    char *path = path_join(p->folder, file);
    if (!file_write(path, text, strlen(text), &e))
        bench_fail(path, &e);
    free(path);
}

// --- compare ---

struct words {
    const char *word[MOST_WORDS + 1];
    int count;
};

static void add_word(struct words *w, const char *word)
{
    w->word[w->count++] = word;
}

static struct words begin_words(const struct page *p, const struct view *v)
{
    struct words w = {.word = {"compare"}, .count = 1};
    for (int i = 0; i < p->count; i++)
        add_word(&w, p->id[i]);
    add_word(&w, "--db");
    add_word(&w, p->runs->db);
    add_word(&w, "--against");
    add_word(&w, v->against);
    return w;
}

static struct str printed(const struct words *w)
{
    struct bench_child child;
    struct str out = {0};
    char bytes[4096];
    bench_start(&child, w->word);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, child.out)) > 0;)
        str_add_bytes(&out, bytes, n);
    bench_end(&child);
    return out;
}

static void draw(const struct page *p, const struct figure_family *f, const struct view *v,
                 const char *name)
{
    for (int i = 0; i < 2; i++) {
        char *path = mem_printf("%s/%s%s%s", p->folder, name, v->suffix, i ? ".png" : ".svg");
        struct words w = begin_words(p, v);
        add_word(&w, "--plot");
        add_word(&w, path);
        if (f->views & FIGURE_COST)
            add_word(&w, "--cost");
        if (v->bit == FIGURE_BOXES)
            add_word(&w, "--boxes");
        struct str out = printed(&w);
        str_finish(&out);
        free(path);
    }
}

static struct str table(const struct page *p, const struct view *v, const char *name,
                        const char *form)
{
    struct words w = begin_words(p, v);
    add_word(&w, str_equal(form, "md") ? "--markdown" : "--csv");
    struct str out = printed(&w);
    char *file = mem_printf("%s%s.%s", name, v->suffix, form);
    save(p, file, str_text(&out));
    free(file);
    return out;
}

// --- a figure ---

static void take_sessions(struct page *p, const struct figure_family *f,
                          const struct figure_problem *problem)
{
    p->count = 0;
    for (int i = 0; i < p->runs->count; i++) {
        const struct figure_run *r = &p->runs->run[i];
        if (r->family == f && r->problem == problem && r->done && p->count < MOST_SESSIONS)
            p->id[p->count++] = mem_printf("%d", (int)r->session);
    }
}

static void add_figure(struct page *p, const struct figure_family *f,
                       const struct figure_problem *problem)
{
    char *name = figure_name(f, problem);
    take_sessions(p, f, problem);
    if (p->count)
        str_printf(&p->text, "\n### %s\n", name);
    for (size_t k = 0; p->count && k < sizeof views / sizeof *views; k++) {
        const struct view *v = &views[k];
        if (!(f->views & v->bit))
            continue;
        draw(p, f, v, name);
        str_printf(&p->text, "\n![%s](%s%s.svg)\n", name, name, v->suffix);
        if (v->bit == FIGURE_BOXES)
            continue; // of the same numbers
        struct str csv = table(p, v, name, "csv"), markdown = table(p, v, name, "md");
        str_printf(&p->text, "\n%s", str_text(&markdown));
        str_finish(&markdown);
        str_finish(&csv);
    }
    if (p->count)
        str_add(&p->text, "\n`tilewalk compare");
    for (int i = 0; i < p->count; i++) {
        str_printf(&p->text, " %s", p->id[i]);
        free(p->id[i]);
    }
    str_add(&p->text, p->count ? "`\n" : "");
    free(name);
}

// --- the page ---

static void add_devices(struct page *p)
{
    cJSON *all = bench_json((const char *const[]){"devices", "--json", NULL});
    int chosen = (int)bench_number(all, "default");
    const cJSON *d;
    cJSON_ArrayForEach(d, cJSON_GetObjectItem(all, "devices"))
    {
        if ((int)bench_number(d, "index") == chosen)
            str_printf(&p->text, "Device: %s, %s. ", bench_text(d, "name"),
                       bench_text(d, "driver"));
    }
    cJSON_Delete(all);
}

static void add_head(struct page *p, const char *command)
{
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    str_printf(&p->text, "# Figures\n\n`%s`, %s. ", command, date);
    add_devices(p);
    str_printf(
        &p->text,
        "%s\n\nShares are per cent of the best known in each table; every session is in "
        "`%s`: `tilewalk --db FILE` opens it.\n",
        p->runs->size.full
            ? "All trials are of the device."
            : "Trials of small operators are those that were recorded (README.md there); all "
              "others are of a machine that is made up, `--source synthetic:machine`.",
        path_name(p->runs->db));
}

static void add_family(struct page *p, const struct figure_family *f)
{
    bool first = true;
    for (int i = 0; i < f->problems; i++) {
        if (!figure_is_wanted(f, &f->problem[i], &p->runs->size))
            continue;
        if (first)
            str_printf(&p->text, "\n## %s\n\nSeeds 1 to %d. The paper: %s", f->title,
                       figure_seeds(f, &p->runs->size), f->paper);
        first = false;
        add_figure(p, f, &f->problem[i]);
    }
}

void figure_page_write(const struct figure_runs *r, const char *folder, const char *command)
{
    struct page p = {.runs = r, .folder = folder};
    add_head(&p, command);
    for (int k = 0; k < figure_family_count; k++)
        add_family(&p, &figure_families[k]);
    save(&p, "figures.md", str_text(&p.text));
    str_finish(&p.text);
}
