// Reads files with lines that ggml's Vulkan backend prints where GGML_VK_PERF_LOGGER is set, among
// other text. Its versions print:
//
//     MUL_MAT m=4096 n=512 k=11008: 31 x 15690.5 ms
//     MUL_MAT_VEC m=11008 k=4096: 2 x 200.069 ms
//     MUL_MAT_VEC f16 m=256 n=1 k=256 batch=16: 64 x 13.356 us
//     MUL_MAT_ADD MUL_MAT_VEC q8_0 m=2048 n=1 k=4096: 14 x 45.8 us = 641.2 us (365.7 GFLOPS/s)
//     MUL_MAT_ID_VEC q4_K m=512 n=8 k=2048 n_expert=256: 80 x 27.3 us
//     MUL_MAT_VEC q4_K m=32 n=1 k=2048, MUL_MAT_VEC q4_K m=32 n=1 k=2048: 32 x 4.1 us
//
// A weight has m rows of k; n columns are multiplied with it, of each matrix of a batch. Of
// experts, n are used for each of `batch` tokens. Operations that run together have one time.
#include "base/file.h"
#include "base/number.h"
#include "import/import.h"
#include "script/network.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char product_word[] = "MUL_MAT";
#define MOST_SECONDS 1e12
enum { MOST_WORD = 32, MOST_TOGETHER = 64 };
// The most products of a network file: each is a space, and all have to be read within its time.
enum { MOST_PRODUCTS = 256 };

struct product {
    char type[MOST_WORD];            // "" where the log has none
    int64_t m, n, k, batch, experts; // experts 0: none
    double uses, seconds;            // seconds of all
    int place;                       // in the log
};

struct log {
    const char *path;
    int line;
    struct product *product;
    int count, capacity;
    int added;       // products so far
    int merge_at;    // the count at which those that are alike become one
    double others_s; // of other operations
    struct err *err;
};

// --- a line ---

// Returns the end of the name in "NAME: COUNT x TIME us"; NULL: no such line.
static const char *find_timing(const char *line, double *count, double *seconds)
{
    for (const char *at = strstr(line, ": "); at; at = strstr(at + 1, ": ")) {
        char number[MOST_WORD], time[MOST_WORD], unit[3];
        if (sscanf(at + 2, "%31[0-9] x %31[0-9.eE+-] %2[um]s", number, time, unit) != 3 ||
            strlen(unit) != 1 || !str_to_real(number, count) || !str_to_real(time, seconds))
            continue;
        *seconds *= *count * (*unit == 'u' ? 1e-6 : 1e-3);
        return at;
    }
    return NULL;
}

// Reads the size of NAME=SIZE. False: it is no size; other words are left alone.
static bool take_size(const char *word, const char *name, int64_t *out)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) != 0 || word[length] != '=' ||
           str_to_int(word + length + 1, 1, INT32_MAX, out);
}

// Reads an operation, which begins with its last MUL_MAT word. False: it is no product.
static bool read_product(char *words, struct product *p)
{
    bool of_experts = false, begun = false;
    *p = (struct product){.n = 1, .batch = 1};
    for (char *rest, *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (str_starts(word, product_word)) {
            begun = true;
            of_experts = str_starts(word, "MUL_MAT_ID");
            continue;
        }
        if (!begun)
            continue;
        if (!p->m && !strchr(word, '=')) {
            int i = 0;
            for (; word[i] && i < MOST_WORD - 1; i++)
                p->type[i] = words_plain(word[i]);
            p->type[i] = '\0';
        } else if (!take_size(word, "m", &p->m) || !take_size(word, "n", &p->n) ||
                   !take_size(word, "k", &p->k) || !take_size(word, "batch", &p->batch) ||
                   !take_size(word, "n_expert", &p->experts))
            return false;
    }
    if (!of_experts)
        p->experts = 0;
    else if (!p->experts)
        p->experts = p->n; // older logs do not have their number
    return p->m && p->k;
}

// Orders by what is multiplied.
static int by_kind(const void *a, const void *b)
{
    const struct product *x = a, *y = b;
    const int64_t difference[] = {x->m - y->m, x->n - y->n, x->k - y->k, x->batch - y->batch,
                                  x->experts - y->experts};
    for (size_t i = 0; i < sizeof difference / sizeof *difference; i++)
        if (difference[i])
            return difference[i] < 0 ? -1 : 1;
    return strcmp(x->type, y->type);
}

static int by_kind_and_place(const void *a, const void *b)
{
    const struct product *x = a, *y = b;
    int order = by_kind(a, b);
    return order ? order : x->place - y->place;
}

// Makes one of products that are alike, in the order of their times in the log.
static void merge_products(struct log *l)
{
    int kept = 0;
    if (l->count)
        qsort(l->product, (size_t)l->count, sizeof *l->product, by_kind_and_place);
    for (int i = 0; i < l->count; i++)
        if (kept && by_kind(&l->product[kept - 1], &l->product[i]) == 0) {
            l->product[kept - 1].uses += l->product[i].uses;
            l->product[kept - 1].seconds += l->product[i].seconds;
        } else {
            l->product[kept++] = l->product[i];
        }
    l->count = kept;
    l->merge_at = 2 * kept + MOST_PRODUCTS;
}

static void add_product(struct log *l, const struct product *p)
{
    if (l->count >= l->merge_at)
        merge_products(l);
    MEM_GROW(l->product, l->count, l->capacity);
    l->product[l->count] = *p;
    l->product[l->count++].place = l->added++;
}

static double work_of(const struct product *p)
{
    return (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
}

static bool wrong(const struct log *l)
{
    return err_at(l->err, l->path, l->line,
                  "expected a line as GGML_VK_PERF_LOGGER prints it: MUL_MAT q4_K m=4096 n=1 "
                  "k=4096: 32 x 63.5 us");
}

static bool read_line(struct log *l, char *line)
{
    struct product p[MOST_TOGETHER];
    double uses, seconds;
    int count = 0;
    char *begin = strstr(line, product_word);
    const char *end = find_timing(line, &uses, &seconds);
    if (!end || (begin && begin > end)) // other text, unless it has sizes
        return !begin || !strstr(begin, " m=") || wrong(l);
    if (!begin) {
        l->others_s += seconds;
        return true;
    }
    line[end - line] = '\0';
    for (char *rest, *one = strtok_r(begin, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        if (!strstr(one, product_word)) // attention, a norm, ...
            continue;
        if (count == MOST_TOGETHER || !read_product(one, &p[count++]))
            return wrong(l);
    }
    if (!(uses >= 1 && uses <= NETWORK_MAX_USES && seconds >= 0 && seconds <= MOST_SECONDS))
        return wrong(l);
    // Products that ran together share the time by their work.
    double work = 0;
    for (int i = 0; i < count; i++)
        work += work_of(&p[i]);
    for (int i = 0; i < count; i++) {
        p[i].uses = uses;
        p[i].seconds = seconds * work_of(&p[i]) / work;
        add_product(l, &p[i]);
    }
    return true;
}

static bool read_lines(struct log *l, char *text)
{
    const char *text_end =
        text + strlen(text); // so that each line is read once, under sanitizers too
    for (char *line = text; line;) {
        char *end = memchr(line, '\n', (size_t)(text_end - line));
        if (end)
            *end = '\0';
        l->line++;
        if (!read_line(l, line))
            return false;
        line = end ? end + 1 : NULL;
    }
    merge_products(l);
    return l->count > 0 || err_set(l->err, "%s: no line of it tells of a product", l->path);
}

// --- the network file ---

static int by_time(const void *a, const void *b)
{
    const struct product *x = a, *y = b;
    int slower = (x->seconds < y->seconds) - (x->seconds > y->seconds);
    return slower ? slower : x->place - y->place;
}

// Adds the row of a product in the network file. Experts are as many products as experts are used,
// each with its share of the rows.
static void add_row(struct str *s, const struct product *p)
{
    int64_t rows = p->n, matrices = p->batch;
    double uses = p->uses;
    if (p->experts) {
        int64_t all = p->n * p->batch, busy = all < p->experts ? all : p->experts;
        rows = (all + busy - 1) / busy;
        matrices = 1;
        uses *= (double)busy;
    }
    uses = fmin(uses, NETWORK_MAX_USES);
    str_printf(s, "  { \"%s.m%" PRId64 ".n%" PRId64 ".k%" PRId64, *p->type ? p->type : "unknown",
               p->m, p->n, p->k);
    if (p->batch > 1)
        str_printf(s, ".batch%" PRId64, p->batch);
    if (p->experts)
        str_printf(s, ".experts%" PRId64, p->experts);
    str_printf(s, "\", \"%s\", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %.0f, ",
               words_element(p->type), rows, p->m, p->k, matrices, uses);
    str_add_real(s, round(p->seconds / uses * 1e12) / 1e12);
    str_add(s, " },\n");
}

static const char code[] =
    "for _, p in ipairs(products) do\n"
    "  layer {\n"
    "    name = p[1], preset = \"gemm\", uses = p[7], seconds = p[8],\n"
    "    set = { N = p[3], M = p[4], K = p[5], batch = p[6], type = p[2], layout = \"nt\" },\n"
    "  }\n"
    "end\n";

static bool import(const struct import_request *q, struct imported *out, struct err *e)
{
    struct log l = {.path = q->path, .err = e};
    char *text;
    size_t length;
    if (q->set_count)
        return err_usage(e, "--set %s=%s: of a log nothing can be set", q->set->name,
                         q->set->value);
    if (!file_read(q->path, &text, &length, e))
        return false;
    bool ok = read_lines(&l, text);
    if (ok) {
        struct str *s = &out->text;
        double seconds = 0, uses = 0;
        qsort(l.product, (size_t)l.count, sizeof *l.product, by_time);
        double rest_s = 0;
        int rest = int_max(l.count - MOST_PRODUCTS, 0);
        for (int i = 0; i < l.count; i++) {
            seconds += l.product[i].seconds;
            uses += l.product[i].uses;
            rest_s += i < MOST_PRODUCTS ? 0 : l.product[i].seconds;
        }
        l.count -= rest;
        out->about =
            arena_printf(&out->arena, "%.0f products that took %.4g ms", uses, seconds * 1e3);
        if (l.others_s > 0)
            import_note(out, "what is no product of matrices: %.4g ms, %.3g %% of the log's time",
                        l.others_s * 1e3, 100 * l.others_s / (l.others_s + seconds));
        if (rest)
            import_note(out, "the %d products that took least: %.4g ms, %.3g %% of all products",
                        rest, rest_s * 1e3, seconds > 0 ? 100 * rest_s / seconds : 0);
        str_printf(s, "network \"%s, as a program's log tells\"\n", out->about);
        str_add(
            s,
            "-- Written by `tilewalk import` from lines of GGML_VK_PERF_LOGGER, the dearest "
            "first.\n"
            "-- NOT the types of the log: no preset takes quantised weights. They are tuned as f16 "
            "here; the names\n"
            "-- say the true type.\n\n"
            "local products = { -- name, type here, rows, outputs, inputs, matrices, how often, "
            "seconds of each\n");
        for (int i = 0; i < l.count; i++)
            add_row(s, &l.product[i]);
        str_printf(s, "}\n\n%s", code);
    }
    free(l.product);
    free(text);
    return ok;
}

static bool is_log(const char *begin, size_t length)
{
    const char *at = begin + strspn(begin, " \t\r\n");
    if (*at == '{' || *at == '[' || strlen(begin) != length)
        return false;
    for (at = strstr(at, product_word); at; at = strstr(at + 1, product_word)) {
        size_t line = strcspn(at, "\n");
        const char *size = strstr(at, " m=");
        if (size && (size_t)(size - at) < line)
            return true;
    }
    return false;
}

const struct import_format import_perf_log = {"GGML_VK_PERF_LOGGER", is_log, import};
