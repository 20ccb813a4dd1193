#include "figure_page.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "bench.h"
#include "figure_random.h"
#include "figure_tables.h"

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
    char *made;   // by what command, and when
    char *device; // with --full
    struct str text;
    struct figure_table table; // of the family at hand
    char *id[MOST_SESSIONS];   // of the figure at hand
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
        char *path = mem_printf("%s/%s%s", p->folder, name, i ? ".png" : ".svg");
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

// What compare prints, in a form of its own.
static struct str compared(const struct page *p, const struct view *v, const char *form)
{
    struct words w = begin_words(p, v);
    add_word(&w, form);
    return printed(&w);
}

// --- what tables are of ---

static const char *where_text(const struct page *p, const struct figure_problem *problem,
                              char out[160])
{
    const struct figure_driver *d = figure_drivers;
    if (p->runs->size.full)
        return p->device;
    if (!problem->landscape)
        return "a synthetic device (`--source synthetic:machine`)";
    while (!str_starts(problem->landscape, d->folder))
        d++;
    snprintf(out, 160, "%s, %s, as recorded on %s", d->device, d->driver, d->date);
    return out;
}

// Of one problem, or of all that are wanted.
static char *caption(const struct page *p, const struct figure_family *f,
                     const struct figure_problem *problem)
{
    char text[160], last[160] = "";
    struct str out = {0};
    str_printf(&out, "%s; seeds 1 to %d; trials of", p->made, figure_seeds(f, &p->runs->size));
    for (int i = 0; i < f->problems; i++) {
        const struct figure_problem *each = &f->problem[i];
        const char *where = where_text(p, each, text);
        if ((problem && problem != each) || !figure_is_wanted(f, each, &p->runs->size) ||
            str_equal(where, last))
            continue;
        str_printf(&out, "%s %s", last[0] ? ", and of" : "", where);
        snprintf(last, sizeof last, "%s", where);
    }
    char *whole = mem_strdup(str_text(&out));
    str_finish(&out);
    return whole;
}

// NAME.md and NAME.csv. Programs skip the line of CSV that begins with #.
static void save_table(const struct page *p, const char *name, const char *caption,
                       const char *markdown, const char *csv)
{
    char *file[2] = {mem_printf("%s.md", name), mem_printf("%s.csv", name)};
    char *text[2] = {mem_printf("%s\n(%s)\n", markdown, caption),
                     mem_printf("# %s\n%s", caption, csv)};
    for (int i = 0; i < 2; i++) {
        save(p, file[i], text[i]);
        free(file[i]);
        free(text[i]);
    }
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

static void add_view(struct page *p, const struct figure_family *f,
                     const struct figure_problem *problem, const struct view *v)
{
    char *figure = figure_name(f, problem), *name = mem_printf("%s%s", figure, v->suffix);
    draw(p, f, v, name);
    str_printf(&p->text, "\n![%s](%s.svg)\n", name, name);
    if (v->bit != FIGURE_BOXES) { // they are of the same numbers
        struct str csv = compared(p, v, "--csv"), markdown = compared(p, v, "--markdown"),
                   json = compared(p, v, "--json");
        cJSON *values = cJSON_Parse(str_text(&json));
        char *words = caption(p, f, problem);
        figure_table_take(&p->table, problem, v->bit, values, str_text(&markdown));
        save_table(p, name, words, str_text(&markdown), str_text(&csv));
        str_printf(&p->text, "\n%s", str_text(&markdown));
        cJSON_Delete(values);
        free(words);
        str_finish(&json);
        str_finish(&markdown);
        str_finish(&csv);
    }
    free(name);
    free(figure);
}

static void add_figure(struct page *p, const struct figure_family *f,
                       const struct figure_problem *problem)
{
    take_sessions(p, f, problem);
    if (!p->count)
        return;
    char *name = figure_name(f, problem);
    str_printf(&p->text, "\n### %s\n", name);
    for (size_t k = 0; k < sizeof views / sizeof *views; k++)
        if (f->views & views[k].bit)
            add_view(p, f, problem, &views[k]);
    str_add(&p->text, "\n`tilewalk compare");
    for (int i = 0; i < p->count; i++) {
        str_printf(&p->text, " %s", p->id[i]);
        free(p->id[i]);
    }
    str_add(&p->text, "`\n");
    free(name);
}

// --- a family ---

static bool wants_any(const struct figure_runs *r, const struct figure_family *f)
{
    for (int i = 0; i < f->problems; i++)
        if (figure_is_wanted(f, &f->problem[i], &r->size))
            return true;
    return false;
}

static void add_table(struct page *p, const struct figure_family *f)
{
    struct str markdown = {0}, csv = {0};
    char *words = caption(p, f, NULL);
    figure_table_add_markdown(&p->table, &markdown);
    figure_table_add_csv(&p->table, &csv);
    save_table(p, f->name, words, str_text(&markdown), str_text(&csv));
    str_add(&p->text, str_text(&markdown));
    free(words);
    str_finish(&csv);
    str_finish(&markdown);
}

static void add_family(struct page *p, const struct figure_family *f)
{
    if (!wants_any(p->runs, f))
        return;
    char *words = caption(p, f, NULL);
    str_printf(&p->text, "\n## %s\n\n(%s)\n\nThe paper: %s", f->title, words, f->paper);
    free(words);
    figure_table_begin(&p->table, p->runs, f);
    for (int i = 0; i < f->problems; i++)
        if (figure_is_wanted(f, &f->problem[i], &p->runs->size))
            add_figure(p, f, &f->problem[i]);
    add_table(p, f);
    figure_table_end(&p->table);
}

static void add_random(struct page *p)
{
    struct str markdown = {0}, csv = {0};
    char *words = mem_printf("%s; means of %d searches", p->made, FIGURE_RANDOM_REPEATS);
    figure_random_add(&markdown, &csv);
    save_table(p, "random", words, str_text(&markdown), str_text(&csv));
    str_printf(&p->text, "\n## Random search and its closed form\n%s", str_text(&markdown));
    free(words);
    str_finish(&csv);
    str_finish(&markdown);
}

// --- the page ---

static char *made_text(const char *command)
{
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    return mem_printf("`%s`, %s", command, date);
}

static char *device_text(void)
{
    cJSON *all = bench_json((const char *const[]){"devices", "--json", NULL});
    int chosen = (int)bench_number(all, "default");
    char *text = mem_strdup("no device");
    const cJSON *d;
    cJSON_ArrayForEach(d, cJSON_GetObjectItem(all, "devices"))
    {
        if ((int)bench_number(d, "index") != chosen)
            continue;
        free(text);
        text = mem_printf("%s, %s", bench_text(d, "name"), bench_text(d, "driver"));
    }
    cJSON_Delete(all);
    return text;
}

void figure_page_write(const struct figure_runs *r, const char *folder, const char *command)
{
    struct page p = {
        .runs = r, .folder = folder, .made = made_text(command), .device = device_text()};
    str_printf(&p.text,
               "# Figures\n\n%s. Shares are per cent of the best known in each table; every "
               "session is in `%s`: `tilewalk --db FILE` opens it.\n",
               p.made, path_name(r->db));
    for (int k = 0; k < figure_family_count; k++)
        add_family(&p, &figure_families[k]);
    if (!r->size.full)
        add_random(&p);
    save(&p, "figures.md", str_text(&p.text));
    str_finish(&p.text);
    free(p.device);
    free(p.made);
}
