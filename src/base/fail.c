#include "base/fail.h"

#include "base/shown.h"

#include <stdio.h>

int fail_with(const struct err *e, int code)
{
    char text[1400];
    struct str line = {0};
    fflush(stdout);
    shown_add(&line, err_format(e, text, sizeof text));
    fprintf(stderr, "tilewalk: %s\n", str_text(&line));
    str_finish(&line);
    return e->usage ? EXIT_USAGE : code;
}
