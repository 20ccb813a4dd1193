#include "cli/portability.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define CELL_WIDTH 24

static double flop_of(const struct portability *p)
{
    return p->row[0].session.flop;
}

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

static void add_reasons(const struct portability *p, const char *line, struct str *out)
{
    for (int i = 0; i < p->rows; i++)
        for (int k = 0; k < p->columns; k++) {
            const struct portability_cell *c = &p->row[i].cell[k];
            if (c->outcome != OUTCOME_OK)
                str_printf(out, "%s#%" PRId64 " on %c: %s: %s\n", line, p->row[i].session.id,
                           letter(k), outcome_name(c->outcome), c->reason);
        }
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
    add_reasons(p, "", out);
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
    return c->outcome == OUTCOME_OK ? flop_of(p) / c->seconds / 1e12 : NAN;
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

static void add_cell_json(const struct portability *p, const struct portability_row *row, int k,
                          struct json_writer *w)
{
    const struct portability_cell *c = &row->cell[k];
    json_begin_object(w, NULL);
    json_add_text(w, "device", p->column[k]->device);
    json_add_flag(w, "own", row->column == k);
    json_add_text(w, "outcome", outcome_name(c->outcome));
    json_add_real(w, "tflops", tflops(p, c));
    json_add_real(w, "ms", c->outcome == OUTCOME_OK ? c->seconds * 1e3 : NAN);
    json_add_real(w, "share", c->share);
    json_add_text(w, "reason", c->reason);
    json_end(w);
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
        for (int k = 0; k < p->columns; k++)
            add_cell_json(p, row, k, &w);
        json_end(&w);
        json_end(&w);
    }
    json_end_all(&w);
    str_add_char(out, '\n');
}
