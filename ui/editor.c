#include "editor.h"

#include "base/mem.h"
#include "term.h"

#include <stdio.h>
#include <stdlib.h>

const char *editor_of(const struct ui_config *c)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    if (c->editor[0])
        return c->editor;
    if (visual && *visual)
        return visual;
    return editor && *editor ? editor : "vi";
}

bool editor_run(const struct ui_config *c, const char *path, int line,
                void (*meanwhile)(void *context), void *context)
{
    struct err ignored;
    char place[32];
    snprintf(place, sizeof place, "+%d", line);
    // The shell takes the editor's words apart, as it does for other programs that start one.
    char *command = mem_printf("exec %s \"$@\"", editor_of(c));
    const char *at_line[] = {"sh", "-c", command, "sh", place, path, NULL};
    const char *anywhere[] = {"sh", "-c", command, "sh", path, NULL};
    bool ok = (line > 0 && term_run(at_line, meanwhile, context, &ignored)) ||
              term_run(anywhere, meanwhile, context, &ignored);
    free(command);
    return ok;
}
