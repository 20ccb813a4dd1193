#include "help.h"

#include "base/file.h"
#include "store/db.h"

#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char *temp_path(const char *name)
{
    const char *base = getenv("TMPDIR");
    char *folder = mem_printf("%s/tilewalk-store-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0755), 0);
    char *path = path_join(folder, name);
    free(folder);
    return path;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void temp_remove(char *path)
{
    char *folder = strchr(strstr(path, "tilewalk-store-"), '/');
    *folder = '\0';
    chmod(path, 0755);
    assert_int_equal(nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
    free(path);
}

struct store *must_open(const char *path, enum store_mode mode)
{
    struct err e;
    struct store *s = store_open(path, mode, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

int64_t must_create(struct store *s, const char *name)
{
    struct err e;
    int64_t id;
    struct session_record r = {.name = name, .state = STATE_RUNNING, .seed = 1, .workers = 1};
    struct text_record texts[] = {{"space", "gemm.lua", "a"}, {"template", "gemm.comp", "b"}};
    if (!store_create_session(s, &r, texts, 2, &id, &e))
        fail_msg("%s", e.text);
    return id;
}

struct session_record must_get(struct store *s, int64_t id, struct arena *a)
{
    struct err e;
    struct session_record r;
    if (!store_get_session(s, id, a, &r, &e))
        fail_msg("%s", e.text);
    return r;
}

void must_put(struct store *s, int64_t session, int64_t ask, enum outcome outcome, double seconds)
{
    struct err e;
    struct trial_record t = {.ask = ask, .number = ask, .outcome = outcome, .seconds = seconds};
    if (!store_put_trial(s, session, &t, &e))
        fail_msg("%s", e.text);
}

int64_t count_rows(struct store *s, const char *table)
{
    char *sql = mem_printf("SELECT count(*) FROM %s", table);
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    free(sql);
    return count;
}

pid_t start_child(int (*body)(void *context), void *context)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(body(context));
    return pid;
}

int finish_child(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int in_child(int (*body)(void *context), void *context)
{
    return finish_child(start_child(body, context));
}
