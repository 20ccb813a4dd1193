#include "view_log.h"

#include "engine/speed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const entry_levels[LEVEL_COUNT] = {"debug", "info", "warning", "error"};

// --- one line ---

static bool contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return length == 0;
}

static struct entry of_message(const struct message *m)
{
    struct entry e = {m->id, m->at, LEVEL_INFO, "info", m->text};
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (str_equal(m->level, entry_levels[i])) {
            e.level = (enum level)i;
            e.word = entry_levels[i];
        }
    if (e.level == LEVEL_DEBUG && str_starts(m->text, "worker "))
        e.word = "worker";
    return e;
}

static struct entry of_noise(const struct app *app, int64_t line)
{
    const struct noise *n = &app->noise[line % APP_NOISE];
    return (struct entry){-line - 1, n->at, LEVEL_INFO, "here", n->text};
}

// "best  trial 45: 43.69 TFLOPS (+40.0 %)"
static struct entry of_best(const struct opened *o, int i, char text[ENTRY_BEST_SIZE])
{
    const struct best_step *step = &o->curve.step[i];
    char speed[32];
    int n = snprintf(text, ENTRY_BEST_SIZE, "best  trial %" PRId64 ": %s", step->number,
                     speed_text(&o->record, step->seconds, speed));
    if (i > 0 && step->seconds > 0)
        snprintf(text + n, ENTRY_BEST_SIZE - (size_t)n, " (+%.1f %%)",
                 100 * (step[-1].seconds / step->seconds - 1));
    return (struct entry){INT64_MIN + step->number, step->finished, LEVEL_INFO, "info", text};
}

// --- all of them, in order ---

enum source { MESSAGES, BESTS, NOISE, SOURCES };

struct merge { // each source is in order already: where it is, and where it ends
    int64_t at[SOURCES], end[SOURCES];
};

static struct merge begin_merge(const struct app *app)
{
    const struct opened *o = &app->model.open;
    struct merge m = {{0}};
    m.end[MESSAGES] = o->record.id ? o->message_count : 0;
    m.end[BESTS] = o->record.id ? o->curve.count : 0;
    m.end[NOISE] = app->noise_count;
    m.at[NOISE] = app->noise_count > APP_NOISE ? app->noise_count - APP_NOISE : 0;
    return m;
}

static double time_of(const struct app *app, enum source s, int64_t i)
{
    const struct opened *o = &app->model.open;
    return s == MESSAGES ? o->message[i].at
           : s == BESTS  ? o->curve.step[i].finished
                         : app->noise[i % APP_NOISE].at;
}

// The source whose next line is the earliest; SOURCES: all have ended.
static enum source earliest(const struct app *app, const struct merge *m)
{
    enum source first = SOURCES;
    double at = 0;
    for (int s = 0; s < SOURCES; s++) {
        double next = m->at[s] < m->end[s] ? time_of(app, (enum source)s, m->at[s]) : 0;
        if (m->at[s] < m->end[s] && (first == SOURCES || next < at)) {
            first = (enum source)s;
            at = next;
        }
    }
    return first;
}

void entries_collect(struct entries *l, const struct app *app, enum level least, const char *filter)
{
    const struct opened *o = &app->model.open;
    struct merge m = begin_merge(app);
    l->count = 0;
    l->best = mem_resize(l->best, (size_t)m.end[BESTS], sizeof *l->best);
    for (enum source s; (s = earliest(app, &m)) != SOURCES; m.at[s]++) {
        int64_t i = m.at[s];
        struct entry e = s == MESSAGES ? of_message(&o->message[i])
                         : s == BESTS  ? of_best(o, (int)i, l->best[i])
                                       : of_noise(app, i);
        if (e.level < least || !contains(e.text, filter))
            continue;
        MEM_GROW(l->entry, l->count, l->capacity);
        l->entry[l->count++] = e;
    }
}

int entries_find(const struct entries *l, int64_t id)
{
    for (int i = l->count - 1; i >= 0; i--)
        if (l->entry[i].id == id)
            return i;
    return -1;
}

void entries_finish(struct entries *l)
{
    free(l->entry);
    free(l->best);
    *l = (struct entries){.count = 0};
}
