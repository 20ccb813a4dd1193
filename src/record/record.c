#include "record/record.h"

#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "record/format.h"
#include "record/log.h"
#include "record/unpack.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- values of a parameter in another space ---

struct item {
    const char *text; // NULL: a number
    double number;
};

static struct item item_of(const struct param *p, int32_t slot)
{
    if (p->kind == PARAM_FACTORIZATION)
        return (struct item){.number = slot};
    return p->label ? (struct item){.text = p->label[slot]}
                    : (struct item){.number = p->number[slot]};
}

// Returns the slot with an equal value; -1: there is none.
static int32_t find_slot(const struct param *p, struct item item)
{
    if (p->kind == PARAM_FACTORIZATION) {
        bool is_part = !item.text && item.number >= 1 && item.number <= INT32_MAX;
        return is_part && item.number == floor(item.number) ? (int32_t)item.number : -1;
    }
    for (int i = 0; i < p->count; i++)
        if (p->label ? str_equal(p->label[i], item.text)
                     : !item.text && p->number[i] == item.number)
            return i;
    return -1;
}

// --- reading ---

// T4 comes last of those with results, because the others have more specific members.
static const struct format *const formats[] = {
    &format_tilewalk, &format_kernel_tuner, &format_clblast, &format_ktt, &format_t4, &format_t1,
};
enum { FORMATS = sizeof formats / sizeof *formats, NEEDS = 2 };

static const struct format *recognise(struct json root)
{
    bool has[FORMATS][NEEDS] = {{false}};
    for (struct json_walk w = json_walk(root); json_next(&w);)
        for (int f = 0; f < FORMATS; f++)
            for (int i = 0; i < NEEDS; i++)
                has[f][i] |= formats[f]->members[i] && json_is(w.key, formats[f]->members[i]);
    for (int f = 0; f < FORMATS; f++)
        if (has[f][0] && (has[f][1] || !formats[f]->members[1]))
            return formats[f];
    return NULL;
}

// Returns what a file is that is no JSON object; NULL: it may be one.
static const char *foreign_text(const char *first, size_t length)
{
    const char *mark = file_byte_order_mark(first, length);
    return length == 0     ? "empty"
           : mark          ? mark
           : *first == '[' ? "a JSON list, not an object"
           : *first != '{' ? "neither JSON nor gzip nor xz, whatever its name says"
                           : NULL;
}

static bool finish_reading(struct recording *r, bool ok, struct recording **out)
{
    if (ok)
        *out = r;
    else
        recording_destroy(r);
    return ok;
}

static bool read_text(struct json_source *s, int task, struct recording **out, struct err *e)
{
    struct json root;
    const struct log_format *log = log_recognise(s);
    if (log) {
        struct recording *r = recording_create(s->path, log->name);
        return finish_reading(r, log_read(log, s, task, r, e), out);
    }
    if (task)
        return err_at(e, s->path, 1, "a task is chosen of a log, this is none");
    const char *first = s->text + strspn(s->text, " \t\r\n");
    const char *foreign = foreign_text(first, s->length - (size_t)(first - s->text));
    if (foreign)
        return err_at(e, s->path, 1, "not a recording: %s%s",
                      str_starts(foreign, "it ") ? "" : "it is ", foreign);
    bool is_json = json_check(s, &root, e);
    const struct format *f = is_json ? recognise(root) : NULL;
    if (!is_json)
        return false;
    bool may_be_open = false; // the file ended inside the member that may be unclosed
    for (struct json_walk w = json_walk(root); f && f->open && json_next(&w);)
        may_be_open = json_is(w.key, f->open);
    if (s->unclosed && !may_be_open)
        return err_at(e, s->path, s->unclosed, "broken JSON: the file ends early (is it cut off?)");
    if (!f) {
        struct str known = {0};
        for (int i = 0; i < FORMATS; i++)
            str_printf(&known, "%s%s", i ? ", " : "", formats[i]->what);
        str_add(&known, ", logs of AutoTVM and MetaSchedule");
        err_at(e, s->path, root.line, "not a recording (known are: %s)", str_text(&known));
        str_finish(&known);
        return false;
    }
    struct recording *r = recording_create(s->path, f->name);
    return finish_reading(r, f->read(r, root, e), out);
}

bool recording_read(const char *path, struct recording **out, struct err *e)
{
    return recording_read_task(path, 0, out, e);
}

bool recording_read_task(const char *path, int task, struct recording **out, struct err *e)
{
    struct json_source s = {.path = path};
    char *text;
    if (!unpack_file(path, &unpack_standard, &text, &s.length, e))
        return false;
    s.text = text;
    s.room = text + s.length;
    bool ok = read_text(&s, task, out, e);
    free(text);
    return ok;
}

// --- writing ---

static const struct format *const written[] = {&format_tilewalk, &format_kernel_tuner, &format_t4};

bool recording_write(const struct recording *r, const char *format, const char *path, struct err *e)
{
    struct str out = {0};
    const struct format *f = NULL;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        f = str_equal(written[i]->name, format) ? written[i] : f;
    if (!f)
        return err_set(e, "recordings are not written as '%s' (known: tilewalk, kernel-tuner, t4)",
                       format);
    if (r->count == 0)
        return err_at(e, r->path, 0, "there are only declarations: nothing to replay");
    if (f != &format_tilewalk && !str_equal(r->unit, "s"))
        return err_at(e, r->path, 0,
                      "'%s' is a format of times, and these are in %s (tilewalk's own has both)",
                      f->name, r->unit);
    if (f != &format_tilewalk && !flat_check(r, e))
        return false;
    struct json_writer w = json_begin(&out);
    f->write(r, &w);
    json_end_all(&w);
    str_add_char(&out, '\n');
    bool ok = file_write(path, str_text(&out), out.length, e);
    str_finish(&out);
    return ok;
}

// --- making a recording ---

struct recording *recording_create(const char *path, const char *format)
{
    struct recording *r = mem_zero(1, sizeof *r);
    arena_init(&r->arena);
    r->path = arena_strdup(&r->arena, path);
    // "a/gemm-RTX_3090.json.gz" -> "gemm-RTX_3090"
    static const char *const endings[] = {".gz", ".xz", ".json"};
    char *name = arena_strdup(&r->arena, path_name(path));
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(name), ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
            name[length - ending] = '\0';
    }
    r->name = name;
    r->format = arena_strdup(&r->arena, format);
    r->kernel = r->device = "";
    r->unit = "s";
    r->best = -1;
    r->median = NAN;
    r->space = space_create(r->name);
    return r;
}

void recording_destroy(struct recording *r)
{
    if (!r)
        return;
    config_set_finish(&r->configs);
    space_destroy(r->space);
    free(r->entry);
    free(r->run);
    arena_finish(&r->arena);
    free(r);
}

static int is_recorded(void *context, const struct config *c, struct err *e)
{
    const struct recording *r = context;
    (void)e;
    return config_set_find(&r->configs, c) >= 0;
}

bool recording_seal_space(struct recording *r, struct err *e)
{
    struct constraint recorded = {
        .name = "recorded", .file = r->path, .context = r, .holds = is_recorded};
    space_add_constraint(r->space, &recorded);
    r->configs.slots = r->space->slots;
    return space_seal(r->space, e);
}

void recording_add(struct recording *r, const struct config *c, const struct record_entry *entry,
                   bool *was_new)
{
    config_set_add(&r->configs, c, was_new);
    if (!*was_new)
        return;
    MEM_GROW(r->entry, r->count, r->entry_capacity);
    r->entry[r->count++] = *entry;
    // recording_finish sets the pointers to the runs, which still move.
    for (int i = 0; i < entry->run_count; i++) {
        MEM_GROW(r->run, r->run_count, r->run_capacity);
        r->run[r->run_count++] = entry->runs[i];
    }
}

bool recording_finish(struct recording *r, struct err *e)
{
    const double *next = r->run;
    for (int i = 0; i < r->count; i++) {
        struct record_entry *entry = &r->entry[i];
        entry->runs = NULL;
        if (entry->run_count) { // without runs r->run may be NULL
            entry->runs = next;
            next += entry->run_count;
        }
        r->outcomes[entry->outcome]++;
        if (entry->outcome == OUTCOME_OK &&
            (r->best < 0 || entry->seconds < r->entry[r->best].seconds))
            r->best = i;
    }
    if (r->best < 0)
        return err_at(e, r->path, 0, "none of the %d recorded configurations is valid", r->count);
    int count = 0;
    double *valid = mem_alloc((size_t)r->count * sizeof *valid);
    for (int i = 0; i < r->count; i++)
        if (r->entry[i].outcome == OUTCOME_OK)
            valid[count++] = r->entry[i].seconds;
    double median = median_of(valid, count);
    free(valid);
    r->median = median;
    return true;
}

const struct record_entry *recording_find(const struct recording *r, const struct config *c)
{
    int index = config_set_find(&r->configs, c);
    return index < 0 ? NULL : &r->entry[index];
}

struct edges {
    const struct param *p;
};

static bool record_is_edge(void *context, int i, int j)
{
    const struct param *p = ((struct edges *)context)->p;
    for (int32_t k = p->edge_start[i]; k < p->edge_start[i + 1] && p->edge[k] <= j; k++)
        if (p->edge[k] == j)
            return true;
    return false;
}

bool recording_add_params(struct recording *r, const struct space *like, struct err *e)
{
    for (int i = 0; i < like->param_count; i++) {
        const struct param *p = &like->param[i];
        struct arena *arena = &r->space->arena;
        struct edges edges = {p};
        const struct custom_graph g = {p->count, p->number, p->label, record_is_edge, &edges};
        struct param copy;
        bool ok = false;
        switch (p->kind) {
        case PARAM_FACTORIZATION:
            ok = param_factorization(&copy, arena, p->name, p->product, p->width, e);
            break;
        case PARAM_PERMUTATION:
            ok = param_permutation(&copy, arena, p->name, p->count, p->label, e);
            break;
        case PARAM_DISCRETE:
            ok = param_discrete(&copy, arena, p->name, p->count, p->number, e);
            break;
        case PARAM_CATEGORICAL:
            ok = param_categorical(&copy, arena, p->name, p->count, p->label, e);
            break;
        case PARAM_CUSTOM: ok = param_custom(&copy, arena, p->name, &g, e); break;
        }
        if (!ok || !space_add(r->space, &copy, e))
            return false;
    }
    return true;
}

bool recording_has_costs(const struct recording *r)
{
    for (int i = 0; i < r->count; i++)
        if (isfinite(r->entry[i].compile_s) || isfinite(r->entry[i].benchmark_s))
            return true;
    return false;
}

// The source of one slot of a declared parameter.
struct origin {
    const struct param *p; // of the recording; NULL: it has none, the declared one has one value
    int slot;              // of `p`
    int32_t *to; // the declared index of each of p's values, -1: none; NULL for a factorization
};

struct declared_mapping {
    const struct recording *from;
    const struct space *to;
    struct origin origin[SPACE_MAX_SLOTS];
    bool is_used[SPACE_MAX_PARAMS]; // of the recording
};

// --- names ---

// Adds a hint about the names that only `a` has: the one nearest to `name`, or all of them.
static void add_hint(const struct space *a, const struct space *b, const char *name,
                     struct str *out)
{
    const char *only[SPACE_MAX_PARAMS] = {NULL};
    size_t count = 0;
    for (int i = 0; i < a->param_count; i++)
        if (!space_find(b, a->param[i].name))
            only[count++] = a->param[i].name;
    const char *near = str_suggest_list(name, count, only);
    if (near)
        str_printf(out, " (did you mean '%s'?)", near);
    for (size_t i = 0; !near && i < count; i++)
        str_printf(out, "%s%s%s", i ? ", " : " (what is there and has no counterpart: ", only[i],
                   i + 1 < count ? "" : ")");
}

static void set_origin(struct declared_mapping *m, const struct param *to, int k,
                       const struct param *p, int slot)
{
    struct origin *o = &m->origin[to->offset + k];
    *o = (struct origin){.p = p, .slot = slot};
    m->is_used[p - m->from->space->param] = true;
    if (p->kind == PARAM_FACTORIZATION)
        return;
    o->to = mem_alloc((size_t)p->count * sizeof *o->to);
    for (int i = 0; i < p->count; i++)
        o->to[i] = find_slot(to, item_of(p, i));
}

// Maps a declared list to parameters of the recording named NAME_0 .. or NAME[0] ..
static bool map_parts(struct declared_mapping *m, const struct param *to, bool brackets, int first)
{
    const struct param *part[PARAM_MAX_WIDTH];
    for (int k = 0; k < to->width; k++) {
        struct str name = {0};
        str_printf(&name, brackets ? "%s[%d]" : "%s_%d", to->name, first + k);
        part[k] = space_find(m->from->space, str_text(&name));
        str_finish(&name);
        if (!part[k] || part[k]->width != 1)
            return false;
    }
    for (int k = 0; k < to->width; k++)
        set_origin(m, to, k, part[k], 0);
    return true;
}

static bool map_param(struct declared_mapping *m, const struct param *to, struct err *e)
{
    const struct param *p = space_find(m->from->space, to->name);
    if (p && p->width != to->width)
        return err_at(e, m->from->path, 0, "parameter '%s' has %d values at once, in space '%s' %d",
                      p->name, p->width, m->to->name, to->width);
    for (int k = 0; p && k < to->width; k++)
        set_origin(m, to, k, p, k);
    if (p || to->size == 1)
        return true;
    bool is_list = to->kind == PARAM_FACTORIZATION || to->kind == PARAM_PERMUTATION;
    if (is_list && (map_parts(m, to, false, 0) || map_parts(m, to, false, 1) ||
                    map_parts(m, to, true, 0) || map_parts(m, to, true, 1)))
        return true;
    struct str hint = {0};
    add_hint(m->from->space, m->to, to->name, &hint);
    err_at(e, m->from->path, 0, "there is no parameter '%s', which space '%s' declares%s", to->name,
           m->to->name, str_text(&hint));
    str_finish(&hint);
    return false;
}

// --- entries ---

// Fails where a parameter has no such value.
static bool move_config(const struct declared_mapping *m, int index, struct config *out,
                        struct err *e)
{
    struct config c;
    config_set_get(&m->from->configs, index, &c);
    *out = (struct config){0};
    for (int i = 0; i < m->to->param_count; i++) {
        const struct param *p = &m->to->param[i];
        const struct origin *o = &m->origin[p->offset];
        int32_t *to = out->slot + p->offset;
        if (!o->p) {
            param_value(p, 0, to);
            continue;
        }
        for (int k = 0; k < p->width; k++) {
            int32_t slot = c.slot[o[k].p->offset + o[k].slot];
            to[k] = o[k].to ? o[k].to[slot] : find_slot(p, item_of(o[k].p, slot));
        }
        if (param_valid(p, to))
            continue;
        struct str value = {0};
        for (int k = 0; k < p->width; k++) {
            str_add(&value, k ? "," : p->width > 1 ? "[" : "");
            struct item item = item_of(o[k].p, c.slot[o[k].p->offset + o[k].slot]);
            if (item.text)
                json_add_string(&value, item.text);
            else
                str_add_real(&value, item.number);
        }
        str_add(&value, p->width > 1 ? "]" : "");
        err_at(e, m->from->path, 0,
               "entry %d: parameter '%s': %s is none of its values in space '%s'", index + 1,
               p->name, str_text(&value), m->to->name);
        str_finish(&value);
        return false;
    }
    return true;
}

static bool move_entries(const struct declared_mapping *m, struct recording *out,
                         struct record_fit *fit, struct err *e)
{
    for (int i = 0; i < m->from->count; i++) {
        struct config c;
        bool was_new;
        struct verdict v = {.legal = true};
        bool is_valid = m->from->entry[i].outcome == OUTCOME_OK;
        if (!move_config(m, i, &c, e) || (is_valid && !space_judge(m->to, NULL, &c, &v, e)))
            return false;
        if (!v.legal && fit->forbidden++ == 0) {
            fit->first = i;
            memcpy(fit->reason, v.reason, sizeof fit->reason);
        }
        recording_add(out, &c, &m->from->entry[i], &was_new);
        assert(was_new); // different values stay different, and dropped parameters have one value
    }
    return recording_finish(out, e);
}

bool recording_declare(const struct recording *from, const struct space *declared,
                       struct recording **out, struct record_fit *fit, struct err *e)
{
    struct declared_mapping m = {.from = from, .to = declared};
    *fit = (struct record_fit){0};
    if (from->count == 0)
        return err_at(e, from->path, 0, "there are only declarations: nothing to put on a space");
    struct recording *r = recording_create(from->path, from->format);
    r->name = arena_strdup(&r->arena, from->name);
    r->kernel = arena_strdup(&r->arena, from->kernel);
    r->device = arena_strdup(&r->arena, from->device);
    r->unit = arena_strdup(&r->arena, from->unit);
    r->flop = from->flop;
    bool ok = true;
    for (int i = 0; ok && i < declared->param_count; i++)
        ok = map_param(&m, &declared->param[i], e);
    for (int i = 0; ok && i < from->space->param_count; i++)
        if (!m.is_used[i] && from->space->param[i].size != 1) {
            struct str hint = {0};
            add_hint(declared, from->space, from->space->param[i].name, &hint);
            ok = err_at(e, from->path, 0, "space '%s' does not declare parameter '%s'%s",
                        declared->name, from->space->param[i].name, str_text(&hint));
            str_finish(&hint);
        }
    ok = ok && recording_add_params(r, declared, e) && recording_seal_space(r, e) &&
         move_entries(&m, r, fit, e);
    for (int i = 0; i < SPACE_MAX_SLOTS; i++)
        free(m.origin[i].to);
    if (ok)
        *out = r;
    else
        recording_destroy(r);
    return ok;
}
