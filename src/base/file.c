#include "base/file.h"

#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"

#include <dirent.h>
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

const char *file_byte_order_mark(const char *bytes, size_t length)
{
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        return "it begins with a byte-order mark (save it as UTF-8 without one)";
    if (length >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return "it is UTF-16, by its byte-order mark (save it as UTF-8)";
    return NULL;
}

// --- temporary files ---
//
// The temporary neighbour of "a.json" is "a.json.PROCESS-NUMBER.tmp". Its writer holds a lock on it
// while it is open, so that one of a process that died can be told from one that is being written.

static struct flock whole_file(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

// Returns whether `name` is that of a temporary neighbour of the file `base`, of another process.
static bool is_temporary(const char *name, const char *base)
{
    size_t length = strlen(base);
    char *end;
    if (strncmp(name, base, length) != 0 || name[length] != '.')
        return false;
    long process = strtol(name + length + 1, &end, 10);
    if (end == name + length + 1 || *end != '-' || process <= 0 || process == (long)getpid())
        return false;
    const char *number = end + 1;
    return strtol(number, &end, 10) >= 0 && end > number && strcmp(end, ".tmp") == 0;
}

// Returns whether nobody writes the file: its process does not run here, nor does any hold its
// lock.
static bool is_abandoned(const char *path, const char *name, const char *base)
{
    char process[64];
    snprintf(process, sizeof process, "/proc/%ld", strtol(name + strlen(base) + 1, NULL, 10));
    int fd = file_exists(process) ? -1 : open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct flock lock = whole_file(F_WRLCK);
    bool abandoned = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
    if (fd >= 0)
        close(fd);
    return abandoned;
}

// Removes the temporary neighbours that processes left which were killed.
static void sweep(const char *path)
{
    char *folder = path_folder(path);
    const char *base = path_name(path);
    DIR *all = opendir(folder);
    for (struct dirent *one; all && (one = readdir(all));) {
        char *left = is_temporary(one->d_name, base) ? path_join(folder, one->d_name) : NULL;
        if (left && is_abandoned(left, one->d_name, base))
            unlink(left);
        free(left);
    }
    if (all)
        closedir(all);
    free(folder);
}

// Gives a path beside `path` to `make`, which makes a file there, until one is free. Returns what
// `make` did, and the path in `*temporary` (heap).
static int make_temporary(const char *path, int (*make)(int fd, const char *at), int fd,
                          char **temporary)
{
    sweep(path);
    for (int i = 0;; i++) {
        *temporary = mem_printf("%s.%ld-%d.tmp", path, (long)getpid(), i);
        int made = make(fd, *temporary);
        if (made >= 0)
            return made;
        free(*temporary);
        *temporary = NULL;
        if (errno != EEXIST || i == 1000)
            return made;
    }
}

// mkstemp would not give it the usual permissions.
static int create(int ignored, const char *at)
{
    (void)ignored;
    int fd = open(at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    struct flock lock = whole_file(F_WRLCK);
    if (fd >= 0)
        fcntl(fd, F_SETLK, &lock); // a file system without locks has no other way either
    return fd;
}

static int give_name(int fd, const char *at)
{
    return os_give_name(fd, at) ? fd : -1;
}

static int open_temporary(const char *path, char **temporary)
{
    return make_temporary(path, create, -1, temporary);
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

// Opens a file without a name, or else a temporary neighbour.
static int open_nameless(const char *path, char **temporary)
{
    char *folder = path_folder(path);
    int fd = os_open_nameless(folder);
    free(folder);
    *temporary = NULL;
    return fd >= 0 ? fd : open_temporary(path, temporary);
}

bool file_write_stream(const char *path, bool (*produce)(void *context, FILE *out), void *context,
                       struct err *e)
{
    char *temporary;
    int fd = open_nameless(path, &temporary);
    FILE *out = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!out && fd >= 0)
        close(fd);
    bool ok = out && produce(context, out);
    if (out) {
        ok = fflush(out) == 0 && !ferror(out) && fsync(fd) == 0 && ok;
        ok = ok && (temporary || make_temporary(path, give_name, fd, &temporary) >= 0);
        ok = fclose(out) == 0 && ok;
    }
    ok = ok ? file_put(path, temporary, e)
            : err_set(e, "cannot write '%s': %s", path, strerror(errno));
    if (!ok && fd >= 0 && temporary)
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

char *path_plain_name(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    struct str name = {0};
    while (*text) {
        const char *before = text;
        str_next_glyph(&text);
        str_add_char(&name, strchr(plain, *before) ? *before : '-');
    }
    if (!name.length)
        str_add_char(&name, '_');
    if (*name.text == '.' || *name.text == '-')
        *name.text = '_';
    return str_take(&name);
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

char *path_user_cache(const char *name)
{
    return user_path("XDG_CACHE_HOME", ".cache", name);
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
