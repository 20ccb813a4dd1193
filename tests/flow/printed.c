#include "program.h"

#include "base/str.h"

#include <string.h>

static cJSON *keep_json(struct box *b, cJSON *value)
{
    MEM_GROW(b->json, b->jsons, b->json_capacity);
    b->json[b->jsons++] = value;
    return value;
}

static cJSON *parse(struct box *b, const char *text)
{
    const char *rest = text;
    cJSON *value = cJSON_ParseWithOpts(text, &rest, false);
    if (!value || rest[strspn(rest, " \n")] != '\0')
        fail_msg("not one JSON value: %.400s", text);
    return keep_json(b, value);
}

cJSON *json_of(struct box *b, const char *text)
{
    return parse(b, text);
}

int json_lines(struct box *b, const char *text, cJSON ***lines)
{
    int count = 0;
    size_t length = strlen(text);
    if (length && text[length - 1] != '\n')
        fail_msg("the last line is not complete: %.400s", text);
    *lines = arena_zero(&b->arena, length / 2 + 1, sizeof **lines);
    for (char *rest, *line = strtok_r(arena_strdup(&b->arena, text), "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        (*lines)[count++] = parse(b, line);
    return count;
}

cJSON *member(const cJSON *object, const char *name)
{
    cJSON *m = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!m) {
        char *text = cJSON_PrintUnformatted(object);
        fail_msg("no member '%s' in %s", name, text ? text : "nothing");
    }
    return m;
}

const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *m = member(object, name);
    if (!cJSON_IsString(m))
        fail_msg("'%s' is not a string", name);
    return m->valuestring;
}

double number_of(const cJSON *object, const char *name)
{
    const cJSON *m = member(object, name);
    if (!cJSON_IsNumber(m))
        fail_msg("'%s' is not a number", name);
    return m->valuedouble;
}

bool is_null(const cJSON *object, const char *name)
{
    return cJSON_IsNull(member(object, name));
}

int count_parts(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
}

// A busy machine may have said before that it is waiting for its drivers. Most pools of tests have
// no users, which is warned of.
static const char *past_warnings(const char *text)
{
    static const char waiting[] = "tilewalk: warning: waiting for Vulkan drivers",
                      open[] = ": there are no credentials, so that anybody may give results";
    for (const char *end; (end = strchr(text, '\n')) && end[1]; text = end + 1) {
        const char *found = strstr(text, open);
        if (!str_starts(text, waiting) && !(found && found < end))
            break;
    }
    return text;
}

void assert_one_line(const char *text)
{
    text = past_warnings(text);
    const char *end = strchr(text, '\n');
    if (!end || end == text || end[1])
        fail_msg("not exactly one line: '%s'", text);
}

void check_refused(const struct result *r, int code, const char *part, const char *other_part,
                   int line)
{
    if (r->code != code)
        fail_msg("line %d: exit code %d instead of %d: %s%s", line, r->code, code, r->out, r->err);
    assert_string_equal(r->out, "");
    assert_one_line(r->err);
    assert_true(str_starts(r->err, "tilewalk: "));
    assert_contains(r->err, part);
    if (other_part)
        assert_contains(r->err, other_part);
}

void assert_ok(const struct result *r)
{
    if (r->code != 0)
        fail_msg("exit code %d: %s", r->code, r->err);
}
