#include "report/diff.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct line {
    const char *text;
    size_t length;
    uint64_t hash;
};

struct text {
    struct line *line;
    int count, capacity;
};

// A range of lines in each text, without the end.
struct block {
    int before, before_end, after, after_end;
};

struct differ {
    struct text before, after;
    struct diff *out;
};

static struct text split(const char *text)
{
    struct text t = {0};
    while (*text) {
        size_t length = strcspn(text, "\n");
        MEM_GROW(t.line, t.count, t.capacity);
        t.line[t.count++] = (struct line){text, length, hash_bytes(text, length)};
        text += length + (text[length] == '\n');
    }
    return t;
}

static bool equal(const struct line *a, const struct line *b)
{
    return a->hash == b->hash && a->length == b->length && !memcmp(a->text, b->text, a->length);
}

// --- lines that occur once in each text ---

struct place {
    const struct line *line;
    int at;
    bool in_after;
};

struct match {
    int before, after;
    int previous; // index of the match before it in the longest run that ends here; -1: none
};

static int by_line(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->line->hash != y->line->hash)
        return x->line->hash < y->line->hash ? -1 : 1;
    if (x->in_after != y->in_after)
        return x->in_after ? 1 : -1;
    return x->at - y->at;
}

// Finds the lines that occur once in each text, in the order of `before`; returns how many.
static int find_unique(const struct differ *d, const struct block *b, struct match *match)
{
    int lines = b->before_end - b->before, n = lines + b->after_end - b->after, k = 0, found = 0;
    int *twin = mem_zero((size_t)lines + 1, sizeof *twin); // in `after`, from 1; 0: none
    struct place *place = mem_zero((size_t)n + 1, sizeof *place);
    for (int i = b->before; i < b->before_end; i++)
        place[k++] = (struct place){&d->before.line[i], i, false};
    for (int i = b->after; i < b->after_end; i++)
        place[k++] = (struct place){&d->after.line[i], i, true};
    qsort(place, (size_t)n, sizeof *place, by_line);
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && place[end].line->hash == place[i].line->hash;)
            end++;
        if (end - i == 2 && !place[i].in_after && place[i + 1].in_after &&
            equal(place[i].line, place[i + 1].line))
            twin[place[i].at - b->before] = place[i + 1].at + 1;
    }
    for (int i = 0; i < lines; i++)
        if (twin[i])
            match[found++] = (struct match){b->before + i, twin[i] - 1, -1};
    free(place);
    free(twin);
    return found;
}

// --- assembling ---

static void add_line(struct differ *d, enum diff_side side, int before, int after)
{
    const struct line *l = side == DIFF_AFTER ? &d->after.line[after] : &d->before.line[before];
    struct diff *out = d->out;
    MEM_GROW(out->line, out->count, out->capacity);
    out->line[out->count++] = (struct diff_line){side, l->text, l->length, before, after};
}

static void add_other(struct differ *d, const struct block *b)
{
    for (int i = b->before; i < b->before_end; i++)
        add_line(d, DIFF_BEFORE, i, b->after);
    for (int i = b->after; i < b->after_end; i++)
        add_line(d, DIFF_AFTER, b->before_end, i);
}

static void add_block(struct differ *d, struct block b);

// Adds a block that begins and ends with different lines: splits it at the longest run of unique
// lines that has the same order in both texts.
static void add_middle(struct differ *d, struct block b)
{
    int most = b.before_end - b.before < b.after_end - b.after ? b.before_end - b.before
                                                               : b.after_end - b.after;
    struct match *match = mem_zero((size_t)most + 1, sizeof *match);
    int count = find_unique(d, &b, match), length = 0;
    // `last[k]` ends the run of length k + 1 that ends earliest.
    int *last = mem_zero((size_t)count + 1, sizeof *last);
    for (int i = 0; i < count; i++) {
        int low = 0, high = length;
        while (low < high) {
            int middle = (low + high) / 2;
            if (match[last[middle]].after < match[i].after)
                low = middle + 1;
            else
                high = middle;
        }
        match[i].previous = low ? last[low - 1] : -1;
        last[low] = i;
        length += low == length;
    }
    if (length) {
        // `last` becomes the matches of the run, first to last.
        int at = last[length - 1];
        for (int k = length; k-- > 0; at = match[at].previous)
            last[k] = at;
        for (int k = 0; k < length; k++) {
            const struct match *m = &match[last[k]];
            add_block(d, (struct block){b.before, m->before, b.after, m->after});
            add_line(d, DIFF_SAME, m->before, m->after);
            b.before = m->before + 1;
            b.after = m->after + 1;
        }
        add_block(d, b);
    } else {
        add_other(d, &b);
    }
    free(last);
    free(match);
}

// Adds a block of lines. Calls itself through add_middle, on fewer lines; the depth is that of
// matches within matches, which is small.
static void add_block(struct differ *d, struct block b)
{
    int tail = 0;
    while (b.before < b.before_end && b.after < b.after_end &&
           equal(&d->before.line[b.before], &d->after.line[b.after]))
        add_line(d, DIFF_SAME, b.before++, b.after++);
    while (b.before < b.before_end && b.after < b.after_end &&
           equal(&d->before.line[b.before_end - 1], &d->after.line[b.after_end - 1])) {
        b.before_end--;
        b.after_end--;
        tail++;
    }
    if (b.before < b.before_end && b.after < b.after_end)
        add_middle(d, b);
    else
        add_other(d, &b);
    for (int i = 0; i < tail; i++)
        add_line(d, DIFF_SAME, b.before_end + i, b.after_end + i);
}

struct diff diff_lines(const char *before, const char *after)
{
    struct diff out = {0};
    struct differ d = {split(before), split(after), &out};
    add_block(&d, (struct block){0, d.before.count, 0, d.after.count});
    free(d.before.line);
    free(d.after.line);
    return out;
}

bool diff_next_hunk(const struct diff *d, int context, struct diff_hunk *h)
{
    int i = h->end, from = h->end;
    while (i < d->count && d->line[i].side == DIFF_SAME)
        i++;
    if (i == d->count)
        return false;
    // A hunk ends where nothing differs for more than twice the context.
    int last = i;
    for (int k = i; k < d->count && k - last <= 2 * context; k++)
        if (d->line[k].side != DIFF_SAME)
            last = k;
    *h = (struct diff_hunk){.first = i - context > from ? i - context : from,
                            .end = last + context + 1 < d->count ? last + context + 1 : d->count};
    for (int k = h->first; k < h->end; k++) {
        h->before_count += d->line[k].side != DIFF_AFTER;
        h->after_count += d->line[k].side != DIFF_BEFORE;
    }
    h->before = d->line[h->first].before + (h->before_count > 0);
    h->after = d->line[h->first].after + (h->after_count > 0);
    return true;
}

void diff_add_head(const struct diff_hunk *h, struct str *out)
{
    str_printf(out, "@@ -%d,%d +%d,%d @@", h->before, h->before_count, h->after, h->after_count);
}

void diff_add_text(const struct diff *d, int context, struct str *out)
{
    static const char marks[] = {[DIFF_SAME] = ' ', [DIFF_BEFORE] = '-', [DIFF_AFTER] = '+'};
    for (struct diff_hunk h = {0}; diff_next_hunk(d, context, &h);) {
        diff_add_head(&h, out);
        str_add_char(out, '\n');
        for (int k = h.first; k < h.end; k++) {
            str_add_char(out, marks[d->line[k].side]);
            str_add_bytes(out, d->line[k].text, d->line[k].length);
            str_add_char(out, '\n');
        }
    }
}

void diff_finish(struct diff *d)
{
    free(d->line);
    *d = (struct diff){0};
}
