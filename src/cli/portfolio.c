// portfolio: few configurations for the shapes that sessions were tuned on, and the rule that
// chooses among them.
#include "report/portfolio.h"

#include "base/json_read.h"
#include "cli/common.h"
#include "cli/confine.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIALS = 1000, MOST_AXES = 16 };

struct shape {
    struct session_record session;
    struct ranked_trials trials;
    const struct baseline_record *baseline; // the fastest; NULL: none ran
};

struct shapes {
    struct arena arena;
    struct portfolio_problem problem;
    struct shape *shape;
    const char *axis[MOST_AXES]; // names of the sizes in which the shapes differ
    const char **config;         // JSON of the candidates
    double *seconds, *size, *weight;
    double best_s; // weighted time of all, each with its own best
};

// --- reading ---

static bool read_shape(struct shapes *b, struct store *store, const char *operand, struct shape *s,
                       struct err *e)
{
    struct baselines baselines;
    int64_t id;
    if (!common_session_id(operand, &id, e) ||
        !store_get_session(store, id, &b->arena, &s->session, e) ||
        !store_best_trials(store, id, MOST_TRIALS, &b->arena, &s->trials, e) ||
        !store_get_baselines(store, id, &b->arena, &baselines, e))
        return false;
    const struct session_record *first = &b->shape[0].session;
    if (!common_alike(first, &s->session, FACT_SPACE | FACT_FILES | FACT_DEVICE | FACT_DRIVER,
                      "have no portfolio", e))
        return false;
    // Shapes may be of several recordings.
    if (strncmp(first->source, s->session.source, strcspn(first->source, ":") + 1) != 0)
        return err_set(e,
                       "sessions %" PRId64 " and %" PRId64
                       " have no portfolio: they have different sources",
                       first->id, id);
    if (!s->trials.count)
        return err_set(e, "session %" PRId64 " has no valid trial", id);
    s->baseline = baselines_fastest(&baselines);
    return true;
}

static double size_of(const struct session_record *r, const char *name)
{
    struct json root;
    double value = 0;
    if (json_parse(r->operation, &root))
        json_number(json_member(root, name), &value);
    return value;
}

static void find_sizes(struct shapes *b)
{
    struct portfolio_problem *p = &b->problem;
    struct json root;
    json_parse(b->shape[0].session.operation, &root);
    for (struct json_walk w = json_walk(root); json_next(&w) && p->axes < MOST_AXES;) {
        const char *name = json_text_exact(w.key, &b->arena);
        double first = size_of(&b->shape[0].session, name);
        bool differs = false;
        for (int i = 1; i < p->shapes; i++) {
            double size = size_of(&b->shape[i].session, name);
            differs |= size < first || size > first;
        }
        if (json_type(w.value) == JSON_NUMBER && differs)
            b->axis[p->axes++] = name;
    }
    b->size = arena_zero(&b->arena, (size_t)(p->shapes * p->axes) + 1, sizeof *b->size);
    for (int i = 0; i < p->shapes * p->axes; i++)
        b->size[i] = size_of(&b->shape[i / p->axes].session, b->axis[i % p->axes]);
    p->size = b->size;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Lists the configurations of all sessions, each once, in order.
static void find_candidates(struct shapes *b)
{
    struct portfolio_problem *p = &b->problem;
    int all = 0;
    for (int i = 0; i < p->shapes; i++)
        all += b->shape[i].trials.count;
    b->config = arena_zero(&b->arena, (size_t)all, sizeof *b->config);
    all = 0;
    for (int i = 0; i < p->shapes; i++)
        for (int k = 0; k < b->shape[i].trials.count; k++)
            b->config[all++] = b->shape[i].trials.trial[k].config;
    qsort(b->config, (size_t)all, sizeof *b->config, compare_texts);
    for (int i = 0; i < all; i++)
        if (i == 0 || strcmp(b->config[i], b->config[p->candidates - 1]) != 0)
            b->config[p->candidates++] = b->config[i];
}

static bool read_weights(struct shapes *b, const struct arguments *a, struct err *e)
{
    const char *given[PORTFOLIO_MOST_SHAPES];
    int count = arguments_list(a, "weight", given, PORTFOLIO_MOST_SHAPES);
    b->weight = arena_zero(&b->arena, (size_t)b->problem.shapes, sizeof *b->weight);
    b->problem.weight = b->weight;
    for (int i = 0; i < b->problem.shapes; i++)
        b->weight[i] = 1;
    for (int k = 0; k < count; k++) {
        const char *value = strchr(given[k], '=') + 1;
        int64_t id = strtoll(given[k], NULL, 10), found = -1;
        for (int i = 0; i < b->problem.shapes; i++)
            if (b->shape[i].session.id == id)
                found = i;
        if (found < 0)
            return err_usage(e, "--weight %s: there is no such session among these", given[k]);
        if (!str_to_real(value, &b->weight[found]) || b->weight[found] <= 0)
            return err_usage(e, "--weight %s: a weight is a number above 0", given[k]);
    }
    return true;
}

static bool read_shapes(struct shapes *b, const struct arguments *a, struct err *e)
{
    struct portfolio_problem *p = &b->problem;
    p->by_worst = str_equal(arguments_text(a, "by"), "worst");
    if (a->operand_count > PORTFOLIO_MOST_SHAPES)
        return err_usage(e, "a portfolio takes at most %d sessions", PORTFOLIO_MOST_SHAPES);
    struct store *store = common_open(a, STORE_READ, e);
    b->shape = arena_zero(&b->arena, (size_t)a->operand_count, sizeof *b->shape);
    bool ok = store != NULL;
    for (; ok && p->shapes < a->operand_count; p->shapes++)
        ok = read_shape(b, store, a->operand[p->shapes], &b->shape[p->shapes], e);
    store_close(store);
    if (!ok || !read_weights(b, a, e))
        return false;
    find_sizes(b);
    find_candidates(b);
    size_t cells = (size_t)p->shapes * (size_t)p->candidates;
    b->seconds = arena_zero(&b->arena, cells, sizeof *b->seconds);
    for (int i = 0; i < p->shapes; i++)
        for (int k = 0; k < b->shape[i].trials.count; k++) {
            const struct trial_record *t = &b->shape[i].trials.trial[k];
            const char *const *at = bsearch(&t->config, b->config, (size_t)p->candidates,
                                            sizeof *b->config, compare_texts);
            b->seconds[i * p->candidates + (at - b->config)] = t->seconds;
        }
    p->seconds = b->seconds;
    for (int i = 0; i < p->shapes; i++)
        b->best_s += b->weight[i] * portfolio_best(p, i);
    return true;
}

// --- results ---

static double time_of(const struct shapes *b, const struct portfolio *f, int shape)
{
    return b->seconds[shape * b->problem.candidates + f->candidate[shape]];
}

static double ratio_of(const struct shapes *b, const struct portfolio *f, int shape)
{
    return time_of(b, f, shape) / portfolio_best(&b->problem, shape);
}

static int worst_of(const struct shapes *b, const struct portfolio *f)
{
    int worst = 0;
    for (int i = 1; i < b->problem.shapes; i++)
        if (ratio_of(b, f, i) > ratio_of(b, f, worst))
            worst = i;
    return worst;
}

static double sum_of(const struct shapes *b, const struct portfolio *f)
{
    double all = 0;
    for (int i = 0; i < b->problem.shapes; i++)
        all += b->weight[i] * time_of(b, f, i);
    return all;
}

static void add_rule(struct json_writer *w, const struct shapes *b, const struct portfolio *f,
                     int at, const char *name)
{
    const struct portfolio_node *n = &f->node[at];
    json_begin_object(w, name);
    if (n->axis < 0) {
        json_add_raw(w, "config", b->config[n->candidate]);
    } else {
        json_add_text(w, "size", b->axis[n->axis]);
        json_add_real(w, "most", n->most);
        add_rule(w, b, f, n->below, "then");
        add_rule(w, b, f, n->above, "else");
    }
    json_end(w);
}

static void portfolio_add_json(struct json_writer *w, const struct shapes *b,
                               const struct portfolio *f)
{
    json_begin_object(w, NULL);
    json_add_int(w, "configurations", (f->nodes + 1) / 2);
    json_add_real(w, "ms", sum_of(b, f) * 1e3);
    json_add_real(w, "loss", sum_of(b, f) / b->best_s - 1);
    json_add_int(w, "worst", b->shape[worst_of(b, f)].session.id);
    add_rule(w, b, f, 0, "rule");
    json_begin_list(w, "shapes");
    for (int i = 0; i < b->problem.shapes; i++) {
        const struct shape *s = &b->shape[i];
        json_begin_object(w, NULL);
        json_add_int(w, "session", s->session.id);
        json_add_text(w, "title", s->session.title);
        json_add_real(w, "weight", b->weight[i]);
        json_add_raw(w, "config", b->config[f->candidate[i]]);
        json_add_real(w, "ms", time_of(b, f, i) * 1e3);
        json_add_real(w, "best_ms", portfolio_best(&b->problem, i) * 1e3);
        json_add_real(w, "loss", ratio_of(b, f, i) - 1);
        json_add_text(w, "baseline", s->baseline ? s->baseline->name : NULL);
        struct paired p = speed_paired(&s->session, s->baseline, time_of(b, f, i));
        speed_add_ratio_json(&p, w);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void print_rule(const struct shapes *b, const struct portfolio *f, int at, int depth)
{
    const struct portfolio_node *n = &f->node[at];
    struct str text = {0};
    if (n->axis < 0) {
        printf("%*s%s\n", 2 * depth, "", text_config(b->config[n->candidate], &text));
    } else {
        printf("%*s%s at most %.10g\n", 2 * depth, "", b->axis[n->axis], n->most);
        print_rule(b, f, n->below, depth + 1);
        printf("%*selse\n", 2 * depth, "");
        print_rule(b, f, n->above, depth + 1);
    }
    str_finish(&text);
}

static bool portfolio_report(const struct shapes *b, const struct arguments *a, struct err *e)
{
    bool is_json = arguments_flag(a, "json"), any = false;
    int most = (int)arguments_integer(a, "configurations", 3), before = 0;
    struct portfolio found, last;
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_begin_list(&w, "portfolios");
    for (int k = 1; k <= most; k++) {
        if (!portfolio_find(&b->problem, k, &found) || found.nodes == before)
            continue;
        before = found.nodes;
        last = found;
        any = true;
        if (is_json)
            portfolio_add_json(&w, b, &found);
        else {
            int count = (found.nodes + 1) / 2, worst = worst_of(b, &found);
            printf("%d configuration%s: %.4g ms in all, %.1f %% more than the best of each; worst: "
                   "#%" PRId64 " %s, %.1f %%\n",
                   count, count == 1 ? "" : "s", sum_of(b, &found) * 1e3,
                   100 * (sum_of(b, &found) / b->best_s - 1), b->shape[worst].session.id,
                   b->shape[worst].session.title, 100 * (ratio_of(b, &found, worst) - 1));
            print_rule(b, &found, 0, 1);
        }
    }
    if (any && !is_json) {
        printf("\n%6s  %10s  %10s  %7s  %s\n", "", "ms", "best", "more", "");
        for (int i = 0; i < b->problem.shapes; i++) {
            const struct shape *s = &b->shape[i];
            printf("%-6" PRId64 "  %10.4g  %10.4g  %5.1f %%  %s", s->session.id,
                   time_of(b, &last, i) * 1e3, portfolio_best(&b->problem, i) * 1e3,
                   100 * (ratio_of(b, &last, i) - 1), s->session.title);
            struct paired p = speed_paired(&s->session, s->baseline, time_of(b, &last, i));
            struct str ratio = {0};
            speed_add_ratio(&s->session, &p, &ratio);
            if (s->baseline)
                printf("  against '%s': %s", s->baseline->name, str_text(&ratio));
            printf("\n");
            str_finish(&ratio);
        }
    }
    if (any && is_json)
        json_print(&w);
    str_finish(&out);
    return any || err_set(e,
                          "no %d configurations together were measured on all of these shapes "
                          "(tune each with the others' best: --warm-start ID,ID)",
                          most);
}

static int run_portfolio(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct shapes b = {.problem = {.shapes = 0}};
    (void)self;
    confine_stored(a);
    arena_init(&b.arena);
    bool ok = read_shapes(&b, a, &e) && portfolio_report(&b, a, &e);
    arena_finish(&b.arena);
    return common_exit(ok, &e);
}

static const struct option options[] = {
    {"configurations", OPTION_INTEGER, "K", "find portfolios of 1 to K configurations (default: 3)",
     1, PORTFOLIO_MOST},
    {"by", OPTION_WORD, "time|worst",
     "objective over shapes: weighted total time (default), or worst case"},
    {"weight", OPTION_LIST, "ID=W",
     "weight of a session's shape: how often it runs (default: 1); may be repeated"},
    OPTION_JSON,
    OPTION_DB,
    OPTION_END,
};

const struct command cmd_portfolio = {
    .name = "portfolio",
    .operands = "ID...",
    .help = "find few configurations for the shapes that sessions of one space were tuned on, the "
            "rule that chooses among them, and the speed that they lose",
    .least = 1,
    .most = INT_MAX,
    .options = options,
    .run = run_portfolio,
};
