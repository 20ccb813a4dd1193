// The problem of a session: its script with the batch that fits the device, or its recording; and
// its strategy with its warm start and training set.

#include "engine/session.h"

#include "base/json.h"
#include "engine/session_shapes.h"
#include "space/objective.h"
#include "trial/operator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- the batch ---
//
// The papers' operators were made for large GPUs. Where a device cannot hold one, or would need
// more than about a second for a run, a size called `batch` is reduced to its largest divisor that
// is feasible: factorizations of a divisor are of the same kind. A batch that the user gives stays
// as it is. The record has both, so that the session is resumed with the reduced size.

#define BATCH         "batch"
#define MOST_DIVISORS 1536 // of a size, which is below 2^31

// Reads the script with a batch of this size; NULL: the size that the options have.
static struct script *read_batch(struct session *s, const struct session_options *o,
                                 const char *batch, struct err *e)
{
    struct setting *set = arena_zero(&s->arena, (size_t)o->set_count + 1, sizeof *set);
    int count = 0;
    for (; count < o->set_count; count++)
        set[count] = o->set[count];
    if (batch)
        set[count++] = (struct setting){BATCH, arena_strdup(&s->arena, batch)};
    if (o->like) {
        struct session_record from = s->record; // on our device
        from.id = o->like;
        return stored_script_set(s->store.db, &from, set, count, &s->arena, e);
    }
    struct script_options script = {
        .path = s->record.path,
        .set = set,
        .set_count = count,
        .device_type = s->record.device_type,
        .limits = backend_limits(&s->backend),
    };
    return script_create(&script, e);
}

// Returns true if the device can run the operation; else `why` gets the reasons.
static bool is_feasible(const struct session *s, const struct script *script, struct str *why)
{
    const struct operation *operation = script_operation(script);
    struct operator_layout layout = operator_layout(operation);
    const char *type = s->record.device_type;
    // Poor configurations do so much in about a second: a trial runs a kernel several times, and
    // few kernels of a search are good ones.
    double flop = operation_flop(operation), most = str_equal(type, "cpu")          ? 1e9
                                                    : str_equal(type, "integrated") ? 1e11
                                                                                    : 1e12;
    uint64_t bytes = 0, limit = s->backend.device.limits.buffer_bytes;
    for (int i = 0; i < layout.count; i++)
        if (layout.buffer[i].bytes > bytes)
            bytes = layout.buffer[i].bytes;
    str_finish(why);
    if (bytes > limit)
        str_printf(why, "a buffer of %.4g MB, this device takes %.4g", (double)bytes / 1e6,
                   (double)limit / 1e6);
    if (flop > most)
        str_printf(why, "%s%.4g GFLOP a run, about a second's worth here is %.4g",
                   why->length ? "; " : "", flop / 1e9, most / 1e9);
    return why->length == 0;
}

// Returns the script with the first divisor that is feasible, else with a batch of 1. Consumes
// `declared`.
static struct script *reduce(struct session *s, const struct session_options *o,
                             struct script *declared, int64_t batch, struct err *e)
{
    char text[24];
    struct str why = {0}, json = {0}, ignored = {0};
    struct script *reduced = NULL;
    int64_t divisor[MOST_DIVISORS], low = 2; // all but the batch itself, largest first
    int count = 0;
    if (batch == 1 || is_feasible(s, declared, &why))
        return declared;
    for (; low * low <= batch; low++)
        if (batch % low == 0)
            divisor[count++] = batch / low;
    while (--low >= 1)
        if (batch % low == 0 && batch / low != low && low != batch)
            divisor[count++] = low;
    for (int i = 0; i < count; i++) {
        script_destroy(reduced);
        snprintf(text, sizeof text, "%" PRId64, divisor[i]);
        reduced = read_batch(s, o, text, e);
        if (!reduced || is_feasible(s, reduced, &ignored))
            break;
    }
    operation_add_json(script_operation(declared), &json);
    s->record.declared = arena_strdup(&s->arena, str_text(&json));
    s->record.reduced = arena_printf(&s->arena, BATCH " %" PRId64 " reduced to %s: %s", batch, text,
                                     str_text(&why));
    str_finish(&ignored);
    str_finish(&json);
    str_finish(&why);
    script_destroy(declared);
    return reduced;
}

// Reads the script of a new session. Beforehand, `reduced` of the record is that of the session
// that this one is like, if there is one.
static struct script *read_script(struct session *s, const struct session_options *o, struct err *e)
{
    const char *before = s->record.reduced;
    int64_t batch = 0;
    bool is_given = false;
    for (int i = o->listed; i < o->set_count; i++)
        is_given |= str_equal(o->set[i].name, BATCH);
    if (!is_given && before && sscanf(before, BATCH " %" SCNd64, &batch) != 1)
        batch = 0;
    s->record.reduced = NULL;
    struct script *script =
        read_batch(s, o, batch ? arena_printf(&s->arena, "%" PRId64, batch) : NULL, e);
    const struct script_setting *setting = script ? script_find_setting(script, BATCH) : NULL;
    if (!setting || !setting->is_whole || !s->backend.device.is_known || is_given)
        return script;
    bool was_given = o->like && !batch && !str_equal(setting->value, setting->standard);
    if (was_given || !str_to_int(setting->value, 1, INT32_MAX, &batch))
        return script;
    return reduce(s, o, script, batch, e);
}

// --- the scripts of several shapes ---

// Returns the options of a shape's script: the session's, where it has one shape.
static struct session_options shape_options(struct session *s, const struct session_options *o,
                                            int i)
{
    struct session_options one = *o;
    const struct session_shape *shape = s->backend.shapes ? &s->backend.shapes->of[i] : NULL;
    if (!shape)
        return one;
    one.set_count = o->set_count + shape->set_count;
    struct setting *set = arena_zero(&s->arena, (size_t)one.set_count, sizeof *set);
    for (int k = 0; k < one.set_count; k++)
        set[k] = k < o->set_count ? o->set[k] : shape->set[k - o->set_count];
    one.set = set;
    return one;
}

// Checks that the space of a shape has the parameters and values of the first one's.
static bool check_space(const struct session *s, const struct session_shape *shape, struct err *e)
{
    const struct space *first = s->space, *own = script_space(shape->script);
    for (int i = 0; i < first->param_count || i < own->param_count; i++) {
        const struct param *a = &first->param[i], *b = &own->param[i];
        bool same = i < first->param_count && i < own->param_count && str_equal(a->name, b->name) &&
                    a->kind == b->kind && a->width == b->width && a->product == b->product &&
                    a->when == b->when;
        if (same) {
            struct str of_a = {0}, of_b = {0};
            param_add_listed_json(a, &of_a);
            param_add_listed_json(b, &of_b);
            same = str_equal(str_text(&of_a), str_text(&of_b));
            str_finish(&of_a);
            str_finish(&of_b);
        }
        if (!same)
            return err_set(e,
                           "--shape %s: parameter '%s' has other values than with %s: no "
                           "configuration is the same on both (values that follow from sizes, as "
                           "those of factors(M, 3))",
                           shape->name, i < first->param_count ? a->name : b->name,
                           s->backend.shapes->of[0].name);
    }
    return true;
}

// Reads the scripts of all shapes but the first, which the session has. Its FLOP become those of
// all shapes, by weight. `o` NULL: of a session that goes on.
static bool read_shapes(struct session *s, const struct session_options *o, struct err *e)
{
    struct session_shapes *all = s->backend.shapes;
    struct session_record *r = &s->record;
    if (!all)
        return true;
    all->of[0].script = s->backend.script;
    if (all->goal.by_worst && !s->space->baseline_count)
        return err_usage(e, "--by worst: '%s' declares no baseline, to which the worst is a ratio",
                         s->space->name);
    for (int i = 1; i < all->goal.count; i++) {
        struct session_shape *shape = &all->of[i];
        struct session_options own = {0};
        if (o)
            own = shape_options(s, o, i);
        shape->script =
            o ? read_script(s, &own, e)
              : stored_script_set(s->store.db, r, shape->set, shape->set_count, &s->arena, e);
        if (!shape->script)
            return err_prefix(e, "--shape %s", shape->name);
        if (!check_space(s, shape, e))
            return false;
        if (r->reduced)
            return err_set(e, "--shape %s: %s (say the batch of each shape)", shape->name,
                           r->reduced);
    }
    r->flop = r->work = 0;
    for (int i = 0; i < all->goal.count; i++) {
        const struct operation *operation = script_operation(all->of[i].script);
        r->flop += all->goal.weight[i] * operation_flop(operation);
        r->work += r->unit ? all->goal.weight[i] * operation_work(operation).amount : 0;
    }
    return true;
}

// --- what is stored of it ---

static bool take_script(struct session *s, struct script *script)
{
    struct session_record *r = &s->record;
    s->backend.script = script;
    if (!script)
        return false;
    s->space = s->backend.space = s->log.space = script_space(script);
    r->flop = operation_flop(script_operation(script));
    struct objective o;
    if (script_objective(script))
        r->objective = script_objective(script);
    objective_parse(r->objective, &o);
    // Sessions whose speed is FLOP/s store no unit, like older ones.
    struct workload work = operation_work(script_operation(script));
    bool is_other = !str_equal(work.unit, WORK_FLOP);
    r->work = is_other ? work.amount : 0;
    r->unit = is_other ? work.unit : NULL;
    if (o.kind == OBJECTIVE_ENERGY || o.kind == OBJECTIVE_EDP) {
        r->work = 1; // costs are no rate of its work
        r->unit = o.unit;
    }
    return true;
}

const char *session_path(struct session *s, const char *path)
{
    char *whole = realpath(path, NULL);
    const char *kept = arena_strdup(&s->arena, whole ? whole : path);
    free(whole);
    return kept;
}

// Copies a text into the session's arena and empties it.
static char *keep(struct session *s, struct str *text)
{
    char *kept = arena_strdup(&s->arena, str_text(text));
    str_finish(text);
    return kept;
}

bool session_find_script(struct session *s, const struct session_options *o, struct err *e)
{
    struct session_options first = shape_options(s, o, 0);
    struct session_record *r = &s->record;
    if (!take_script(s, read_script(s, &first, e)) || !read_shapes(s, o, e))
        return false;
    const struct script *script = s->backend.script;
    if (r->objective && s->backend.shapes)
        return err_usage(e, "--shape: times of several shapes are added, and the objective is %s",
                         r->objective);
    if (script_objective(script) && s->backend.device.is_known)
        return err_usage(e,
                         "'%s' has no kernel, and says %s: which program measures? (--source "
                         "run:COMMAND)",
                         s->space->name, r->objective);
    const struct operation *operation = script_operation(script);
    struct str text = {0};
    char hash[33];
    int count;
    r->path = session_path(s, r->path);
    r->name = s->space->name;
    r->size = s->space->size_text;
    operation_add_text(operation, &text);
    r->title = keep(s, &text);
    operation_add_json(operation, &text);
    r->operation = keep(s, &text);
    const struct script_setting *setting = script_settings(script, &count);
    struct json_writer w = json_begin(&text);
    for (int i = 0; i < count; i++)
        if (!str_equal(setting[i].value, setting[i].standard))
            (setting[i].values || setting[i].is_folder ? json_add_text : json_add_raw)(
                &w, setting[i].name, setting[i].value);
    json_end(&w);
    r->settings = keep(s, &text);
    const struct script_text *file = script_texts(script, &count);
    for (int i = 0; i < count; i++) {
        str_add_bytes(&text, file[i].name, strlen(file[i].name) + 1);
        str_add_bytes(&text, file[i].text, strlen(file[i].text) + 1);
    }
    hash_hex(str_text(&text), text.length, hash);
    str_finish(&text);
    r->text_hash = arena_strdup(&s->arena, hash);
    if (s->backend.shapes) {
        int length = (int)strlen(r->operation) - 1; // without the bracket
        r->operation =
            arena_printf(&s->arena, "%.*s,\"shapes\":%s}", length, r->operation, r->shapes);
        r->title = arena_printf(&s->arena, "%s and %d other shapes", r->title,
                                s->backend.shapes->goal.count - 1);
    }
    return !s->backend.device.is_known || operator_fits(operation, &s->backend.device.limits, e);
}

// --- the strategy ---
//
// It begins with configurations that are known to be good and, for a model, the results of other
// sessions. Both are chosen once, when the session is made, and stored with it, so that it is
// resumed with the same ones, whatever became of their sources.

static bool choose_history(struct session *s, struct err *e)
{
    struct beginning *b = &s->beginning;
    const struct transfer *t = &b->transfer;
    struct str text = {0};
    int64_t results = 0;
    b->wish.record = &s->record;
    b->wish.space = s->space;
    if (!transfer_choose(s->store.db, &b->wish, &s->arena, &b->transfer, e))
        return false;
    transfer_add_text(t, &text);
    s->record.history = t->count ? arena_strdup(&s->arena, str_text(&text)) : NULL;
    str_finish(&text);
    for (int i = 0; i < t->count; i++)
        results += t->history[i].count;
    if (t->count)
        b->transferred = arena_printf(
            &s->arena, "the model begins with %" PRId64 " results of %d other session%s%s", results,
            t->count, t->count == 1 ? "" : "s",
            b->wish.is_default ? " on this device (--transfer none: with nothing)" : "");
    else if (str_equal(b->wish.wanted, "auto") && !b->wish.is_default)
        b->transferred = "no earlier session is like this one: the model begins with nothing";
    return true;
}

static bool give_history(struct session *s, struct search_problem *problem, struct err *e)
{
    struct beginning *b = &s->beginning;
    struct transfer_wish *wish = &b->wish;
    enum strategy_learns learns = strategy_learns(s->record.strategy);
    if (learns == LEARNS_NOTHING) {
        // The user who asked for a transfer gets a message, and the request must be valid all the
        // same.
        s->record.history = NULL;
        if (wish->wanted && !wish->is_default && !str_equal(wish->wanted, "none"))
            b->transferred =
                arena_printf(&s->arena, "strategy '%.*s' learns nothing from other sessions",
                             (int)strcspn(s->record.strategy, ":"), s->record.strategy);
        return transfer_check(s->store.db, wish->wanted, &s->arena, e);
    }
    if (wish->is_default && learns != LEARNS_WEIGHED)
        wish->wanted = NULL;
    wish->any_device = learns == LEARNS_WEIGHED && !wish->is_default;
    if (learns == LEARNS_WEIGHED && !wish->wanted && wish->earlier)
        wish->wanted = "none"; // in a network only where it was asked for
    if (!(wish->wanted || wish->earlier
              ? choose_history(s, e)
              : transfer_parse(s->store.db, s->record.history, &s->arena, &b->transfer, e)))
        return false;
    problem->history = b->transfer.history;
    problem->history_count = b->transfer.count;
    return true;
}

static bool choose_warm(struct session *s, const struct search_problem *problem, struct err *e)
{
    struct beginning *b = &s->beginning;
    struct warm_start *warm = &b->begun_with;
    struct str text = {0};
    if (!b->warm_from && !b->is_standard)
        return warm_parse(s->space, s->record.warm, &s->arena, warm, e);
    if (str_equal(b->warm_from, WARM_NONE))
        return true;
    if (b->is_standard)
        warm_take_standard(problem, b->on_device, &s->arena, warm);
    else if (!warm_read(s->store.db, b->warm_from, problem, &s->arena, warm, e))
        return false;
    if (!warm->count && !warm->skipped)
        return true;
    warm_add_keys(s->space, warm, &text);
    s->record.warm = warm->count ? keep(s, &text) : NULL;
    const char *of = b->warm_from;
    if (b->is_standard)
        of = s->space->beginning_count ? s->space->beginning[0].name : WARM_BASELINE;
    str_printf(&text, "warm start: begins with %d configuration%s of %s", warm->count,
               warm->count == 1 ? "" : "s", of);
    if (warm->skipped)
        str_printf(&text, ", %d skipped that cannot run here", warm->skipped);
    if (warm->moved)
        str_printf(&text, ", %d moved to the nearest here", warm->moved);
    if (warm->left_out)
        str_printf(&text, ", %d left out that nothing here is like", warm->left_out);
    b->warm = keep(s, &text);
    return true;
}

static bool choose_guesses(struct session *s, const struct search_problem *problem, struct err *e)
{
    struct beginning *b = &s->beginning;
    struct warm_start *guesses = &b->guesses;
    struct str text = {0};
    if (!b->guesses_from)
        return warm_parse(s->space, s->record.guesses, &s->arena, guesses, e);
    if (!strategy_takes_guesses(s->record.strategy))
        return err_usage(e,
                         "--seed-from: strategy '%.*s' has no model to tell good guesses from bad "
                         "ones (walk does, or begin with them: --warm-start)",
                         (int)strcspn(s->record.strategy, ":"), s->record.strategy);
    if (!guesses_read(b->guesses_from, problem, &s->arena, guesses, e))
        return false;
    warm_add_keys(s->space, guesses, &text);
    s->record.guesses = keep(s, &text);
    str_printf(&text, "guesses: %d configuration%s", guesses->count,
               guesses->count == 1 ? "" : "s");
    if (guesses->moved)
        str_printf(&text, ", %d moved to the nearest legal one", guesses->moved);
    if (guesses->left_out)
        str_printf(&text, ", %d left out that nothing here is like", guesses->left_out);
    b->guessed = keep(s, &text);
    return true;
}

// A recorded configuration is legal. A rule of a script may fail: the configuration may be asked
// for then, and the rule's error is reported.
static bool session_is_legal(void *context, const struct config *c)
{
    const struct session *s = context;
    const struct recording *r = s->backend.recorded.recording;
    struct verdict v;
    struct err ignored;
    return r ? recording_find(r, c) != NULL
             : !backend_judge(&s->backend, c, &v, &ignored) || v.legal;
}

static void session_draw_recorded(void *context, struct rng *rng, struct config *out)
{
    const struct session *s = context;
    recorded_draw(s->backend.recorded.recording, rng, out);
}

// Where hardly a point is legal, the rules of all shapes are made a structure of the legal ones. A
// stored session draws as it did when it was new.
static bool open_legal(struct session *s, bool is_new, struct err *e)
{
    const struct session_shapes *shapes = s->backend.shapes;
    const struct limits *l = backend_limits(&s->backend);
    bool sparse = s->record.draws != NULL;
    if (!is_new && !sparse)
        return true;
    s->legal = legal_create(s->space, l);
    for (int i = 1; shapes && i < shapes->goal.count; i++)
        legal_add(s->legal, script_space(shapes->of[i].script), l);
    bool ok = legal_is_sparse(s->legal, is_new ? &sparse : &(bool){false}, e);
    // In an easy space a rule that fails ends the session when a trial meets it.
    ok = ok ? !sparse || legal_build(s->legal, e) : is_new && !sparse;
    if (!ok || !sparse) {
        legal_destroy(s->legal);
        s->legal = NULL;
    }
    s->record.draws = sparse ? DRAWS_LEGAL : NULL;
    return ok;
}

static bool make_strategy(struct session *s, bool is_new, struct err *e)
{
    struct cycle *c = &s->cycle;
    const struct recording *r = s->backend.recorded.recording;
    struct search_problem problem = {.space = s->space,
                                     .legal = session_is_legal,
                                     .draw =
                                         r && recorded_is_sparse(r) ? session_draw_recorded : NULL,
                                     .context = s};
    if (!r && !open_legal(s, is_new, e))
        return false;
    problem.sparse = s->legal;
    if (!r && s->backend.device.tells_statistics)
        problem.probe = session_probe;
    s->probes.known.slots = s->probes.wanted.slots = s->space->slots;
    if (!choose_warm(s, &problem, e))
        return false;
    problem.warm = s->beginning.begun_with.config;
    problem.warm_count = s->beginning.begun_with.count;
    if (!choose_guesses(s, &problem, e))
        return false;
    problem.guess = s->beginning.guesses.config;
    problem.guess_count = s->beginning.guesses.count;
    if (!give_history(s, &problem, e))
        return false;
    c->strategy = strategy_create(s->record.strategy, &problem, s->record.seed, e);
    c->work = s->record.flop;
    c->unit = 1e12;
    c->count_rejected = s->record.count_rejected;
    return c->strategy != NULL;
}

bool session_find_problem(struct session *s, const struct session_options *o,
                          const struct backend_choice *c, struct err *e)
{
    if (s->backend.recorded.recording) {
        recorded_describe(&s->backend.recorded, &s->arena, &s->record);
        s->space = s->backend.space = s->log.space = s->backend.recorded.recording->space;
    } else if (o) {
        backend_describe(&s->backend, c, &s->arena, &s->record);
        if (!session_find_script(s, o, e))
            return false;
    } else if (!take_script(s, stored_script(s->store.db, &s->record, &s->arena, e)) ||
               !session_shapes_parse(s, e) || !read_shapes(s, NULL, e)) {
        return false;
    }
    return make_strategy(s, o != NULL, e);
}
