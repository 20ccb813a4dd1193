#include "space/space.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool config_equal(const struct config *a, const struct config *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

uint64_t config_hash(const struct config *c)
{
    return hash_bytes(c, sizeof *c);
}

void config_add_json(const struct space *s, const struct config *c, struct str *out)
{
    struct json_writer w = json_begin(out);
    for (int i = 0; i < s->param_count; i++) {
        if (!space_is_live(s, c, i))
            continue;
        json_add_name(&w, s->param[i].name);
        param_add_json(&s->param[i], c->slot + s->param[i].offset, out);
    }
    json_end(&w);
}

void config_add_key(const struct space *s, const struct config *c, struct str *out)
{
    for (int i = 0; i < s->slots; i++) {
        str_add(out, i > 0 ? "," : "");
        str_add_int(out, c->slot[i]);
    }
}

// Reads exactly `count` numbers between commas; cuts `text` up.
static bool read_slots(char *text, int count, int32_t *slot)
{
    for (int i = 0; i < count; i++) {
        char *comma = strchr(text, ',');
        if (!comma != (i == count - 1))
            return false;
        if (comma)
            *comma = '\0';
        int64_t number;
        if (!str_to_int(text, INT32_MIN, INT32_MAX, &number))
            return false;
        slot[i] = (int32_t)number;
        text = comma ? comma + 1 : NULL;
    }
    return true;
}

bool config_parse_key(const struct space *s, const char *key, struct config *out, struct err *e)
{
    *out = (struct config){0};
    char *text = mem_strdup(key);
    bool read = read_slots(text, s->slots, out->slot);
    free(text);
    if (!read)
        return err_set(e, "configuration '%s' is not %d numbers joined by commas", key, s->slots);
    for (int i = 0; i < s->param_count; i++)
        if (!param_valid(&s->param[i], out->slot + s->param[i].offset))
            return err_set(e, "configuration '%s' is not a point of space '%s': see parameter '%s'",
                           key, s->name, s->param[i].name);
    return true;
}
