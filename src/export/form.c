#include "export/form.h"

#include "base/json.h"
#include "engine/stored.h"
#include "export/evidence.h"

#include <inttypes.h>
#include <stdio.h>

struct former {
    struct store *store;
    struct arena arena;
    struct session_record session;
    struct script *script;
    struct ranked_trials best;
    int made;
    const char *why_not; // of the last one that has no such form
    struct str out;
    struct json_writer json; // to `out`
};

static bool load(struct former *f, int64_t id, int most, struct err *e)
{
    struct store *store = f->store;
    if (!store_get_session(store, id, &f->arena, &f->session, e))
        return false;
    if (recorded_is(f->session.source))
        return err_set(e, "session %" PRId64 " ran on a recording: there is no kernel to export",
                       id);
    if (!store_best_trials(store, id, most, &f->arena, &f->best, e))
        return false;
    if (f->best.count == 0)
        return err_set(e, "session %" PRId64 " has no valid trial to export", id);
    f->script = stored_script(store, &f->session, &f->arena, e);
    return f->script != NULL;
}

static void add_json(struct former *f, const struct trial_record *t, bool made, const char *text)
{
    json_begin_object(&f->json, NULL);
    json_add_int(&f->json, "trial", t->number);
    json_add_real(&f->json, "ms", t->seconds * 1e3);
    json_add_text(&f->json, "text", made ? text : NULL);
    json_add_text(&f->json, "why_not", made ? NULL : text);
    json_end(&f->json);
}

// How a trial was measured, and the shapes that it is for.
static bool find(struct former *f, const struct trial_record *t, struct script_found *out,
                 struct err *e)
{
    struct evidence v;
    struct str told = {0};
    if (!evidence_read(f->store, &f->session, t->ask, &f->arena, &v, e))
        return false;
    struct script_shape *shape = arena_zero(&f->arena, (size_t)v.shapes.count, sizeof *shape);
    for (int i = 0; i < v.shapes.count; i++)
        shape[i].set = stored_shape(&f->session, i, &f->arena, &shape[i].count);
    evidence_add(&v, &f->session, &told);
    *out = (struct script_found){arena_strdup(&f->arena, str_text(&told)), v.shapes.count, shape};
    str_finish(&told);
    return true;
}

static bool add(struct former *f, const struct trial_record *t, const char *form, bool json,
                struct err *e)
{
    struct config c;
    struct script_found known;
    struct str text = {0};
    if (!config_parse_key(script_space(f->script), t->key, &c, e) || !find(f, t, &known, e))
        return false;
    enum script_form found = script_export(f->script, form, &c, &known, &text, e);
    bool made = found == FORM_MADE;
    f->made += made;
    if (!made)
        f->why_not = arena_strdup(&f->arena, str_text(&text));
    if (json)
        add_json(f, t, made, str_text(&text));
    else if (made)
        str_printf(&f->out, "%s\n", str_text(&text));
    else
        str_printf(&f->out, "// trial %" PRId64 " has no such form: %s\n", t->number,
                   str_text(&text));
    str_finish(&text);
    return found != FORM_FAILED;
}

static bool print(struct former *f, const char *form, bool json, struct err *e)
{
    bool ok = true;
    f->json.out = &f->out;
    if (json) {
        json_begin_object(&f->json, NULL);
        json_add_text(&f->json, "form", form);
        json_begin_list(&f->json, "kernels");
    }
    for (int i = 0; ok && i < f->best.count; i++)
        ok = add(f, &f->best.trial[i], form, json, e);
    if (json) {
        json_end_all(&f->json);
        str_add_char(&f->out, '\n');
    }
    if (ok && f->made == 0)
        ok = err_set(e, "%s form '%s': %s%s",
                     f->best.count == 1 ? "the best trial has no" : "none of these trials has a",
                     form, f->why_not, f->best.count == 1 ? " (--best N looks at more)" : "");
    if (ok)
        fputs(str_text(&f->out), stdout);
    return ok;
}

bool export_form(struct store *store, int64_t session, const char *form, int most, bool json,
                 struct err *e)
{
    struct former f = {.store = store};
    arena_init(&f.arena);
    bool ok = load(&f, session, most, e) && print(&f, form, json, e);
    str_finish(&f.out);
    script_destroy(f.script);
    arena_finish(&f.arena);
    return ok;
}
