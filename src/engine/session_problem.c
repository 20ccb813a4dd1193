// What a session searches: the problem that its script declares.
#include "engine/session_setup.h"

#include "base/json.h"
#include "engine/attempt.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_PATIENCE_S 5 // a worker that compiles has to start

// Where a rule fails nobody knows: the configuration may be asked for, and then the rule's error is
// reported.
static bool is_legal(void *context, const struct config *c)
{
    struct verdict v;
    struct err ignored;
    return !session_judge(context, c, &v, &ignored) || v.legal;
}

static void hash_texts(const struct script *script, char out[33])
{
    int count;
    const struct script_text *text = script_texts(script, &count);
    struct str all = {0};
    for (int i = 0; i < count; i++) {
        str_add_bytes(&all, text[i].name, strlen(text[i].name) + 1);
        str_add_bytes(&all, text[i].text, strlen(text[i].text) + 1);
    }
    hash_hex(str_text(&all), all.length, out);
    str_finish(&all);
}

// Sessions that are rated by their FLOP say nothing, as those of before.
static void take_work(struct session *s)
{
    struct workload work = operation_work(script_operation(s->script));
    bool is_other = !str_equal(work.unit, WORK_FLOP);
    s->record.work = is_other ? work.amount : 0;
    s->record.unit = is_other ? work.unit : NULL;
}

bool session_take_script(struct session *s, struct script *script)
{
    s->script = script;
    if (!script)
        return false;
    s->space = script_space(script);
    s->record.flop = operation_flop(script_operation(script));
    take_work(s);
    return true;
}

bool session_make_search(struct session *s, struct err *e)
{
    struct search_problem problem = {.space = s->space,
                                     .legal = is_legal,
                                     .look = s->device.tells_statistics ? session_look : NULL,
                                     .context = s};
    s->looked.known.slots = s->looked.wanted.slots = s->space->slots;
    return session_make_strategy(s, &problem, e);
}

static char *take_in_arena(struct session *s, struct str *text)
{
    char *kept = arena_strdup(&s->arena, str_text(text));
    str_finish(text);
    return kept;
}

const char *session_path(struct session *s, const char *path)
{
    char *whole = realpath(path, NULL);
    const char *kept = arena_strdup(&s->arena, whole ? whole : path);
    free(whole);
    return kept;
}

void session_describe_problem(struct session *s)
{
    s->record.path = session_path(s, s->record.path);
    struct str text = {0};
    const struct operation *operation = script_operation(s->script);
    operation_add_text(operation, &text);
    s->record.title = take_in_arena(s, &text);
    operation_add_json(operation, &text);
    s->record.operation = take_in_arena(s, &text);
    int count;
    const struct script_setting *setting = script_settings(s->script, &count);
    struct json_writer w = json_begin(&text);
    for (int i = 0; i < count; i++)
        if (!str_equal(setting[i].value, setting[i].standard))
            (setting[i].values || setting[i].is_folder ? json_add_text : json_add_raw)(
                &w, setting[i].name, setting[i].value);
    json_end(&w);
    s->record.settings = take_in_arena(s, &text);
    char hash[33];
    hash_texts(s->script, hash);
    s->record.text_hash = arena_strdup(&s->arena, hash);
    s->record.name = s->space->name;
    s->record.size = s->space->size_text;
}

// As long as one trial may compile, or as the session may run.
static double patience_s(const struct session *s)
{
    double wanted_s = s->record.budget_seconds;
    if (wanted_s <= 0 || wanted_s >= ATTEMPT_SECONDS)
        return ATTEMPT_SECONDS;
    return wanted_s > LEAST_PATIENCE_S ? wanted_s : LEAST_PATIENCE_S;
}

bool session_try_template(struct session *s, struct err *e)
{
    bool needs_jobs = s->shapes ? s->device.is_known : s->source->kind->needs_jobs;
    return !needs_jobs || attempt_candidate(s->script, session_limits(s), s->record.seed, NULL,
                                            patience_s(s), e) != ATTEMPT_FAILED;
}
