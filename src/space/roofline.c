#include "space/roofline.h"

#include "base/json.h"

#include <math.h>

#define MOST_RATE 1e18

const char *roofline_name(enum roofline_kind k)
{
    static const char *const names[ROOFLINE_COUNT] = {
        "f32",         "f16",       "i8",    "f16_matrix", "i8_matrix",
        "bf16_matrix", "f8_matrix", "bytes", "dispatch_s",
    };
    return names[k];
}

void roofline_add_json(const struct roofline *r, struct str *out)
{
    struct json_writer w = json_begin(out);
    for (int k = 0; k < ROOFLINE_COUNT; k++)
        if (r->rate[k] > 0)
            json_add_real(&w, roofline_name((enum roofline_kind)k), r->rate[k]);
    json_end(&w);
}

bool roofline_read(struct json object, struct roofline *out)
{
    struct roofline r = {0};
    *out = r;
    for (int k = 0; k < ROOFLINE_COUNT; k++) {
        struct json v = json_member(object, roofline_name((enum roofline_kind)k));
        if (v.at && (!json_number(v, &r.rate[k]) || !(r.rate[k] > 0 && r.rate[k] < MOST_RATE)))
            return false;
    }
    *out = r;
    return true;
}

bool roofline_parse(const char *json, struct roofline *out)
{
    struct json root;
    *out = (struct roofline){0};
    return json && json_parse(json, &root) && json_type(root) == JSON_OBJECT &&
           roofline_read(root, out);
}

bool roofline_has_matrix_units(const struct roofline *r)
{
    const double *rate = r->rate, least = 1.2; // units are 2 (RDNA3) to 16 times as fast
    double ordinary = fmax(rate[ROOFLINE_F32], rate[ROOFLINE_F16]);
    return rate[ROOFLINE_F16_MATRIX] <= 0 || rate[ROOFLINE_F16_MATRIX] >= least * ordinary;
}

const char *roofline_note(const struct roofline *r, enum roofline_kind k)
{
    bool is_matrix = k >= ROOFLINE_F16_MATRIX && k <= ROOFLINE_F8_MATRIX;
    return is_matrix && !roofline_has_matrix_units(r) ? " (emulated)" : "";
}

double roofline_seconds(const struct roofline *r, const struct operation *o, enum roofline_kind *by)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor);
    double bytes = 0, rate = r->rate[ROOFLINE_BYTES];
    for (int i = 0; i < count; i++)
        bytes += (double)tensor_bytes(&tensor[i]);
    // The fastest arithmetic for elements of the type counts.
    static const enum roofline_kind faster[ELEMENT_COUNT][2] = {
        [ELEMENT_F16] = {ROOFLINE_F16_MATRIX, ROOFLINE_F16},
        [ELEMENT_I8] = {ROOFLINE_I8_MATRIX, ROOFLINE_I8},
        [ELEMENT_U8] = {ROOFLINE_I8_MATRIX, ROOFLINE_I8},
        [ELEMENT_BF16] = {ROOFLINE_BF16_MATRIX},
        [ELEMENT_F8E4M3] = {ROOFLINE_F8_MATRIX},
        [ELEMENT_F8E5M2] = {ROOFLINE_F8_MATRIX},
    };
    enum element e = count ? tensor[operation_blocks(o) ? 1 : 0].element : ELEMENT_F32;
    bool is_byte = e == ELEMENT_I8 || e == ELEMENT_U8;
    enum roofline_kind kind = is_byte ? ROOFLINE_I8 : ROOFLINE_F32;
    for (int i = 0; i < 2; i++)
        if (r->rate[faster[e][i]] > r->rate[kind])
            kind = faster[e][i];
    double computing = r->rate[kind] > 0 ? operation_flop(o) / r->rate[kind] : 0;
    double moving = rate > 0 ? bytes / rate : 0;
    *by = computing >= moving ? kind : ROOFLINE_BYTES;
    return fmax(computing, moving);
}
