#include "cli/portability.h"

#include "cli/common.h"
#include "engine/stored.h"
#include "export/reverify.h"
#include "report/compare_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct cell {
    enum outcome outcome;
    double seconds;                 // 0 unless ok
    double share;                   // of the column's own best; NAN: unknown
    char reason[TRIAL_REASON_SIZE]; // unless ok
};

struct row {
    struct session_record session;
    struct trial_record best;
    int column;        // of its own device
    struct cell *cell; // [columns]
};

struct portability {
    struct row *row;
    int rows;
    const struct session_record **column; // the first session on each device
    int columns;
    struct arena arena;
};

// --- output ---

static double tflops_of(const struct portability *p, const struct cell *c)
{
    return c->outcome == OUTCOME_OK ? p->row[0].session.flop / c->seconds / 1e12 : NAN;
}

static char letter_of(int column)
{
    return (char)('A' + column % 26);
}

// The table. Markdown has no legend: it has the devices' names and the reasons of failures.
struct sheet {
    const struct portability *p;
    bool markdown;
};

// Writes "0.67 GFLOPS  100 %" or the outcome; the last column says what a row is.
static void add_cell(const void *context, int row, int column, struct str *out)
{
    const struct sheet *s = context;
    const struct portability *p = s->p;
    char speed[32];
    bool last = column == p->columns;
    const struct row *r = row < 0 ? NULL : &p->row[row];
    if (last && r)
        str_printf(out, "#%" PRId64 " tuned ", r->session.id);
    if (last && !r)
        str_add(out, "session");
    else if (last || !r) {
        int device = last ? r->column : column;
        str_printf(out, "on %s",
                   s->markdown ? p->column[device]->device : (char[]){letter_of(device), '\0'});
    }
    if (last || !r)
        return;
    const struct cell *c = &r->cell[column];
    if (c->outcome != OUTCOME_OK)
        str_printf(out, "%s%s%s", outcome_name(c->outcome), s->markdown ? ": " : "",
                   s->markdown ? c->reason : "");
    else
        str_add(out, speed_text(&p->row[0].session, c->seconds, speed));
    if (c->outcome == OUTCOME_OK && !isnan(c->share))
        str_printf(out, "%5.0f %%", 100 * c->share);
}

static void portability_add_text(const struct portability *p, struct str *out)
{
    const struct session_record *first = &p->row[0].session;
    str_printf(out, "%s (%s): best configuration of each session on each device, measured now\n\n",
               first->title, first->name);
    table_add_text(&(struct table){p->rows, p->columns + 1, add_cell, &(struct sheet){p, false}},
                   out);
    str_add(out, "\n");
    for (int k = 0; k < p->columns; k++)
        str_printf(out, "%c  %s\n", letter_of(k), p->column[k]->device);
    for (int i = 0; i < p->rows; i++)
        for (int k = 0; k < p->columns; k++) {
            const struct cell *c = &p->row[i].cell[k];
            if (c->outcome != OUTCOME_OK)
                str_printf(out, "#%" PRId64 " on %c: %s: %s\n", p->row[i].session.id, letter_of(k),
                           outcome_name(c->outcome), c->reason);
        }
}

static void portability_add_markdown(const struct portability *p, struct str *out)
{
    table_add_markdown(&(struct table){p->rows, p->columns + 1, add_cell, &(struct sheet){p, true}},
                       out);
}

static void portability_add_csv(const struct portability *p, struct str *out)
{
    str_add(out, "session,tuned_on,runs_on,outcome,tflops,share,reason\r\n");
    for (int i = 0; i < p->rows; i++)
        for (int k = 0; k < p->columns; k++) {
            const struct cell *c = &p->row[i].cell[k];
            const double number[] = {tflops_of(p, c), c->share};
            str_printf(out, "%" PRId64 ",", p->row[i].session.id);
            str_add_csv(out, p->row[i].session.device);
            str_add(out, ",");
            str_add_csv(out, p->column[k]->device);
            str_printf(out, ",%s,", outcome_name(c->outcome));
            for (int n = 0; n < 2; n++) {
                if (isfinite(number[n]))
                    str_add_real(out, number[n]);
                str_add(out, ",");
            }
            str_add_csv(out, c->reason);
            str_add(out, "\r\n");
        }
}

static void portability_add_json(const struct portability *p, struct str *out)
{
    struct json_writer w = json_begin(out);
    json_add_text(&w, "title", p->row[0].session.title);
    json_add_text(&w, "space", p->row[0].session.name);
    json_begin_list(&w, "portability");
    for (int i = 0; i < p->rows; i++) {
        const struct row *row = &p->row[i];
        json_begin_object(&w, NULL);
        json_add_int(&w, "session", row->session.id);
        json_add_text(&w, "device", row->session.device);
        json_add_raw(&w, "config", row->best.config);
        json_begin_list(&w, "on");
        for (int k = 0; k < p->columns; k++) {
            const struct cell *c = &row->cell[k];
            json_begin_object(&w, NULL);
            json_add_text(&w, "device", p->column[k]->device);
            json_add_flag(&w, "own", row->column == k);
            json_add_text(&w, "outcome", outcome_name(c->outcome));
            json_add_real(&w, "tflops", tflops_of(p, c));
            json_add_real(&w, "ms", c->outcome == OUTCOME_OK ? c->seconds * 1e3 : NAN);
            json_add_real(&w, "share", c->share);
            json_add_text(&w, "reason", c->reason);
            json_end(&w);
        }
        json_end(&w);
        json_end(&w);
    }
    json_end_all(&w);
    str_add_char(out, '\n');
}

// --- the sessions ---

static bool read_row(struct store *store, const char *operand, struct portability *p, struct err *e)
{
    struct row *row = &p->row[p->rows];
    struct ranked_trials best;
    int64_t id;
    if (!common_session_id(operand, &id, e) ||
        !store_get_session(store, id, &p->arena, &row->session, e) ||
        !store_best_trials(store, id, 1, &p->arena, &best, e))
        return false;
    if (!str_equal(row->session.source, "device"))
        return err_set(e, "session %" PRId64 " was not measured on a device (%s)", id,
                       row->session.source);
    if (!common_alike(&p->row[0].session, &row->session,
                      FACT_PROBLEM | FACT_SPACE | FACT_SETTINGS | FACT_FILES,
                      "have no common table", e))
        return false;
    if (!best.count)
        return err_set(e, "session %" PRId64 " has no valid trial", id);
    row->best = best.trial[0];
    while (row->column < p->columns &&
           !str_equal(p->column[row->column]->device_id, row->session.device_id))
        row->column++;
    if (row->column == p->columns)
        p->column[p->columns++] = &row->session;
    return true;
}

// --- one device ---

// Finds the row's configuration in the space as it is on this device. Returns false where it is not
// legal here; the cell has the reason.
static bool translate(const struct row *row, const struct space *space, const struct limits *limits,
                      struct config *c, struct cell *cell)
{
    struct err e = {.text = ""};
    struct verdict verdict = {.legal = false};
    struct str here = {0};
    bool same = config_parse_key(space, row->best.key, c, &e);
    if (same)
        config_add_json(space, c, &here);
    same = same && str_equal(str_text(&here), row->best.config);
    str_finish(&here);
    const char *reason = !same ? "the space has no such point on this device"
                         : !space_judge(space, limits, c, &verdict, &e) ? e.text
                                                                        : verdict.reason;
    if (!verdict.legal) {
        cell->outcome = OUTCOME_REJECTED;
        snprintf(cell->reason, sizeof cell->reason, "%s", reason);
    }
    return verdict.legal;
}

static bool measure_column(struct store *store, struct portability *p, int column, struct err *e)
{
    const struct session_record *device = p->column[column];
    struct limits limits;
    struct script *script = stored_script(store, device, &p->arena, e);
    if (!script)
        return false;
    const struct limits *known = limits_parse(device->limits, &limits) ? &limits : NULL;
    struct reverified *k = mem_zero((size_t)p->rows, sizeof *k);
    int *row = mem_zero((size_t)p->rows, sizeof *row), count = 0;
    double best = INFINITY; // of the rows that were tuned on this device
    for (int i = 0; i < p->rows; i++)
        if (translate(&p->row[i], script_space(script), known, &k[count].config,
                      &p->row[i].cell[column]))
            row[count++] = i;
    bool ok = reverify_measure(device, script, &(struct reverify_options){0}, k, count, e);
    for (int i = 0; ok && i < count; i++) {
        struct cell *cell = &p->row[row[i]].cell[column];
        cell->outcome = k[i].outcome;
        cell->seconds = k[i].outcome == OUTCOME_OK ? k[i].again_s : 0;
        snprintf(cell->reason, sizeof cell->reason, "%s", k[i].reason);
        if (p->row[row[i]].column == column && cell->outcome == OUTCOME_OK)
            best = fmin(best, cell->seconds);
    }
    for (int i = 0; i < p->rows; i++) {
        struct cell *cell = &p->row[i].cell[column];
        cell->share = cell->outcome == OUTCOME_OK && isfinite(best) ? best / cell->seconds : NAN;
    }
    free(row);
    free(k);
    script_destroy(script);
    return ok;
}

bool portability_print(const struct arguments *a, struct err *e)
{
    struct portability p = {.rows = 0};
    struct str out = {0};
    arena_init(&p.arena);
    size_t count = (size_t)a->operand_count;
    p.row = arena_zero(&p.arena, count, sizeof *p.row);
    p.column = arena_zero(&p.arena, count, sizeof *p.column);
    struct store *store = common_open(a, STORE_READ, e);
    bool ok = store != NULL;
    for (int i = 0; ok && i < a->operand_count; i++) {
        ok = read_row(store, a->operand[i], &p, e);
        p.row[p.rows++].cell = arena_zero(&p.arena, count, sizeof(struct cell));
    }
    for (int i = 0; ok && i < p.columns; i++)
        ok = measure_column(store, &p, i, e);
    store_close(store);
    if (ok)
        (arguments_flag(a, "json")       ? portability_add_json
         : arguments_flag(a, "csv")      ? portability_add_csv
         : arguments_flag(a, "markdown") ? portability_add_markdown
                                         : portability_add_text)(&p, &out);
    common_print(&out);
    arena_finish(&p.arena);
    return ok;
}
