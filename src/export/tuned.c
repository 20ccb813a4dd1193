#include "export/tuned.h"

#include "base/json.h"
#include "base/shown.h"
#include "engine/speed.h"
#include "engine/stored.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool evidence_read(struct store *s, const struct session_record *r, int64_t ask, struct arena *a,
                   struct evidence *out, struct err *e)
{
    struct session_record own = *r;
    *out = (struct evidence){.session = r, .shapes.worst = -1};
    if (!store_get_trial(s, r->id, ask, a, &out->trial, e) ||
        !store_get_race(s, r->id, ask, a, &out->race, e) ||
        !store_get_baselines(s, r->id, a, &out->baselines, e))
        return false;
    if (ask != r->best_ask) {
        // Pairs were timed of the session's best alone.
        own.best_ask = ask;
        own.best_seconds = out->race.ask ? out->race.seconds : out->trial.seconds;
    }
    shape_table_read(&own, &(struct shape_findings){&out->trial, &out->race, &out->baselines}, a,
                     &out->shapes);
    return true;
}

void evidence_add_checks(const struct evidence *v, const struct session_record *r, struct str *out)
{
    str_add(out, "the whole result was right in the search");
    if (v->race.ask && v->race.verified)
        str_add(out, ", and again on random inputs after the last race");
    if (r->soaked && r->soaked_ask == v->trial.ask)
        str_printf(out, ", and in %" PRId64 " more runs with poisoned memory and other inputs",
                   r->soaked);
}

// --- evidence ---

// Adds text of drivers and files, which may contain anything.
static void add_words(struct str *out, const char *text)
{
    struct str shown = {0};
    shown_add(&shown, text);
    str_add_markdown(out, str_text(&shown));
    str_finish(&shown);
}

void evidence_add_shapes(const struct evidence *v, struct str *out)
{
    char time[32], in_use[32];
    const struct shape_table *t = &v->shapes;
    const char *unit = speed_objective(v->session).unit;
    if (v->baselines.count == 0 && t->count == 1)
        return;
    str_add(out,
            "\n| shape | in use | takes | the best takes | the best is |\n|---|---|---|---|---|\n");
    for (int i = 0; i < t->count; i++) {
        const struct shape_row *r = &t->row[i];
        const char *worst = i == t->worst && t->count > 1 ? " (the worst)" : "";
        str_add(out, "| ");
        add_words(out, r->name);
        str_add(out, " | ");
        add_words(out, r->baseline ? r->baseline : "-");
        str_printf(out, " | %s | %s | ", r->baseline ? text_cost(r->baseline_s, unit, in_use) : "-",
                   r->seconds > 0 ? text_cost(r->seconds, unit, time) : "-");
        if (r->baseline && r->seconds > 0) {
            speed_add_ratio(v->session, &r->ratio, out);
            str_printf(out, "%s |\n", worst);
        } else
            str_add(out, "- |\n");
    }
}

static void add_configuration(struct str *out, const char *name, const char *config)
{
    struct str text = {0};
    const char *values = text_config(config, &text);
    str_add(out, "* ");
    add_words(out, name);
    str_add(out, ": ");
    add_words(out, *values ? values : "no configuration of this space");
    str_finish(&text);
}

void evidence_add(const struct evidence *v, const struct session_record *r, struct str *out)
{
    if (str_equal(r->source, "device")) {
        str_add(out, "Measured on ");
        add_words(out, r->device);
        str_add(out, "; driver: ");
        add_words(out, r->driver);
        str_add(out, ". Verified: ");
        evidence_add_checks(v, r, out);
        str_add(out, ".\n");
    } else {
        str_add(out, "Not measured, and not verified: the times are those of ");
        add_words(out, recorded_without_folder(r->source));
        str_add(out, ".\n");
    }
    evidence_add_shapes(v, out);
    str_add_char(out, '\n');
    char time[32];
    add_configuration(out, "found", v->trial.config);
    for (int i = 0; i < v->baselines.count; i++) {
        const struct baseline_record *b = &v->baselines.of[i];
        str_add_char(out, '\n');
        add_configuration(out, b->name, b->config);
        if (b->outcome == OUTCOME_OK) {
            str_printf(out, ": %s", text_cost(baseline_seconds(b), speed_objective(r).unit, time));
        } else {
            str_printf(out, ": does not run here, %s (", outcome_name(b->outcome));
            add_words(out, b->reason ? b->reason : "");
            str_add_char(out, ')');
        }
    }
    str_add_char(out, '\n');
}

// --- the table of tuned configurations ---

#define FORMAT "tilewalk-tuned"

enum { VENDOR, DEVICE, DRIVER, SPACE, CLASS, KEYS };

struct entry {
    const char *key[KEYS];
    const char *json; // an object
};

struct book {
    struct store *store;
    struct arena arena;
    struct entry *entry; // heap
    int count, capacity;
};

struct found { // the result of a session
    struct session_record session;
    struct evidence best;
};

static bool add_shape(struct book *b, const struct found *f, int shape, struct err *e)
{
    const struct session_record *r = &f->session;
    const struct shape_row *row = &f->best.shapes.row[shape];
    int count;
    const struct setting *own = stored_shape(r, shape, &b->arena, &count);
    struct script *script = stored_script_set(b->store, r, own, count, &b->arena, e);
    struct str json = {0}, class = {0};
    if (!script)
        return false;
    struct json_writer w = json_begin(&json);
    w.is_spaced = true;
    json_begin_object(&w, "shape");
    const struct script_setting *all = script_settings(script, &count);
    for (int i = 0; i < count; i++) {
        const struct script_setting *one = &all[i];
        int64_t size, power = 1;
        if (one->is_folder) // folders of the user are left out
            continue;
        if (one->is_whole && str_to_int(one->value, 0, INT32_MAX, &size)) {
            while (power < size)
                power *= 2;
            str_printf(&class, "%s%s<=%" PRId64, class.length ? " " : "", one->name, power);
        } else
            str_printf(&class, "%s%s=%s", class.length ? " " : "", one->name, one->value);
        (one->values ? json_add_text : json_add_raw)(&w, one->name, one->value);
    }
    json_end(&w);
    json_add_raw(&w, "configuration", f->best.trial.config);
    json_add_real(&w, "ms", row->seconds * 1e3);
    json_add_text(&w, "baseline", row->baseline);
    speed_add_ratio_json(&row->ratio, &w);
    json_add_int(&w, "session", r->id);
    json_add_text(&w, "device_identity", r->device_id);
    json_end_all(&w);
    MEM_GROW(b->entry, b->count, b->capacity);
    b->entry[b->count++] = (struct entry){
        .key = {arena_printf(&b->arena, "%.*s", (int)strcspn(r->driver, ","), r->driver), r->device,
                r->driver, r->name, arena_strdup(&b->arena, str_text(&class))},
        .json = arena_strdup(&b->arena, str_text(&json))};
    str_finish(&json);
    str_finish(&class);
    script_destroy(script);
    return true;
}

static bool add_session(struct book *b, int64_t id, struct err *e)
{
    struct found f;
    const struct session_record *r = &f.session;
    if (!store_get_session(b->store, id, &b->arena, &f.session, e) ||
        !stored_has_kernels(b->store, r, e))
        return false;
    if (!str_equal(r->source, "device"))
        return err_set(e, "session %" PRId64 " was not measured on a device", id);
    if (!r->best_ask)
        return err_set(e, "session %" PRId64 " has no valid trial to export", id);
    bool ok = evidence_read(b->store, r, r->best_ask, &b->arena, &f.best, e);
    for (int i = 0; ok && i < f.best.shapes.count; i++)
        ok = add_shape(b, &f, i, e);
    return ok;
}

static int by_keys(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    for (int i = 0; i < KEYS; i++) {
        int order = strcmp(x->key[i], y->key[i]);
        if (order)
            return order;
    }
    return strcmp(x->json, y->json);
}

bool export_tuned(struct store *store, const int64_t *id, int count, struct str *out, struct err *e)
{
    struct book b = {.store = store};
    bool ok = true;
    arena_init(&b.arena);
    for (int i = 0; ok && i < count; i++)
        ok = add_session(&b, id[i], e);
    if (ok) {
        qsort(b.entry, (size_t)b.count, sizeof *b.entry, by_keys);
        struct json_writer w = json_begin(out);
        w.is_spaced = true;
        json_add_text(&w, "format", FORMAT);
        json_add_int(&w, "version", 1);
        json_begin_object(&w, "tuned");
        // Keys are nested objects; the last one holds a list of shapes.
        for (int i = 0; i < b.count; i++) {
            int same = 0; // keys in common with the entry before
            while (i && same < KEYS && str_equal(b.entry[i - 1].key[same], b.entry[i].key[same]))
                same++;
            for (int k = KEYS; i && k > same; k--)
                json_end(&w);
            for (int k = same; k < KEYS; k++) {
                json_begin_line(&w, k + 1);
                (k == CLASS ? json_begin_list : json_begin_object)(&w, b.entry[i].key[k]);
            }
            json_begin_line(&w, KEYS + 1);
            json_add_raw(&w, NULL, b.entry[i].json);
        }
        json_end_all(&w);
        str_add_char(out, '\n');
    }
    free(b.entry);
    arena_finish(&b.arena);
    return ok;
}
