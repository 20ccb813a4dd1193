#include "base/file.h"

#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_LIMIT = 256 * 1024 * 1024, READ_STEP = 64 * 1024 };

// Reads to the end of the file, whose size need not be known (pipes, /proc). False with errno.
static bool read_all(int fd, size_t most, struct str *s)
{
    char *step = mem_alloc(READ_STEP);
    ssize_t got;
    do {
        got = read(fd, step, READ_STEP);
        if (got > 0)
            str_add_bytes(s, step, (size_t)got);
        if (s->length > most) {
            errno = EFBIG;
            got = -1;
        }
    } while (got > 0 || (got < 0 && errno == EINTR));
    free(step);
    return got == 0;
}

bool file_read(const char *path, char **text, size_t *length, struct err *e)
{
    struct str s = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && read_all(fd, READ_LIMIT, &s);
    if (!ok)
        err_set(e, "cannot read '%s': %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (!ok) {
        str_finish(&s);
        return false;
    }
    if (length)
        *length = s.length;
    *text = str_take(&s);
    return true;
}

bool file_read_below(const char *path, const char *const *folders, size_t most, char **text,
                     size_t *length, struct err *e)
{
    struct str s = {0};
    int fd = os_open_text(path, folders, e);
    if (fd < 0)
        return false;
    bool ok = read_all(fd, most, &s);
    if (!ok && errno == EFBIG)
        err_set(e, "larger than %zu KiB", most >> 10);
    else if (!ok)
        err_set(e, "%s", strerror(errno));
    close(fd);
    *length = s.length;
    *text = ok ? str_take(&s) : NULL;
    str_finish(&s);
    return ok;
}

// Opens a new file beside `path`, whose name is `*temporary` (heap). mkstemp would not give it the
// usual permissions.
static int open_temporary(const char *path, char **temporary)
{
    for (int i = 0;; i++) {
        *temporary = mem_printf("%s.%ld-%d.tmp", path, (long)getpid(), i);
        int fd = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST || i == 1000)
            return fd;
        free(*temporary);
    }
}

bool file_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

char *file_stage(const char *path, const void *bytes, size_t length, struct err *e)
{
    char *temporary;
    int fd = open_temporary(path, &temporary), error = fd < 0 ? errno : 0;
    for (size_t done = 0; !error && done < length;) {
        ssize_t put = write(fd, (const char *)bytes + done, length - done);
        if (put >= 0)
            done += (size_t)put;
        else if (errno != EINTR)
            error = errno;
    }
    if (!error && fsync(fd) != 0)
        error = errno;
    if (fd >= 0 && close(fd) != 0 && !error)
        error = errno;
    if (!error && file_is_folder(path)) // rename would fail only at the end
        error = EISDIR;
    if (!error)
        return temporary;
    err_set(e, "cannot write '%s': %s", path, strerror(error));
    if (fd >= 0)
        unlink(temporary);
    free(temporary);
    return NULL;
}

bool file_put(const char *path, const char *temporary, struct err *e)
{
    if (rename(temporary, path) != 0)
        return err_set(e, "cannot write '%s': %s", path, strerror(errno));
    // This makes the rename itself durable, on file systems that can sync a folder.
    char *folder = path_folder(path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
    return true;
}

bool file_write(const char *path, const void *bytes, size_t length, struct err *e)
{
    char *temporary = file_stage(path, bytes, length, e);
    bool ok = temporary && file_put(path, temporary, e);
    if (temporary && !ok)
        unlink(temporary);
    free(temporary);
    return ok;
}

bool file_write_stream(const char *path, bool (*produce)(void *context, FILE *out), void *context,
                       struct err *e)
{
    char *temporary;
    int fd = open_temporary(path, &temporary);
    FILE *out = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!out && fd >= 0)
        close(fd);
    bool ok = out && produce(context, out);
    if (out) {
        ok = fflush(out) == 0 && !ferror(out) && fsync(fd) == 0 && ok;
        ok = fclose(out) == 0 && ok;
    }
    ok = ok ? file_put(path, temporary, e)
            : err_set(e, "cannot write '%s': %s", path, strerror(errno));
    if (!ok && fd >= 0)
        unlink(temporary);
    free(temporary);
    return ok;
}

bool file_is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool file_make_folders(const char *path, struct err *e)
{
    char *partial = mem_strdup(path);
    bool ok = true;
    for (char *p = partial; ok && *p; p++) {
        if (p[1] != '/' && p[1] != '\0') // at the last character of a name
            continue;
        char after = p[1];
        p[1] = '\0';
        int error = mkdir(partial, 0777) == 0 ? 0 : errno;
        if (error && !file_is_folder(partial))
            ok = error == EEXIST
                     ? err_set(e, "cannot make the folder '%s': '%s' is a file", path, partial)
                     : err_set(e, "cannot make the folder '%s': %s", partial, strerror(error));
        p[1] = after;
    }
    free(partial);
    return ok;
}

uint64_t file_stamp(const char *path, uint64_t before)
{
    struct stat info;
    uint64_t part[5] = {before};
    if (stat(path, &info) == 0) {
        part[1] = (uint64_t)info.st_ino;
        part[2] = (uint64_t)info.st_size;
        part[3] = (uint64_t)info.st_mtim.tv_sec;
        part[4] = (uint64_t)info.st_mtim.tv_nsec;
    }
    return hash_bytes(part, sizeof part);
}

uint64_t file_identity(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return 0;
    const uint64_t part[] = {(uint64_t)info.st_dev, (uint64_t)info.st_ino};
    return hash_bytes(part, sizeof part);
}

char *path_join(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    bool slash = length > 0 && folder[length - 1] != '/';
    return mem_printf("%s%s%s", folder, slash ? "/" : "", name);
}

char *path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return mem_strdup(".");
    return mem_printf("%.*s", slash == path ? 1 : (int)(slash - path), path);
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_stem(const char *path)
{
    char *stem = mem_strdup(path_name(path)), *dot = strrchr(stem, '.');
    if (dot && dot > stem)
        *dot = '\0';
    return stem;
}

static const char *home(void)
{
    const char *folder = getenv("HOME");
    if (folder && folder[0])
        return folder;
    const struct passwd *user = getpwuid(getuid());
    return user ? user->pw_dir : "/";
}

void path_keep_home(void)
{
    char *folder = mem_strdup(home());
    setenv("HOME", folder, 1);
    free(folder);
}

// The XDG Base Directory Specification ignores a variable that holds no absolute path.
static char *user_path(const char *variable, const char *fallback, const char *name)
{
    const char *folder = getenv(variable);
    if (folder && folder[0] == '/')
        return mem_printf("%s/tilewalk/%s", folder, name);
    return mem_printf("%s/%s/tilewalk/%s", home(), fallback, name);
}

char *path_user_data(const char *name)
{
    return user_path("XDG_DATA_HOME", ".local/share", name);
}

char *path_user_state(const char *name)
{
    return user_path("XDG_STATE_HOME", ".local/state", name);
}

char *path_user_config(const char *name)
{
    return user_path("XDG_CONFIG_HOME", ".config", name);
}

char *path_program(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return mem_strdup(path);
}

char *path_shipped(const char *name)
{
    const char *data = getenv("TILEWALK_DATA");
    char *program = path_program(), *bin = path_folder(program), *above = path_folder(bin);
    char *share = path_join(above, "share/tilewalk");
    const char *const folders[] = {data ? data : above, above, share, TILEWALK_DATADIR};
    char *found = NULL;
    for (size_t i = 0; !found && i < sizeof folders / sizeof *folders; i++) {
        char *path = path_join(folders[i], name);
        if (file_exists(path))
            found = path;
        else
            free(path);
    }
    free(program);
    free(bin);
    free(above);
    free(share);
    return found;
}
