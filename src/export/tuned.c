#include "export/tuned.h"

#include "base/json.h"
#include "engine/stored.h"
#include "export/evidence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

struct found { // of a session
    struct session_record session;
    struct evidence best;
};

static bool read_session(struct book *b, int64_t id, struct found *f, struct err *e)
{
    if (!store_get_session(b->store, id, &b->arena, &f->session, e) ||
        !stored_has_kernels(b->store, &f->session, e))
        return false;
    const struct session_record *r = &f->session;
    if (!str_equal(r->source, "device"))
        return err_set(e, "session %" PRId64 " was not measured on a device", id);
    if (!r->best_ask)
        return err_set(e, "session %" PRId64 " has no valid trial to export", id);
    return evidence_read(b->store, r, r->best_ask, &b->arena, &f->best, e);
}

static int64_t power_above(int64_t size)
{
    int64_t power = 1;
    while (power < size)
        power *= 2;
    return power;
}

// Where the user keeps files is not among them.
static void add_settings(const struct script *s, struct str *class, struct json_writer *w)
{
    int count;
    const struct script_setting *all = script_settings(s, &count);
    for (int i = 0; i < count; i++) {
        const struct script_setting *one = &all[i];
        int64_t size;
        if (one->is_folder)
            continue;
        if (one->is_whole && str_to_int(one->value, 0, INT32_MAX, &size))
            str_printf(class, "%s%s<=%" PRId64, class->length ? " " : "", one->name,
                       power_above(size));
        else
            str_printf(class, "%s%s=%s", class->length ? " " : "", one->name, one->value);
        (one->values ? json_add_text : json_add_raw)(w, one->name, one->value);
    }
}

static struct script *script_of(struct book *b, const struct session_record *r, int shape,
                                struct err *e)
{
    int count;
    const struct setting *own = stored_shape(r, shape, &b->arena, &count);
    return stored_script_set(b->store, r, own, count, &b->arena, e);
}

static bool add_shape(struct book *b, const struct found *f, int shape, struct err *e)
{
    const struct session_record *r = &f->session;
    const struct shape_row *row = &f->best.shapes.row[shape];
    struct script *script = script_of(b, r, shape, e);
    struct str json = {0}, class = {0};
    if (!script)
        return false;
    struct json_writer w = json_begin(&json);
    w.is_spaced = true;
    json_begin_object(&w, "shape");
    add_settings(script, &class, &w);
    json_end(&w);
    json_add_raw(&w, "configuration", f->best.trial.config);
    json_add_real(&w, "ms", row->seconds * 1e3);
    json_add_text(&w, "baseline", row->baseline);
    json_add_real(&w, "ratio", shape_ratio(row));
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
    bool ok = read_session(b, id, &f, e);
    for (int i = 0; ok && i < f.best.shapes.count; i++)
        ok = add_shape(b, &f, i, e);
    return ok;
}

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    for (int i = 0; i < KEYS; i++) {
        int order = strcmp(x->key[i], y->key[i]);
        if (order)
            return order;
    }
    return strcmp(x->json, y->json);
}

static int common_keys(const struct entry *a, const struct entry *b)
{
    int i = 0;
    while (i < KEYS && str_equal(a->key[i], b->key[i]))
        i++;
    return i;
}

// An object in an object for each key, and a list of shapes in the last.
static void add_entries(const struct book *b, struct json_writer *w)
{
    for (int i = 0; i < b->count; i++) {
        int same = i ? common_keys(&b->entry[i - 1], &b->entry[i]) : 0;
        for (int k = KEYS; i && k > same; k--)
            json_end(w);
        for (int k = same; k < KEYS; k++) {
            json_begin_line(w, k + 1);
            (k == CLASS ? json_begin_list : json_begin_object)(w, b->entry[i].key[k]);
        }
        json_begin_line(w, KEYS + 1);
        json_add_raw(w, NULL, b->entry[i].json);
    }
}

bool export_tuned(struct store *store, const int64_t *id, int count, struct str *out, struct err *e)
{
    struct book b = {.store = store};
    bool ok = true;
    arena_init(&b.arena);
    for (int i = 0; ok && i < count; i++)
        ok = add_session(&b, id[i], e);
    if (ok) {
        qsort(b.entry, (size_t)b.count, sizeof *b.entry, compare);
        struct json_writer w = json_begin(out);
        w.is_spaced = true;
        json_add_text(&w, "format", FORMAT);
        json_add_int(&w, "version", 1);
        json_begin_object(&w, "tuned");
        add_entries(&b, &w);
        json_end_all(&w);
        str_add_char(out, '\n');
    }
    free(b.entry);
    arena_finish(&b.arena);
    return ok;
}
