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

// A shipped folder, that of the user's own, and its words in messages.
struct shelf {
    const char *folder, *own, *what, *many;
};

#define OWN "presets"
static const struct shelf presets = {"presets", OWN, "preset", "presets"};
static const struct shelf foreign = {"presets/foreign", OWN, "preset", "presets"};
static const struct shelf networks = {"presets/networks", OWN "/networks", "network", "networks"};

// Lists a folder, whose path it frees.
static char **names_in_folder(char *folder, int *count)
{
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

static char **names_in(const struct shelf *shelf, int *count)
{
    return names_in_folder(path_shipped(shelf->folder), count);
}

static char *own_in(const struct shelf *shelf, const char *name)
{
    if (!*name || strchr(name, '/'))
        return NULL;
    char *file = mem_printf("%s/%s" SUFFIX, shelf->own, name), *path = path_user_data(file);
    free(file);
    if (file_is_regular(path))
        return path;
    free(path);
    return NULL;
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
    char *own = own_in(shelf, name);
    if (own)
        return own;
    char *shipped = shipped_in(shelf, name);
    if (!shipped)
        report_missing(shelf, name, e);
    return shipped;
}

char *script_find(const char *name, struct err *e)
{
    return find_in(&presets, name, e);
}

static char *find_shipped_in(const struct shelf *shelf, const char *name, struct err *e)
{
    char *shipped = shipped_in(shelf, name);
    if (!shipped)
        report_missing(shelf, name, e);
    return shipped;
}

char *script_find_shipped(const char *name, struct err *e)
{
    return find_shipped_in(&presets, name, e);
}

char *network_find_shipped(const char *name, struct err *e)
{
    return find_shipped_in(&networks, name, e);
}

char *script_find_own(const char *name)
{
    char *own = own_in(&presets, name);
    return own ? own : own_in(&networks, name);
}

bool script_is_shipped(const char *path, char **copy)
{
    static const char *const folders[] = {"presets", "shaders", "lua"};
    static const char foreign_folder[] = "foreign/";
    bool is = false;
    *copy = NULL;
    for (int i = 0; i < 3 && !is; i++) {
        char *folder = path_shipped(folders[i]);
        size_t length = folder ? strlen(folder) : 0;
        is = folder && str_starts(path, folder) && path[length] == '/';
        free(folder);
        if (!is || i == 2) // what is in lua/ belongs to no preset
            continue;
        const char *rest = path + length + 1;
        rest += str_starts(rest, foreign_folder) ? strlen(foreign_folder) : 0;
        char *file = mem_printf(OWN "/%s", rest);
        *copy = path_user_data(file);
        free(file);
    }
    return is;
}

char **script_own_presets(int *count)
{
    return names_in_folder(path_user_data(OWN), count);
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
        is = (shipped = own_in(&networks, name)) || (shipped = shipped_in(&networks, name));
    else if (file_is_regular(name) && file_read(name, &text, NULL, NULL)) // a pipe is read once
        is = network_begins(text);
    free(text);
    free(shipped);
    return is;
}
