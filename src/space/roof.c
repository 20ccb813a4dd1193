#include "space/roof.h"

#include "base/json.h"

#include <math.h>

#define MOST_RATE 1e18

const char *roof_name(enum roof_kind k)
{
    static const char *const names[ROOF_COUNT] = {
        "f32", "f16", "i8", "f16_matrix", "i8_matrix", "bytes", "dispatch_s",
    };
    return names[k];
}

void roof_add_json(const struct roof *r, struct str *out)
{
    struct json_writer w = json_begin(out);
    for (int k = 0; k < ROOF_COUNT; k++)
        if (r->rate[k] > 0)
            json_add_real(&w, roof_name((enum roof_kind)k), r->rate[k]);
    json_end(&w);
}

bool roof_read(struct json object, struct roof *out)
{
    struct roof r = {0};
    *out = r;
    for (int k = 0; k < ROOF_COUNT; k++) {
        struct json v = json_member(object, roof_name((enum roof_kind)k));
        if (v.at && (!json_number(v, &r.rate[k]) || !(r.rate[k] > 0 && r.rate[k] < MOST_RATE)))
            return false;
    }
    *out = r;
    return true;
}

bool roof_parse(const char *json, struct roof *out)
{
    struct json root;
    *out = (struct roof){0};
    return json && json_parse(json, &root) && json_type(root) == JSON_OBJECT &&
           roof_read(root, out);
}

// What computes with such elements, fastest first where there are several.
static enum roof_kind arithmetic(const struct roof *r, enum element e)
{
    static const enum roof_kind halves[] = {ROOF_F16_MATRIX, ROOF_F16, ROOF_F32};
    enum roof_kind best = ROOF_F32;
    if (e == ELEMENT_I8)
        return r->rate[ROOF_I8_MATRIX] > r->rate[ROOF_I8] ? ROOF_I8_MATRIX : ROOF_I8;
    for (int i = 0; e == ELEMENT_F16 && i < 3; i++)
        if (r->rate[halves[i]] > r->rate[best])
            best = halves[i];
    return best;
}

static double bytes_of(const struct operation *o, enum element *first)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor);
    double bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += (double)tensor_bytes(&tensor[i]);
    *first = count ? tensor[0].element : ELEMENT_F32;
    return bytes;
}

double roof_seconds(const struct roof *r, const struct operation *o, enum roof_kind *by)
{
    enum element first;
    double bytes = bytes_of(o, &first), rate = r->rate[ROOF_BYTES];
    enum roof_kind kind = arithmetic(r, first);
    double computing = r->rate[kind] > 0 ? operation_flop(o) / r->rate[kind] : 0;
    double moving = rate > 0 ? bytes / rate : 0;
    *by = computing >= moving ? kind : ROOF_BYTES;
    return fmax(computing, moving);
}
