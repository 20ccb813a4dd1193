#include "space/matrix.h"

#include <stdio.h>
#include <string.h>

static const char *const names[MATRIX_API_COUNT] = {"none", "nv", "khr"};

const char *matrix_api_name(enum matrix_api api)
{
    return names[api];
}

static bool same_shape(const struct matrix_shape *a, const struct matrix_shape *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && str_equal(a->input, b->input) &&
           str_equal(a->sum, b->sum);
}

void matrix_units_add(struct matrix_units *u, const struct matrix_shape *s)
{
    for (int i = 0; i < u->count; i++)
        if (same_shape(&u->shape[i], s))
            return;
    if (u->count < MATRIX_MAX_SHAPES)
        u->shape[u->count++] = *s;
}

static void add_shape(const struct matrix_shape *s, char between, struct str *out)
{
    str_printf(out, "%dx%dx%d%c%s%c%s", s->m, s->n, s->k, between, s->input, between, s->sum);
}

void matrix_shape_add_text(const struct matrix_shape *s, struct str *out)
{
    add_shape(s, ' ', out);
}

void matrix_units_add_text(const struct matrix_units *u, struct str *out)
{
    str_add(out, names[u->api]);
    for (int i = 0; i < u->count; i++) {
        str_add_char(out, ' ');
        add_shape(&u->shape[i], '.', out);
    }
}

// Steps over the shape at `*text`, and the blank before it.
static bool parse_shape(const char **text, struct matrix_shape *s)
{
    unsigned m, n, k;
    int length = 0;
    if (sscanf(*text, " %5ux%5ux%5u.%3[fi0-9].%3[fi0-9]%n", &m, &n, &k, s->input, s->sum,
               &length) != 5 ||
        m == 0 || n == 0 || k == 0 || (m | n | k) > UINT16_MAX)
        return false;
    s->m = (uint16_t)m;
    s->n = (uint16_t)n;
    s->k = (uint16_t)k;
    *text += length;
    return **text == ' ' || **text == '\0';
}

bool matrix_units_parse(const char *text, struct matrix_units *out)
{
    struct matrix_units u = {0};
    size_t length = strcspn(text, " ");
    int api = 0;
    while (api < MATRIX_API_COUNT &&
           (strlen(names[api]) != length || memcmp(text, names[api], length) != 0))
        api++;
    if (api == MATRIX_API_COUNT)
        return false;
    u.api = (enum matrix_api)api;
    for (text += length; *text;) {
        struct matrix_shape s = {0};
        if (!parse_shape(&text, &s))
            return false;
        matrix_units_add(&u, &s);
    }
    if ((u.api == MATRIX_NONE) != (u.count == 0))
        return false;
    *out = u;
    return true;
}
