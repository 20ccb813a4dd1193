#include "store/history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Digits that any int64_t can hold, as they are written. Returns their end; NULL: something else.
static const char *read_number(const char *at, int64_t *out)
{
    size_t digits = strspn(at, "0123456789");
    if (digits < 1 || digits > 18 || (digits > 1 && *at == '0'))
        return NULL;
    *out = strtoll(at, NULL, 10);
    return at + digits;
}

bool history_next(const char **at, struct history_part *part)
{
    const char *end = *at ? read_number(*at, &part->session) : NULL;
    if (!end || *end != ':' || !(end = read_number(end + 1, &part->told)))
        return false;
    bool more = *end == ' ' && end[1];
    if (*end && !more)
        return false;
    *at = end + more;
    return true;
}

void history_add(struct str *text, const struct history_part *part)
{
    str_printf(text, "%s%" PRId64 ":%" PRId64, text->length ? " " : "", part->session, part->told);
}
