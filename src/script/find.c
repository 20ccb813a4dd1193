// Finds presets and networks by their names.
#include "script/network.h"
#include "script/state.h"

#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".lua"

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// A shipped folder, and its words in messages.
struct shelf {
    const char *folder, *what, *many;
};

static const struct shelf presets = {"presets", "preset", "presets"};
static const struct shelf foreign = {"presets/foreign", "preset", "presets"};
static const struct shelf networks = {"presets/networks", "network", "networks"};

static char **names_in(const struct shelf *shelf, int *count)
{
    char *folder = path_shipped(shelf->folder);
    DIR *d = folder ? opendir(folder) : NULL;
    char **names = NULL;
    int capacity = 0;
    *count = 0;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        const char *end = strrchr(entry->d_name, '.');
        if (entry->d_name[0] == '.' || !end || strcmp(end, SUFFIX) != 0)
            continue;
        MEM_GROW(names, *count, capacity);
        names[*count] = mem_strdup(entry->d_name);
        names[(*count)++][strlen(entry->d_name) - strlen(SUFFIX)] = '\0';
    }
    if (d)
        closedir(d);
    free(folder);
    if (*count > 0)
        qsort(names, (size_t)*count, sizeof *names, compare_names);
    return names;
}

static char *shipped_in(const struct shelf *shelf, const char *name)
{
    if (!*name || strchr(name, '/'))
        return NULL;
    char *file = mem_printf("%s/%s" SUFFIX, shelf->folder, name);
    char *path = path_shipped(file);
    free(file);
    return path || shelf != &presets ? path : shipped_in(&foreign, name);
}

static void free_names(char **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static void report_missing(const struct shelf *shelf, const char *name, struct err *e)
{
    int count, others;
    char **names = names_in(shelf, &count);
    const char *near = str_suggest_list(name, (size_t)count, (const char *const *)names);
    char **more = names_in(&foreign, &others);
    if (!near && shelf == &presets)
        near = str_suggest_list(name, (size_t)others, (const char *const *)more);
    char *network = shelf == &presets ? shipped_in(&networks, name) : NULL;
    struct str all = {0};
    for (int i = 0; i < count; i++)
        str_printf(&all, "%s%s", i ? ", " : "", names[i]);
    if (network)
        err_usage(e, "'%s' is a network, not a preset (tilewalk check %s)", name, name);
    else if (file_is_folder(name))
        err_usage(e, "'%s' is a folder, not a %s", name,
                  shelf == &presets ? "space file" : shelf->what);
    else if (near)
        err_usage(e, "no file and no %s '%s' (did you mean '%s'?)", shelf->what, name, near);
    else
        err_usage(e, "no file and no %s '%s' (%s: %s)", shelf->what, name, shelf->many,
                  count ? str_text(&all) : "none are installed");
    str_finish(&all);
    free(network);
    free_names(names, count);
    free_names(more, others);
}

static char *find_in(const struct shelf *shelf, const char *name, struct err *e)
{
    // A folder of this name does not hide the preset; a pipe is read like a file.
    if (file_exists(name) && !file_is_folder(name))
        return mem_strdup(name);
    char *shipped = shipped_in(shelf, name);
    if (!shipped)
        report_missing(shelf, name, e);
    return shipped;
}

char *script_find(const char *name, struct err *e)
{
    return find_in(&presets, name, e);
}

char *script_find_shipped(const char *name, struct err *e)
{
    char *shipped = shipped_in(&presets, name);
    if (!shipped)
        report_missing(&presets, name, e);
    return shipped;
}

char **script_presets(int *count)
{
    return names_in(&presets, count);
}

char **script_foreign_presets(int *count)
{
    return names_in(&foreign, count);
}

char *network_find(const char *name, struct err *e)
{
    return find_in(&networks, name, e);
}

char **network_names(int *count)
{
    return names_in(&networks, count);
}

bool network_begins(const char *text)
{
    static const char word[] = "network";
    for (;;) {
        text += strspn(text, " \t\r\n\f\v");
        if (!str_starts(text, "--"))
            break;
        if (str_starts(text, "--[[")) {
            const char *end = strstr(text, "]]");
            text = end ? end + 2 : "";
        } else {
            text += strcspn(text, "\n");
        }
    }
    return str_starts(text, word) && strspn(text + strlen(word), " \t\r\n(\"'[") > 0;
}

bool network_is(const char *name)
{
    char *text = NULL, *shipped = NULL;
    bool is = false;
    if (!file_exists(name) || file_is_folder(name))
        is = (shipped = shipped_in(&networks, name)) != NULL;
    else if (file_is_regular(name) && file_read(name, &text, NULL, NULL)) // a pipe is read once
        is = network_begins(text);
    free(text);
    free(shipped);
    return is;
}
