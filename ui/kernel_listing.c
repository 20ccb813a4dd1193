#include "kernel_listing.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAB_STOP = 4 };

// Tabs as blanks: the rest of the workbench knows none.
static char *without_tabs(const char *text)
{
    struct str out = {0};
    int col = 0;
    for (; *text; text++) {
        int blanks = *text == '\t' ? TAB_STOP - col % TAB_STOP : 0;
        for (int i = 0; i < blanks; i++)
            str_add_char(&out, ' ');
        if (!blanks)
            str_add_char(&out, *text);
        col = *text == '\n' || *text == '\x1f' ? 0 : col + (blanks ? blanks : 1);
    }
    return str_take(&out);
}

static void take_line(struct listing *l, char *text, const char **file)
{
    char *tab = strchr(text, '\x1f');
    int64_t at;
    if (!tab)
        return;
    *tab = '\0';
    if (str_equal(text, "file")) {
        *file = tab + 1;
    } else if (str_equal(text, "fact")) {
        if (l->facts < (int)(sizeof l->fact / sizeof *l->fact))
            l->fact[l->facts++] = tab + 1;
    } else if (str_to_int(text, 0, INT32_MAX, &at)) {
        MEM_GROW(l->line, l->count, l->capacity);
        l->line[l->count++] = (struct kernel_line){tab + 1, *file, (int)at};
    }
}

// What a failing program said last.
static void take_trouble(struct listing *l, const char *output, int exit_code)
{
    const char *last = output;
    for (const char *c = output; *c; c++)
        if (c[0] == '\n' && c[1])
            last = c + 1;
    if (*last)
        snprintf(l->trouble, sizeof l->trouble, "%.*s", (int)strcspn(last, "\n"), last);
    else
        snprintf(l->trouble, sizeof l->trouble, "tilewalk show ended with %d", exit_code);
}

static void forget_lines(struct listing *l)
{
    free(l->output);
    free(l->line);
    l->output = NULL;
    l->line = NULL;
    l->count = l->capacity = l->facts = 0;
    l->trouble[0] = '\0';
}

void listing_take(struct listing *l, const char *output, int exit_code)
{
    const char *file = "";
    forget_lines(l);
    l->told = true;
    l->output = without_tabs(output);
    char *rest;
    for (char *line = l->output; exit_code == 0 && line; line = rest) {
        rest = strchr(line, '\n');
        if (rest)
            *rest++ = '\0';
        take_line(l, line, &file);
    }
    if (exit_code != 0 || l->count == 0)
        take_trouble(l, output, exit_code);
}

void listing_finish(struct listing *l)
{
    forget_lines(l);
    *l = (struct listing){.session = 0};
}

// --- rows ---

static char *text_of(const struct listing *l)
{
    struct str out = {0};
    for (int i = 0; i < l->count; i++)
        str_printf(&out, "%s\n", l->line[i].text);
    return str_take(&out);
}

static void add_row(struct kernel_rows *r, const struct kernel_line *line, enum diff_side side)
{
    MEM_GROW(r->row, r->count, r->capacity);
    r->row[r->count++] = (struct kernel_row){line, side};
}

void kernel_rows_make(struct kernel_rows *r, const struct listing *best, const struct listing *l)
{
    r->count = 0;
    if (!best) {
        for (int i = 0; i < l->count; i++)
            add_row(r, &l->line[i], DIFF_SAME);
        return;
    }
    char *before = text_of(best), *after = text_of(l);
    struct diff d = diff_lines(before, after);
    for (int i = 0; i < d.count; i++) {
        const struct diff_line *x = &d.line[i];
        add_row(r, x->side == DIFF_BEFORE ? &best->line[x->before] : &l->line[x->after], x->side);
    }
    diff_finish(&d);
    free(before);
    free(after);
}

void kernel_rows_finish(struct kernel_rows *r)
{
    free(r->row);
    *r = (struct kernel_rows){.count = 0};
}
