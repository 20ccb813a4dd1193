// Where the Vulkan loader looks for drivers: "Driver Discovery on Linux" and "Overriding the
// Default Driver Discovery" of docs/LoaderDriverInterface.md (Vulkan-Loader).
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "gpu/gpu.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUFFIX ".json"

struct files {
    char **path;
    int count, capacity;
};

static void add_file(struct files *f, char *path)
{
    MEM_GROW(f->path, f->count, f->capacity);
    f->path[f->count++] = path;
}

static void add_folder(struct files *f, const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        size_t length = strlen(entry->d_name), suffix = sizeof SUFFIX - 1;
        if (length > suffix && str_equal(entry->d_name + length - suffix, SUFFIX))
            add_file(f, path_join(folder, entry->d_name));
    }
    if (d)
        closedir(d);
}

static void add_file_or_folder(struct files *f, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        add_folder(f, path);
    else
        add_file(f, mem_strdup(path));
}

static void add_icd_folder(struct files *f, const char *base)
{
    char *folder = path_join(base, "vulkan/icd.d");
    add_folder(f, folder);
    free(folder);
}

// What `add` makes of each part of "a:b".
static void add_each(struct files *f, const char *list,
                     void (*add)(struct files *f, const char *path))
{
    char *rest, *text = mem_strdup(list);
    for (char *path = strtok_r(text, ":", &rest); path; path = strtok_r(NULL, ":", &rest))
        add(f, path);
    free(text);
}

static const char *value_of(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static void add_base(struct files *f, const char *variable, const char *standard)
{
    const char *value = value_of(variable);
    add_each(f, value ? value : standard, add_icd_folder);
}

static void add_home(struct files *f, const char *variable, const char *below)
{
    char *standard = path_join(value_of("HOME") ? value_of("HOME") : "", below);
    add_base(f, variable, value_of("HOME") ? standard : "");
    free(standard);
}

char **gpu_driver_files(int *count)
{
    struct files f = {0};
    const char *only = value_of("VK_DRIVER_FILES"), *added = value_of("VK_ADD_DRIVER_FILES");
    if (!only)
        only = value_of("VK_ICD_FILENAMES");
    if (only) {
        add_each(&f, only, add_file_or_folder);
    } else {
        if (added)
            add_each(&f, added, add_file_or_folder);
        add_home(&f, "XDG_CONFIG_HOME", ".config");
        add_base(&f, "XDG_CONFIG_DIRS", "/etc/xdg");
        add_icd_folder(&f, "/etc");
        add_home(&f, "XDG_DATA_HOME", ".local/share");
        add_base(&f, "XDG_DATA_DIRS", "/usr/local/share:/usr/share");
    }
    *count = f.count;
    return f.path;
}

void gpu_use_drivers(const char *files)
{
    setenv("VK_DRIVER_FILES", files, 1);
    setenv("VK_ICD_FILENAMES", files, 1); // what loaders before 1.3.207 read
}
