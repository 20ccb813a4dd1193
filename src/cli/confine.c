#include "cli/confine.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/common.h"
#include "engine/stored.h"
#include "trial/confine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void confine_begin(struct sandbox *s)
{
    static const char *const shipped[] = {"lua", "presets", "shaders", "docs/sample"};
    char *program = path_program();
    path_keep_home();
    char *own = path_user_data("presets");
    *s = (struct sandbox){.starts = true, .keeps_files = true};
    confine_allow_worker(s);
    sandbox_allow(s, SANDBOX_RUN, program);
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
        char *folder = path_shipped(shipped[i]);
        sandbox_allow(s, SANDBOX_READ, folder);
        free(folder);
    }
    sandbox_allow(s, SANDBOX_READ, own);
    free(own);
    free(program);
}

void confine_enter(struct sandbox *s)
{
    sandbox_enter(s); // doctor lists the parts that work here
    sandbox_finish(s);
    if (getenv("TILEWALK_ESCAPE")) // for tests
        escape_try();
}

// --- reading ---

void confine_read_space(struct sandbox *s, const char *name)
{
    struct stat info;
    if (!name || stat(name, &info) != 0 || S_ISDIR(info.st_mode))
        return; // a preset, or nothing
    char *folder = path_folder(name);
    sandbox_allow(s, SANDBOX_READ, name);
    sandbox_allow(s, SANDBOX_READ, folder);
    free(folder);
}

// Allows the folder of "--set ggml=DIR".
static void read_folder(struct sandbox *s, const char *value)
{
    if (file_is_folder(value))
        sandbox_allow(s, SANDBOX_READ, value);
}

void confine_read_settings(struct sandbox *s, const struct arguments *a)
{
    struct arena arena;
    int count;
    arena_init(&arena);
    const struct setting *set = common_settings(a, &arena, &count);
    for (int i = 0; i < count; i++)
        read_folder(s, set[i].value);
    arena_finish(&arena);
}

// Allows the recording of a --source ("replay:FILE..."). Other sources need nothing.
static void read_source(struct sandbox *s, const char *source)
{
    if (!recorded_is(source))
        return;
    char *path = mem_strdup(strchr(source, ':') + 1), *options = strstr(path, ":speed=");
    if (options)
        *options = '\0';
    sandbox_allow(s, SANDBOX_READ, path);
    free(path);
}

static void read_stored(struct sandbox *s, const char *database,
                        void (*read)(struct sandbox *s, const struct session_record *r))
{
    struct arena arena;
    struct session_record *list;
    struct err ignored; // reported where the sessions are read
    int count;
    struct store *store = file_exists(database) ? store_open(database, STORE_READ, &ignored) : NULL;
    arena_init(&arena);
    if (store && store_list_sessions(store, &arena, &list, &count, &ignored))
        for (int i = 0; i < count; i++)
            read(s, &list[i]);
    arena_finish(&arena);
    store_close(store);
}

static void read_recording(struct sandbox *s, const struct session_record *r)
{
    read_source(s, r->source);
}

// Allows the space file of a session, which may be gone for now.
static void read_session(struct sandbox *s, const struct session_record *r)
{
    char *folder = path_folder(r->path);
    if (recorded_is(r->source)) {
        read_source(s, r->source);
    } else {
        sandbox_allow(s, SANDBOX_READ, r->path);
        sandbox_allow(s, SANDBOX_READ, folder);
        struct arena arena;
        int count;
        arena_init(&arena);
        const struct setting *set = stored_settings(r->settings, &arena, &count);
        for (int i = 0; i < count; i++)
            read_folder(s, set[i].value);
        arena_finish(&arena);
    }
    free(folder);
}

void confine_read_recordings(struct sandbox *s, const char *database)
{
    read_stored(s, database, read_recording);
}

// --- writing ---

void confine_write_folder(struct sandbox *s, const char *path)
{
    char *there = path ? mem_strdup(path) : NULL;
    while (there && !file_exists(there)) {
        char *above = path_folder(there);
        free(there);
        there = above;
    }
    sandbox_allow(s, SANDBOX_WRITE, there);
    free(there);
}

void confine_write_beside(struct sandbox *s, const char *file)
{
    char *folder = file ? path_folder(file) : NULL;
    confine_write_folder(s, folder);
    free(folder);
}

// The database may be a link: its companions lie beside the linked file. Temporary files of SQLite
// do not go to the shared folders.
void confine_write_database(struct sandbox *s, const char *database)
{
    char *folder = path_folder(database), *real = realpath(database, NULL);
    confine_write_folder(s, folder);
    confine_write_beside(s, real);
    setenv("SQLITE_TMPDIR", folder, 0);
    free(folder);
    free(real);
}

void confine_stored(const struct arguments *a)
{
    struct sandbox s;
    char *database = common_database(a);
    confine_begin(&s);
    confine_write_database(&s, database);
    confine_read_recordings(&s, database);
    confine_enter(&s);
    free(database);
}

// --- tune and resume ---

// Allows the presets of all tasks of a network: a resumed network begins new ones.
static void read_tasks(struct sandbox *s, const char *database, const char *session)
{
    struct err ignored; // reported where it is resumed
    struct arena arena;
    struct task_record *task;
    int count;
    int64_t id;
    if (!session || !common_session_id(session, &id, &ignored))
        return;
    struct store *store = store_open(database, STORE_READ, &ignored);
    arena_init(&arena);
    if (store && common_take_network(store, &id, &ignored) &&
        store_get_tasks(store, id, &arena, &task, &count, &ignored))
        for (int i = 0; i < count; i++)
            confine_read_space(s, task[i].preset);
    arena_finish(&arena);
    store_close(store);
}

// Makes the folder of a file now: the folders above it will not be writable.
static void make_folder_of(const char *file)
{
    struct err ignored; // reported where the file is opened
    char *folder = path_folder(file);
    file_make_folders(folder, &ignored);
    free(folder);
}

// Takes over `file`.
static void write_beside_made(struct sandbox *s, char *file)
{
    make_folder_of(file);
    confine_write_beside(s, file);
    free(file);
}

void confine_session(const struct arguments *a)
{
    struct sandbox s;
    char *database = common_database(a);
    confine_begin(&s);
    make_folder_of(database);
    confine_write_database(&s, database);
    confine_write_folder(&s, arguments_text(a, "export"));
    confine_read_space(&s, a->operand_count ? a->operand[0] : NULL);
    confine_read_settings(&s, a);
    read_source(&s, arguments_text(a, "source"));
    confine_read_recordings(&s, database);
    // "best.json,3": numbers are sessions.
    const char *sources = arguments_text(a, "warm-start");
    char *rest, *copy = mem_strdup(sources ? sources : "");
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        sandbox_allow(&s, SANDBOX_READ, one);
    free(copy);
    // The layers of a network may name space files, which are known only when it has been run, and
    // that is too late. Each quoted text that ends in .lua is taken for one.
    const char *name = a->operand_count ? a->operand[0] : NULL;
    static const char suffix[] = ".lua", quotes[] = "\"'";
    struct stat info;
    char *text;
    if (name && stat(name, &info) == 0 && S_ISREG(info.st_mode) &&
        file_read(name, &text, NULL, NULL)) {
        confine_read_space(&s, name);
        for (char *at = strpbrk(text, quotes); at; at = strpbrk(at + 1, quotes)) {
            size_t length = strcspn(at + 1, "\"'\n"), end = sizeof suffix - 1;
            if (length <= end || strncmp(at + 1 + length - end, suffix, end) != 0)
                continue;
            char *space = mem_printf("%.*s", (int)length, at + 1);
            confine_read_space(&s, space);
            free(space);
        }
        free(text);
    }
    read_tasks(&s, database, a->operand_count ? a->operand[0] : NULL);
    if (arguments_flag(a, "detach"))
        write_beside_made(&s, path_user_state("log"));
    write_beside_made(&s, path_user_data("saved")); // should the database's folder go away
    confine_enter(&s);
    free(database);
}

// --- the workbench ---

void confine_workbench(const struct arguments *a)
{
    struct sandbox s;
    char *database = common_database(a);
    confine_begin(&s);
    make_folder_of(database);
    confine_write_database(&s, database);
    char *own = path_user_data("presets/NAME.lua"); // copies may be made later
    make_folder_of(own);
    free(own);
    confine_read_space(&s, a->operand_count ? a->operand[0] : NULL);
    read_source(&s, arguments_text(a, "source"));
    read_stored(&s, database, read_session);
    const char *home = getenv("HOME");
    char *here = realpath(".", NULL), *real = home ? realpath(home, NULL) : NULL;
    const char *top = real ? real : "/";
    size_t length = here ? strlen(here) : 0;
    bool holds_home =
        here && str_starts(top, here) && (top[length] == '/' || !top[length] || length == 1);
    if (here && !holds_home) // else all of home could be read
        sandbox_allow(&s, SANDBOX_READ, here);
    free(real);
    free(here);
    confine_enter(&s);
    free(database);
}
