// Sources: the kernel's Documentation/gpu/drm-usage-stats.rst and filesystems/proc.rst.
#include "gpu/gpu.h"

#include "base/file.h"
#include "base/number.h"
#include "base/str.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NAMED = 4 };

static const char *proc_folder(void)
{
    const char *set = getenv("TILEWALK_PROC");
    return set && *set ? set : "/proc";
}

static bool read_file(int64_t pid, const char *name, char **text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%" PRId64 "/%s", proc_folder(), pid, name);
    return file_read(path, text, NULL, NULL);
}

bool card_users_are_ours(int64_t pid)
{
    char *text;
    int parent = 0;
    if (pid == getpid() || pid == getppid())
        return true;
    // "PID (NAME) STATE PARENT ...", whose name may hold anything.
    if (read_file(pid, "stat", &text)) {
        const char *end = strrchr(text, ')');
        if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
            parent = 0;
        free(text);
    }
    return parent == getppid();
}

void card_users_add(const char *pci, int64_t pid, struct str *list)
{
    char line[120], *name;
    if (!read_file(pid, "comm", &name))
        return;
    snprintf(line, sizeof line, "%.32s %.*s (%" PRId64 ")", pci, (int)strcspn(name, "\n"), name,
             pid);
    free(name);
    for (char *at = line; *at; at++)
        *at = isprint((unsigned char)*at) ? *at : '?'; // the process chose it
    if (!strstr(str_text(list), line))
        str_printf(list, "%s\n", line);
}

// Adds the cards of one process: each open file of a DRM device names the card's PCI address.
static void add_cards_of(int64_t pid, struct str *list)
{
    char path[400], link[400], to[64];
    snprintf(path, sizeof path, "%s/%" PRId64 "/fd", proc_folder(), pid);
    DIR *files = opendir(path);
    for (struct dirent *one; files && (one = readdir(files));) {
        char *text, pci[33];
        snprintf(link, sizeof link, "%.300s/%.60s", path, one->d_name);
        ssize_t length = readlink(link, to, sizeof to - 1);
        to[length > 0 ? length : 0] = '\0';
        snprintf(link, sizeof link, "fdinfo/%.60s", one->d_name);
        if (!str_starts(to, "/dev/dri/") || !read_file(pid, link, &text))
            continue;
        const char *at = strstr(text, "drm-pdev:");
        if (at && sscanf(at, "drm-pdev: %32s", pci) == 1)
            card_users_add(pci, pid, list);
        free(text);
    }
    if (files)
        closedir(files);
}

char *card_users_read(void)
{
    struct str list = {0};
    DIR *all = opendir(proc_folder());
    for (struct dirent *one; all && (one = readdir(all));) {
        int64_t pid;
        if (str_to_int(one->d_name, 1, INT32_MAX, &pid) && pid != getpid())
            add_cards_of(pid, &list);
    }
    if (all)
        closedir(all);
    return str_take(&list);
}

bool card_users_name(const char *list, const char *pci, char *out, size_t size)
{
    size_t length = strlen(pci), used = 0;
    int count = 0;
    for (const char *at = list, *end; (end = strchr(at, '\n')); at = end + 1)
        if (strncmp(at, pci, length) == 0 && at[length] == ' ' && ++count <= MOST_NAMED &&
            used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", count > 1 ? ", " : "",
                                     (int)(end - at - (ptrdiff_t)length - 1), at + length + 1);
    if (count > MOST_NAMED && used < size)
        snprintf(out + used, size - used, " and %d more", count - MOST_NAMED);
    return count > 0;
}
