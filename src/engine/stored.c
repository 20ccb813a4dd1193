#include "engine/stored.h"

#include "engine/recorded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Everything we store in this way is a flat JSON object of whole numbers and words that we wrote
// ourselves: {"N":512,"type":"f16"}.
static struct setting *parse_flat(struct arena *a, const char *json, int *count)
{
    char *rest, *text = arena_strdup(a, json ? json : "");
    struct setting *out = arena_zero(a, strlen(text) + 1, sizeof *out); // more than there can be
    *count = 0;
    for (char *name = strtok_r(text, "{}\":,", &rest); name;
         name = strtok_r(NULL, "{}\":,", &rest)) {
        char *value = strtok_r(NULL, "{}\":,", &rest);
        out[(*count)++] = (struct setting){name, value ? value : ""};
    }
    return out;
}

const char *stored_beginning(const struct session_record *r)
{
    if (r->warm)
        return r->history ? ", warm start, transfer" : ", warm start";
    return r->history ? ", transfer" : "";
}

enum { OLD_NUMBERS = 14, NUMBERS_OF_LIMITS = 15 }; // there was no i8

static void limits_to_numbers(const struct limits *l, uint64_t n[NUMBERS_OF_LIMITS])
{
    uint64_t numbers[NUMBERS_OF_LIMITS] = {
        l->invocations,    l->group_size[0],  l->group_size[1], l->group_size[2], l->group_count[0],
        l->group_count[1], l->group_count[2], l->shared_bytes,  l->buffer_bytes,  l->loop_trips,
        l->accumulators,   l->statements,     l->subgroup_size, l->f16,           l->i8,
    };
    memcpy(n, numbers, sizeof numbers);
}

static const char *const limit_keys[NUMBERS_OF_LIMITS] = {
    "invocations",   "group_size_x",  "group_size_y",  "group_size_z", "group_count_x",
    "group_count_y", "group_count_z", "shared_bytes",  "buffer_bytes", "loop_trips",
    "accumulators",  "statements",    "subgroup_size", "f16",          "i8",
};

void stored_add_limits(struct str *out, const struct limits *l)
{
    uint64_t n[NUMBERS_OF_LIMITS];
    limits_to_numbers(l, n);
    for (int i = 0; i < NUMBERS_OF_LIMITS; i++)
        str_printf(out, "%s\"%s\":%" PRIu64, i ? "," : "{", limit_keys[i], n[i]);
    str_add(out, ",\"matrix\":\"");
    matrix_units_add_text(&l->matrix, out);
    str_add(out, "\"}");
}

// Records that are older than matrix units end before them.
static bool parse_matrix(const struct setting *given, int count, int numbers,
                         struct matrix_units *out)
{
    *out = (struct matrix_units){0};
    return count == numbers ||
           (count == numbers + 1 && str_equal(given[count - 1].name, "matrix") &&
            matrix_units_parse(given[count - 1].value, out));
}

bool stored_parse_limits(const char *json, struct limits *out)
{
    int64_t n[NUMBERS_OF_LIMITS] = {0};
    struct arena a;
    int count;
    arena_init(&a);
    const struct setting *given = parse_flat(&a, json, &count);
    struct matrix_units matrix;
    bool has_i8 = count > OLD_NUMBERS && str_equal(given[OLD_NUMBERS].name, "i8");
    int numbers = has_i8 ? NUMBERS_OF_LIMITS : OLD_NUMBERS;
    bool ok = parse_matrix(given, count, numbers, &matrix);
    for (int i = 0; ok && i < numbers; i++)
        ok = str_equal(given[i].name, limit_keys[i]) &&
             str_to_int(given[i].value, 0, INT64_MAX, &n[i]);
    arena_finish(&a);
    if (!ok)
        return false;
    *out = (struct limits){
        .invocations = (uint32_t)n[0],
        .group_size = {(uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3]},
        .group_count = {(uint32_t)n[4], (uint32_t)n[5], (uint32_t)n[6]},
        .shared_bytes = (uint32_t)n[7],
        .buffer_bytes = (uint64_t)n[8],
        .loop_trips = (uint64_t)n[9],
        .accumulators = (uint32_t)n[10],
        .statements = (uint32_t)n[11],
        .subgroup_size = (uint32_t)n[12],
        .f16 = n[13] != 0,
        .i8 = n[14] != 0,
        .matrix = matrix,
    };
    return true;
}

// Stored sizes, then others: the last one of a name counts.
static const struct setting *join_sizes(struct arena *a, const char *stored,
                                        const struct setting *set, int set_count, int *count)
{
    const struct setting *first = parse_flat(a, stored, count);
    struct setting *all = arena_zero(a, (size_t)(*count + set_count) + 1, sizeof *all);
    for (int i = 0; i < *count; i++)
        all[i] = first[i];
    for (int i = 0; i < set_count; i++)
        all[(*count)++] = set[i];
    return all;
}

struct script *stored_script(struct store *store, const struct session_record *r, struct arena *a,
                             struct err *e)
{
    return stored_script_set(store, r, NULL, 0, a, e);
}

struct script *stored_script_set(struct store *store, const struct session_record *r,
                                 const struct setting *set, int set_count, struct arena *a,
                                 struct err *e)
{
    struct text_record *record;
    struct limits *limits = arena_zero(a, 1, sizeof *limits);
    int count;
    if (!store_get_texts(store, r->id, a, &record, &count, e))
        return NULL;
    struct script_text *text = arena_zero(a, (size_t)count, sizeof *text);
    for (int i = 0; i < count; i++)
        text[i] = (struct script_text){record[i].name, record[i].path, record[i].text};
    struct script_options o = {
        .path = r->path,
        .device_type = r->device_type,
        .limits = stored_parse_limits(r->limits, limits) ? limits : NULL,
        .texts = text,
        .text_count = count,
    };
    o.set = join_sizes(a, r->settings, set, set_count, &o.set_count);
    return script_create(&o, e);
}

const struct space *stored_space(struct store *store, const struct session_record *r,
                                 struct arena *a, struct script **script,
                                 struct recording **recording, struct err *e)
{
    struct recorded recorded;
    *script = NULL;
    *recording = NULL;
    if (!recorded_is(r->source)) {
        *script = stored_script(store, r, a, e);
        return *script ? script_space(*script) : NULL;
    }
    if (!recorded_open_again(r, &recorded, e))
        return NULL;
    *recording = recorded.recording;
    recorded.recording = NULL;
    recorded_finish(&recorded);
    return (*recording)->space;
}
