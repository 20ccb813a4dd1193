#include "cli/portability.h"

#include "engine/stored.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL_WIDTH 24

static char letter(int column)
{
    return (char)('A' + column % 26);
}

// "0.67 GFLOPS  100 %", or the outcome.
static const char *text_cell(const struct portability *p, const struct portability_cell *c,
                             char out[64])
{
    char speed[32], share[16] = "";
    if (c->outcome != OUTCOME_OK)
        return outcome_name(c->outcome);
    if (!isnan(c->share))
        snprintf(share, sizeof share, "%5.0f %%", 100 * c->share);
    snprintf(out, 64, "%s%s", speed_text(&p->row[0].session, c->seconds, speed), share);
    return out;
}

void portability_add_text(const struct portability *p, struct str *out)
{
    char text[64];
    const struct session_record *first = &p->row[0].session;
    str_printf(out,
               "%s (%s): best configuration of each session on each device, measured now\n\n%-18s",
               first->title, first->name, "");
    for (int k = 0; k < p->columns; k++)
        str_printf(out, "  on %-*c", k + 1 < p->columns ? CELL_WIDTH - 3 : 0, letter(k));
    str_add(out, "\n");
    for (int i = 0; i < p->rows; i++) {
        str_printf(out, "#%-5" PRId64 " tuned on %c ", p->row[i].session.id,
                   letter(p->row[i].column));
        for (int k = 0; k < p->columns; k++)
            str_printf(out, "  %-*s", k + 1 < p->columns ? CELL_WIDTH : 0,
                       text_cell(p, &p->row[i].cell[k], text));
        str_add(out, "\n");
    }
    str_add(out, "\n");
    for (int k = 0; k < p->columns; k++)
        str_printf(out, "%c  %s\n", letter(k), p->column[k]->device);
    for (int i = 0; i < p->rows; i++)
        for (int k = 0; k < p->columns; k++) {
            const struct portability_cell *c = &p->row[i].cell[k];
            if (c->outcome != OUTCOME_OK)
                str_printf(out, "%s#%" PRId64 " on %c: %s: %s\n", "", p->row[i].session.id,
                           letter(k), outcome_name(c->outcome), c->reason);
        }
}

void portability_add_markdown(const struct portability *p, struct str *out)
{
    char text[64];
    str_add(out, "| tuned on |");
    for (int k = 0; k < p->columns; k++) {
        str_add(out, " on ");
        str_add_markdown(out, p->column[k]->device);
        str_add(out, " |");
    }
    str_add(out, "\n|---|");
    for (int k = 0; k < p->columns; k++)
        str_add(out, "---|");
    for (int i = 0; i < p->rows; i++) {
        str_add(out, "\n| ");
        str_add_markdown(out, p->row[i].session.device);
        str_printf(out, " (#%" PRId64 ") |", p->row[i].session.id);
        for (int k = 0; k < p->columns; k++) {
            const struct portability_cell *c = &p->row[i].cell[k];
            str_printf(out, " %s%s", text_cell(p, c, text), c->outcome == OUTCOME_OK ? "" : ": ");
            str_add_markdown(out, c->reason);
            str_add(out, " |");
        }
    }
    str_add(out, "\n");
}

static double tflops(const struct portability *p, const struct portability_cell *c)
{
    return c->outcome == OUTCOME_OK ? p->row[0].session.flop / c->seconds / 1e12 : NAN;
}

static void add_number(struct str *out, double value)
{
    if (isfinite(value))
        str_add_real(out, value);
    str_add(out, ",");
}

void portability_add_csv(const struct portability *p, struct str *out)
{
    str_add(out, "session,tuned_on,runs_on,outcome,tflops,share,reason\r\n");
    for (int i = 0; i < p->rows; i++)
        for (int k = 0; k < p->columns; k++) {
            const struct portability_cell *c = &p->row[i].cell[k];
            str_printf(out, "%" PRId64 ",", p->row[i].session.id);
            str_add_csv(out, p->row[i].session.device);
            str_add(out, ",");
            str_add_csv(out, p->column[k]->device);
            str_printf(out, ",%s,", outcome_name(c->outcome));
            add_number(out, tflops(p, c));
            add_number(out, c->share);
            str_add_csv(out, c->reason);
            str_add(out, "\r\n");
        }
}

void portability_add_json(const struct portability *p, struct str *out)
{
    const struct session_record *first = &p->row[0].session;
    struct json_writer w = json_begin(out);
    json_add_text(&w, "title", first->title);
    json_add_text(&w, "space", first->name);
    json_begin_list(&w, "portability");
    for (int i = 0; i < p->rows; i++) {
        const struct portability_row *row = &p->row[i];
        json_begin_object(&w, NULL);
        json_add_int(&w, "session", row->session.id);
        json_add_text(&w, "device", row->session.device);
        json_add_raw(&w, "config", row->best.config);
        json_begin_list(&w, "on");
        for (int k = 0; k < p->columns; k++) {
            const struct portability_cell *c = &row->cell[k];
            json_begin_object(&w, NULL);
            json_add_text(&w, "device", p->column[k]->device);
            json_add_flag(&w, "own", row->column == k);
            json_add_text(&w, "outcome", outcome_name(c->outcome));
            json_add_real(&w, "tflops", tflops(p, c));
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

// What forbids a common table; NULL: nothing.
static const char *difference(const struct session_record *a, const struct session_record *b)
{
    const char *const pairs[][3] = {
        {"problems", a->title, b->title},
        {"spaces", a->name, b->name},
        {"settings", a->settings, b->settings},
        {"versions of the space's files", a->text_hash, b->text_hash},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!str_equal(pairs[i][1], pairs[i][2]))
            return pairs[i][0];
    return NULL;
}

static bool read_row(struct store *store, const char *operand, struct portability *p,
                     struct portability_row *row, struct err *e)
{
    struct ranked_trials best;
    int64_t id;
    if (!common_session_id(operand, &id, e) ||
        !store_get_session(store, id, &p->arena, &row->session, e) ||
        !store_best_trials(store, id, 1, &p->arena, &best, e))
        return false;
    if (!str_equal(row->session.source, "device"))
        return err_set(e, "session %" PRId64 " was not measured on a device (%s)", id,
                       row->session.source);
    const char *what = difference(&p->row[0].session, &row->session);
    if (what)
        return err_set(
            e, "sessions %" PRId64 " and %" PRId64 " have no common table: they have different %s",
            p->row[0].session.id, id, what);
    if (!best.count)
        return err_set(e, "session %" PRId64 " has no valid trial", id);
    row->best = best.trial[0];
    return true;
}

static int column_of(struct portability *p, const struct session_record *r)
{
    for (int i = 0; i < p->columns; i++)
        if (str_equal(p->column[i]->device_id, r->device_id))
            return i;
    p->column[p->columns] = r;
    return p->columns++;
}

static bool read_rows(struct store *store, const struct arguments *a, struct portability *p,
                      struct err *e)
{
    size_t count = (size_t)a->operand_count;
    p->row = arena_zero(&p->arena, count, sizeof *p->row);
    p->column = arena_zero(&p->arena, count, sizeof *p->column);
    for (; p->rows < a->operand_count; p->rows++) {
        struct portability_row *row = &p->row[p->rows];
        if (!read_row(store, a->operand[p->rows], p, row, e))
            return false;
        row->column = column_of(p, &row->session);
        row->cell = arena_zero(&p->arena, count, sizeof *row->cell);
    }
    return true;
}

// --- one device ---

static void reject(struct portability_cell *cell, const char *reason)
{
    cell->outcome = OUTCOME_REJECTED;
    snprintf(cell->reason, sizeof cell->reason, "%s", reason);
}

// The row's configuration in the space as it is on this device. False: it is not legal here, and
// the cell says why.
static bool translate(const struct portability_row *row, const struct space *space,
                      const struct limits *limits, struct config *c, struct portability_cell *cell)
{
    struct err e = {.text = ""};
    struct verdict verdict = {.legal = false};
    struct str here = {0};
    bool same = config_parse_key(space, row->best.key, c, &e);
    if (same)
        config_add_json(space, c, &here);
    same = same && str_equal(str_text(&here), row->best.config);
    str_finish(&here);
    if (!same)
        reject(cell, "the space has no such point on this device");
    else if (!space_judge(space, limits, c, &verdict, &e))
        reject(cell, e.text);
    else if (!verdict.legal)
        reject(cell, verdict.reason);
    return verdict.legal;
}

static void find_shares(struct portability *p, int column)
{
    double best = INFINITY;
    for (int i = 0; i < p->rows; i++) {
        const struct portability_cell *cell = &p->row[i].cell[column];
        if (p->row[i].column == column && cell->outcome == OUTCOME_OK && cell->seconds < best)
            best = cell->seconds;
    }
    for (int i = 0; i < p->rows; i++) {
        struct portability_cell *cell = &p->row[i].cell[column];
        bool known = cell->outcome == OUTCOME_OK && isfinite(best);
        cell->share = known ? best / cell->seconds : NAN;
    }
}

static bool measure_column(struct store *store, struct portability *p, int column, struct err *e)
{
    const struct session_record *device = p->column[column];
    struct limits limits;
    struct script *script = stored_script(store, device, &p->arena, e);
    if (!script)
        return false;
    const struct space *space = script_space(script);
    bool known = limits_parse(device->limits, &limits);
    struct reverified *k = mem_zero((size_t)p->rows, sizeof *k);
    int *row = mem_zero((size_t)p->rows, sizeof *row), count = 0;
    for (int i = 0; i < p->rows; i++)
        if (translate(&p->row[i], space, known ? &limits : NULL, &k[count].config,
                      &p->row[i].cell[column]))
            row[count++] = i;
    bool ok = reverify_measure(device, script, &(struct reverify_options){0}, k, count, e);
    for (int i = 0; ok && i < count; i++) {
        p->row[row[i]].cell[column].outcome = k[i].outcome;
        p->row[row[i]].cell[column].seconds = k[i].outcome == OUTCOME_OK ? k[i].again_s : 0;
        snprintf(p->row[row[i]].cell[column].reason, sizeof p->row[row[i]].cell[column].reason,
                 "%s", k[i].reason);
    }
    find_shares(p, column);
    free(row);
    free(k);
    script_destroy(script);
    return ok;
}

bool portability_measure(const struct arguments *a, struct portability *p, struct err *e)
{
    *p = (struct portability){.rows = 0};
    arena_init(&p->arena);
    struct store *store = common_open(a, STORE_READ, e);
    bool ok = store && read_rows(store, a, p, e);
    for (int i = 0; ok && i < p->columns; i++)
        ok = measure_column(store, p, i, e);
    store_close(store);
    return ok;
}

void portability_finish(struct portability *p)
{
    arena_finish(&p->arena);
    *p = (struct portability){.rows = 0};
}
