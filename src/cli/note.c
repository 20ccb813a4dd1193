#include "cli/common.h"

#include <inttypes.h>
#include <stdio.h>

// It is printed in lists, and a terminal would obey what is in it.
static bool check_note(const char *text, struct err *e)
{
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return err_usage(e, "a note is one line of text, without control characters");
    return true;
}

static bool set_note(struct store *s, int64_t id, const char *text, struct err *e)
{
    if (!store_set_note(s, id, *text ? text : NULL, e))
        return false;
    if (*text)
        printf("session %" PRId64 ": %s\n", id, text);
    else
        printf("session %" PRId64 " has no note\n", id);
    return true;
}

static int run_note(const struct command *self, const struct arguments *a)
{
    struct err e;
    int64_t id;
    const char *text = a->operand[1];
    (void)self;
    if (!common_session_id(a->operand[0], &id, &e) || !check_note(text, &e))
        return fail_with(&e, EXIT_USAGE);
    struct store *s = common_open(a, STORE_WRITE, &e);
    if (!s)
        return fail_with(&e, EXIT_FAILED);
    bool ok = set_note(s, id, text, &e);
    store_close(s);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {OPTION_DB, OPTION_HELP, OPTION_END};

const struct command cmd_note = {
    .name = "note",
    .operands = "ID TEXT",
    .help = "write a note to a session, which ls and show tell; an empty one removes it",
    .least = 2,
    .most = 2,
    .options = options,
    .run = run_note,
};
