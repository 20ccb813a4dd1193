#include "trial/message_reader.h"

#include "base/str.h"

void reader_refuse(struct reader *r, const char *name)
{
    if (!r->bad)
        r->bad = name;
}

struct json reader_member(struct reader *r, struct json o, const char *name, enum json_type type)
{
    struct json v = json_member(o, name);
    if (json_type(v) == type)
        return v;
    reader_refuse(r, name);
    return (struct json){0};
}

struct json_walk reader_list(struct reader *r, struct json o, const char *name)
{
    return json_walk(reader_member(r, o, name, JSON_LIST));
}

double reader_number(struct reader *r, struct json o, const char *name, double low, double high)
{
    double value;
    if (json_number(json_member(o, name), &value) && value >= low && value <= high)
        return value;
    reader_refuse(r, name);
    return low;
}

uint64_t reader_count(struct reader *r, struct json o, const char *name)
{
    double value = reader_number(r, o, name, 0, 0x1p64);
    return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

int64_t reader_i64(struct reader *r, struct json o, const char *name)
{
    return (int64_t)reader_number(r, o, name, 0, 0x1p62);
}

uint32_t reader_u32(struct reader *r, struct json o, const char *name)
{
    return (uint32_t)reader_number(r, o, name, 0, UINT32_MAX);
}

bool reader_bool(struct reader *r, struct json o, const char *name)
{
    bool flag = false;
    json_flag(reader_member(r, o, name, JSON_FLAG), &flag);
    return flag;
}

const char *reader_text(struct reader *r, struct json o, const char *name)
{
    const char *text = json_text_exact(reader_member(r, o, name, JSON_TEXT), &r->arena);
    return text ? text : "";
}

int reader_array(struct reader *r, struct json o, const char *name, int most, struct bounds bounds,
                 double *out)
{
    int count = 0;
    double value;
    for (struct json_walk w = reader_list(r, o, name); json_next(&w); count++) {
        if (count == most || !json_number(w.value, &value) || value < bounds.low ||
            value > bounds.high) {
            reader_refuse(r, name);
            return count;
        }
        out[count] = value;
    }
    return count;
}

int reader_small(struct reader *r, struct json o, const char *name, int most, uint8_t *out)
{
    int count = 0;
    double value;
    for (struct json_walk w = reader_list(r, o, name); json_next(&w);) {
        if (count == most || !json_number(w.value, &value) || value < 0 || value > UINT8_MAX) {
            reader_refuse(r, name);
            return count;
        }
        out[count++] = (uint8_t)value;
    }
    return count;
}

void reader_three(struct reader *r, struct json o, const char *name, uint32_t out[3])
{
    double value[3] = {0};
    if (reader_array(r, o, name, 3, (struct bounds){0, UINT32_MAX}, value) != 3)
        reader_refuse(r, name);
    for (int i = 0; i < 3; i++)
        out[i] = (uint32_t)value[i];
}

enum trial_phase reader_phase(struct reader *r, struct json o)
{
    const char *word = reader_text(r, o, "phase");
    for (int i = 0; i < PHASE_COUNT; i++)
        if (str_equal(word, trial_phase_name((enum trial_phase)i)))
            return (enum trial_phase)i;
    reader_refuse(r, "phase");
    return PHASE_NONE;
}
