#include "filter_op.h"

#include "base/str.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

size_t op_read(const char *text, enum term_op *op)
{
    // Longer ones first, so that <= is not < and =.
    static const struct {
        const char *text;
        enum term_op op;
    } ops[] = {{"!=", TERM_UNEQUAL}, {"<=", TERM_AT_MOST}, {">=", TERM_AT_LEAST},
               {"==", TERM_EQUAL},   {"=", TERM_EQUAL},    {"<", TERM_LESS},
               {">", TERM_GREATER},  {"~", TERM_CONTAINS}, {":", TERM_HAS}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (str_starts(text, ops[i].text)) {
            *op = ops[i].op;
            return strlen(ops[i].text);
        }
    return 0;
}

bool op_compare(enum term_op op, double a, double b, double tolerance)
{
    bool equal = fabs(a - b) <= tolerance;
    switch (op) {
    case TERM_HAS:
    case TERM_EQUAL: return equal;
    case TERM_UNEQUAL: return !equal && !isnan(a);
    case TERM_LESS: return a < b;
    case TERM_AT_MOST: return a <= b;
    case TERM_GREATER: return a > b;
    default: return a >= b;
    }
}

enum term_op op_of_texts(enum term_op op)
{
    return op == TERM_HAS ? TERM_CONTAINS : op;
}

bool op_contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    int first = tolower((unsigned char)*part);
    for (; text && *text; text++)
        if (tolower((unsigned char)*text) == first && strncasecmp(text, part, length) == 0)
            return true;
    return length == 0;
}
