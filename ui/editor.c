#include "editor.h"

#include "base/mem.h"
#include "starter.h"
#include "term.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEANWHILE_MS 50 // between two looks at what runs beside it

const char *editor_of(const struct ui_config *c)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    if (c->editor[0])
        return c->editor;
    if (visual && *visual)
        return visual;
    return editor && *editor ? editor : "vi";
}

void editor_become(const struct ui_config *c, const char *path, int line)
{
    char place[32];
    snprintf(place, sizeof place, "+%d", line);
    // The shell takes the editor's words apart, as it does for other programs that start one.
    char *command = mem_printf("exec %s \"$@\"", editor_of(c));
    if (line > 0)
        execlp("sh", "sh", "-c", command, "sh", place, path, (char *)NULL);
    else
        execlp("sh", "sh", "-c", command, "sh", path, (char *)NULL);
    _exit(127);
}

static bool ends_well(struct child editor, void (*meanwhile)(void *context), void *context)
{
    int status;
    while (!starter_reap(&editor, &status)) {
        meanwhile(context);
        poll(NULL, 0, MEANWHILE_MS);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Ctrl-C is the editor's.
static bool edit(const char *path, int line, void (*meanwhile)(void *context), void *context)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    struct child editor = {.pid = starter_edit(path, line)};
    bool ok = editor.pid > 0 && ends_well(editor, meanwhile, context);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return ok;
}

bool editor_run(const char *path, int line, void (*meanwhile)(void *context), void *context)
{
    term_lend();
    bool ok =
        (line > 0 && edit(path, line, meanwhile, context)) || edit(path, 0, meanwhile, context);
    term_take_back();
    return ok;
}
