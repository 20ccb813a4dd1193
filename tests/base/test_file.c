#include "group.h"
#include "wording.h"

#include "base/file.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/tilewalk-file-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char *command = mem_printf("rm -rf '%s'", folder);
    int status = system(command);
    free(command);
    return status;
}

static int count_entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(d));)
        n += entry->d_name[0] != '.';
    closedir(d);
    return n;
}

static void assert_content(const char *path, const char *expected)
{
    struct err e;
    char *text;
    size_t length;
    assert_true(file_read(path, &text, &length, &e));
    assert_int_equal(length, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

// Errors have the name, in quotes, and the system's text.
static void assert_fails(bool ok, const struct err *e, const char *name, int error)
{
    char quoted[100];
    snprintf(quoted, sizeof quoted, "'%s'", name);
    assert_false(ok);
    assert_string_equal(e->file, "");
    assert_non_null(strstr(e->text, quoted));
    if (error)
        assert_non_null(strstr(e->text, strerror(error)));
}

static void writes_and_reads_back(void **state)
{
    (void)state;
    struct err e;
    size_t size = 300 * 1000, length;
    char *bytes = mem_alloc(size), *text;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 7);
    assert_true(file_write("bytes", bytes, size, &e));
    assert_true(file_read("bytes", &text, &length, &e));
    assert_int_equal(length, size);
    assert_memory_equal(text, bytes, size);
    assert_int_equal(text[size], '\0');
    free(text);
    free(bytes);
    assert_true(file_write("bytes", "", 0, &e));
    assert_content("bytes", "");
    unlink("bytes");
}

static void new_files_have_the_usual_permissions(void **state)
{
    (void)state;
    mode_t before = umask(027);
    assert_true(file_write("mode", "x", 1, NULL));
    umask(before);
    struct stat info;
    assert_int_equal(stat("mode", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    unlink("mode");
}

// A limit on file sizes stands in for a full disk.
static void a_failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    assert_true(file_write("kept", "old", 3, NULL));
    int entries = count_entries(".");
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, 1000});
        char bytes[5000] = {0};
        struct err e;
        bool ok = file_write("kept", bytes, sizeof bytes, &e);
        _exit(!ok && strcmp(e.text, "cannot write 'kept': File too large") == 0 ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_content("kept", "old");
    assert_int_equal(count_entries("."), entries);
    unlink("kept");
}

static volatile bool writing;

static void *keep_writing(void *size_of_content)
{
    size_t size = *(size_t *)size_of_content;
    char *a = mem_alloc(size), *b = mem_alloc(size);
    memset(a, 'a', size);
    memset(b, 'b', size);
    for (int i = 0; i < 50; i++)
        if (!file_write("shared", i % 2 ? a : b, size, NULL))
            break;
    free(a);
    free(b);
    writing = false;
    return NULL;
}

static void readers_see_one_version(void **state)
{
    (void)state;
    size_t size = 200000, length;
    char *text;
    struct err e;
    assert_true(file_write("shared", "a", 1, NULL));
    pthread_t thread;
    writing = true;
    assert_int_equal(pthread_create(&thread, NULL, keep_writing, &size), 0);
    while (writing) {
        assert_true(file_read("shared", &text, &length, &e));
        assert_true(length == 1 || length == size);
        assert_null(strchr(text, text[0] == 'a' ? 'b' : 'a'));
        free(text);
    }
    pthread_join(thread, NULL);
    unlink("shared");
}

static void errors_name_the_file(void **state)
{
    (void)state;
    struct err e;
    char *text;
    assert_fails(file_read("none", &text, NULL, &e), &e, "none", ENOENT);
    wording_is("base", "file: to read", e.text);
    assert_fails(file_read("/tmp", &text, NULL, &e), &e, "/tmp", EISDIR);
    assert_fails(file_write("no/file", "x", 1, &e), &e, "no/file", ENOENT);
    assert_int_equal(mkdir("busy", 0777), 0);
    assert_fails(file_write("busy", "x", 1, &e), &e, "busy", EISDIR);
    wording_is("base", "file: to write", e.text);
    assert_int_equal(count_entries("."), 1); // no temporary left
    assert_int_equal(rmdir("busy"), 0);
}

// This runs as nobody, because permissions do not bind root, and in a child, because there is no
// way back.
static void permissions_are_errors(void **state)
{
    (void)state;
    assert_int_equal(mkdir("locked", 0555), 0);
    assert_true(file_write("secret", "x", 1, NULL));
    assert_int_equal(chmod("secret", 0), 0);
    assert_int_equal(chmod(".", 0755), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct err e;
        char *text;
        bool ok = (geteuid() != 0 || setuid(65534) == 0) && !file_write("locked/x", "x", 1, &e) &&
                  strcmp(e.text, "cannot write 'locked/x': Permission denied") == 0 &&
                  !file_read("secret", &text, NULL, &e) &&
                  strcmp(e.text, "cannot read 'secret': Permission denied") == 0 &&
                  !file_make_folders("locked/a/b", &e) &&
                  strcmp(e.text, "cannot make the folder 'locked/a': Permission denied") == 0;
        _exit(ok ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(rmdir("locked"), 0);
    unlink("secret");
}

static void a_file_that_is_too_large(void **state)
{
    (void)state;
    int fd = open("sparse", O_WRONLY | O_CREAT, 0666);
    assert_int_equal(ftruncate(fd, (off_t)300 * 1024 * 1024), 0);
    close(fd);
    struct err e;
    char *text;
    assert_fails(file_read("sparse", &text, NULL, &e), &e, "sparse", EFBIG);
    unlink("sparse");
}

static void makes_folders(void **state)
{
    (void)state;
    struct err e;
    assert_true(file_make_folders("a/b/c", &e));
    assert_true(file_make_folders("a//b/c/d/", &e));
    assert_true(file_make_folders("a", &e));
    assert_true(file_make_folders("/tmp", &e));
    assert_true(file_exists("a/b/c/d"));
    assert_true(file_write("a/file", "", 0, &e));
    assert_fails(file_make_folders("a/file", &e), &e, "a/file", 0);
    assert_fails(file_make_folders("a/file/x", &e), &e, "a/file/x", 0);
    wording_is("base", "file: a file for a folder", e.text);
}

static void a_stamp_changes_with_its_file(void **state)
{
    struct err e;
    (void)state;
    uint64_t gone = file_stamp("stamped", 0);
    assert_true(file_write("stamped", "one", 3, &e));
    uint64_t one = file_stamp("stamped", 0);
    assert_int_not_equal(one, gone);
    assert_int_equal(file_stamp("stamped", 0), one);
    assert_int_not_equal(file_stamp("stamped", 1), one);
    assert_true(file_write("stamped", "two", 3, &e)); // another file of the same length
    assert_int_not_equal(file_stamp("stamped", 0), one);
    assert_int_equal(unlink("stamped"), 0);
    assert_int_equal(file_stamp("stamped", 0), gone);
}

static void an_identity_changes_with_the_file_in_its_place(void **state)
{
    struct err e;
    (void)state;
    assert_int_equal(file_identity("identified"), 0);
    assert_true(file_write("identified", "one", 3, &e));
    uint64_t first = file_identity("identified");
    assert_int_not_equal(first, 0);
    FILE *file = fopen("identified", "a");
    assert_non_null(file);
    assert_true(fputs("more", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(file_identity("identified"), first);
    assert_true(file_write("identified", "one", 3, &e)); // while the old one is there
    assert_int_not_equal(file_identity("identified"), first);
    assert_int_equal(unlink("identified"), 0);
    assert_int_equal(file_identity("identified"), 0);
}

static void assert_taken(char *text, const char *expected)
{
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void paths(void **state)
{
    (void)state;
    assert_taken(path_join("a", "b"), "a/b");
    assert_taken(path_join("a/", "b"), "a/b");
    assert_taken(path_join("", "b"), "b");
    assert_taken(path_folder("a/b.c"), "a");
    assert_taken(path_folder("b.c"), ".");
    assert_taken(path_folder("/b.c"), "/");
    assert_taken(path_folder("/a/b/c"), "/a/b");
    assert_string_equal(path_name("a/b.c"), "b.c");
    assert_string_equal(path_name("b.c"), "b.c");
}

static void user_paths_follow_xdg(void **state)
{
    (void)state;
    setenv("HOME", "/home/u", 1);
    setenv("XDG_DATA_HOME", "/data", 1);
    setenv("XDG_STATE_HOME", "relative/is/ignored", 1);
    unsetenv("XDG_CONFIG_HOME");
    setenv("XDG_CACHE_HOME", "/cache", 1);
    assert_taken(path_user_cache("terminfo"), "/cache/tilewalk/terminfo");
    assert_taken(path_user_data("x.db"), "/data/tilewalk/x.db");
    assert_taken(path_user_state("log"), "/home/u/.local/state/tilewalk/log");
    assert_taken(path_user_config("rc"), "/home/u/.config/tilewalk/rc");
    unsetenv("HOME");
    char *path = path_user_config("rc");
    assert_true(path[0] == '/');
    free(path);
}

static void shipped_files(void **state)
{
    (void)state;
    assert_true(file_make_folders("data/presets", NULL));
    assert_true(file_write("data/presets/here.lua", "", 0, NULL));
    setenv("TILEWALK_DATA", "data", 1);
    assert_taken(path_shipped("presets/here.lua"), "data/presets/here.lua");
    assert_null(path_shipped("presets/no-such-preset.lua"));

    char *program = path_program(), *parent = path_folder(program), *source = path_folder(parent);
    char *expected = path_join(source, path_name(parent));
    assert_true(file_exists(program));
    assert_taken(path_shipped(path_name(parent)), expected); // <its folder>/.. holds that folder
    free(program);
    free(parent);
    free(source);
    free(expected);
}

// `at/bin/program shipped NAME` prints what path_shipped finds: this program, copied to where one
// would be installed.
static void installed_files_are_found_wherever_they_lie(void **state)
{
    (void)state;
    struct err e;
    char *program = path_program(), *bytes;
    size_t length;
    assert_true(file_read(program, &bytes, &length, &e));
    assert_true(file_make_folders("at/bin", &e) && file_make_folders("at/share/tilewalk/lua", &e));
    assert_true(file_write("at/bin/program", bytes, length, &e));
    assert_true(file_write("at/share/tilewalk/lua/x.lua", "", 0, &e));
    assert_int_equal(chmod("at/bin/program", 0755), 0);
    FILE *out = popen("env -u TILEWALK_DATA at/bin/program shipped lua/x.lua", "r");
    char found[1024] = "";
    assert_non_null(fgets(found, sizeof found, out));
    assert_int_equal(pclose(out), 0);
    char *expected = mem_printf("%s/at/share/tilewalk/lua/x.lua", folder);
    assert_string_equal(found, expected);
    free(expected);
    free(bytes);
    free(program);
}

// --- temporary files ---

static bool write_and_stop(void *context, FILE *out)
{
    fputs("half", out);
    fflush(out);
    close(*(int *)context); // tells that it is being written
    for (;;)
        pause();
    return false;
}

static void a_killed_writer_leaves_nothing(void **state)
{
    (void)state;
    static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP};
    assert_int_equal(mkdir("killed", 0755), 0);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        int ends[2];
        char byte;
        assert_int_equal(pipe(ends), 0);
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
            struct err e;
            close(ends[0]);
            signal(signals[i], SIG_DFL); // SIGINT, say, is ignored in the background of a shell
            _exit(!file_write_stream("killed/file", write_and_stop, &ends[1], &e));
        }
        close(ends[1]);
        assert_int_equal(read(ends[0], &byte, 1), 0);
        close(ends[0]);
        kill(pid, signals[i]);
        waitpid(pid, NULL, 0);
        assert_int_equal(count_entries("killed"), 0);
    }
}

static bool write_whole(void *context, FILE *out)
{
    return fputs(context, out) >= 0;
}

// Where a file system has no files without names, the next writer of the file removes what is left.
static void what_is_left_is_swept(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(mkdir("swept", 0755), 0);
    char *own = mem_printf("swept/file.%ld-0.tmp", (long)getppid());
    static const char *const kept[] = {"swept/file.x-0.tmp", "swept/file.12-0.tmp.mine",
                                       "swept/other.999999999-0.tmp"};
    assert_true(file_write(own, "", 0, &e)); // its process runs
    for (size_t i = 0; i < 3; i++)
        assert_true(file_write(kept[i], "", 0, &e));
    int fd = open("swept/file.999999999-0.tmp", O_WRONLY | O_CREAT, 0666);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(count_entries("swept"), 5);
    assert_true(file_write_stream("swept/file", write_whole, (char[]){"whole"}, &e));
    assert_false(file_exists("swept/file.999999999-0.tmp"));
    assert_int_equal(count_entries("swept"), 5);
    assert_content("swept/file", "whole");
    free(own);
}

static void plain_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"gemm-f32_nt.1", "gemm-f32_nt.1"},
        {"a b/c\\d", "a-b-c-d"},
        {"../x", "_.-x"},
        {"-rf $(x);", "_rf---x--"},
        {"\xc3\xa9t\xc3\xa9", "_t-"},
        {"", "_"},
        {"a\nb\xff", "a-b-"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *plain = path_plain_name(names[i][0]);
        assert_string_equal(plain, names[i][1]);
        free(plain);
    }
}

static int print_shipped(const char *name)
{
    char *path = path_shipped(name);
    printf("%s", path ? path : "nowhere");
    free(path);
    return 0;
}

TEST_COMMAND(shipped, "shipped")
{
    return argc == 3 ? print_shipped(argv[2]) : 2;
}

TEST_GROUP(file)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_reads_back),
        cmocka_unit_test(new_files_have_the_usual_permissions),
        cmocka_unit_test(a_failed_write_leaves_the_old_file),
        cmocka_unit_test(readers_see_one_version),
        cmocka_unit_test(errors_name_the_file),
        cmocka_unit_test(permissions_are_errors),
        cmocka_unit_test(a_file_that_is_too_large),
        cmocka_unit_test(makes_folders),
        cmocka_unit_test(a_stamp_changes_with_its_file),
        cmocka_unit_test(an_identity_changes_with_the_file_in_its_place),
        cmocka_unit_test(paths),
        cmocka_unit_test(user_paths_follow_xdg),
        cmocka_unit_test(shipped_files),
        cmocka_unit_test(a_killed_writer_leaves_nothing),
        cmocka_unit_test(what_is_left_is_swept),
        cmocka_unit_test(plain_names),
        cmocka_unit_test(installed_files_are_found_wherever_they_lie),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
