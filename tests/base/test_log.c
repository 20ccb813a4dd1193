#include "group.h"

#include "base/err.h"

#include "base/file.h"
#include "base/mem.h"

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/tilewalk-log-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    close(fd);
    return fd < 0 ? -1 : 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

// Sends stderr to the file, where `lines` are logged.
static void log_into_file(void (*lines)(void))
{
    int saved = dup(STDERR_FILENO), fd = open(path, O_WRONLY | O_TRUNC | O_APPEND);
    dup2(fd, STDERR_FILENO);
    lines();
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(fd);
}

static void log_some(void)
{
    log_error("e%d", 1);
    log_warning("careful");
    log_error("a\nb\x1b[2J\x7f");
}

static void a_message_is_one_line(void **state)
{
    (void)state;
    char *text;
    log_into_file(log_some);
    assert_true(file_read(path, &text, NULL, NULL));
    assert_string_equal(text, "tilewalk: error: e1\ntilewalk: warning: careful\n"
                              "tilewalk: error: a\\nb\\x1b[2J\\x7f\n");
    free(text);
}

static void log_longer(void)
{
    char longer[5000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    log_error("%s", longer);
}

static void a_longer_one_is_cut(void **state)
{
    (void)state;
    char *text;
    log_into_file(log_longer);
    assert_true(file_read(path, &text, NULL, NULL));
    assert_true(strlen(text) > 1000 && strlen(text) < 5000);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    free(text);
}

static void *write_many(void *name)
{
    for (int i = 0; i < 200; i++)
        log_error("%s %s %s %s", (char *)name, (char *)name, (char *)name, (char *)name);
    return NULL;
}

static void log_on_threads(void)
{
    static char names[4][8] = {"aaaaaaa", "bbbbbbb", "ccccccc", "ddddddd"};
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, write_many, names[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

static void threads_do_not_mix_lines(void **state)
{
    (void)state;
    static const char head[] = "tilewalk: error: ";
    char *text;
    int n = 0;
    log_into_file(log_on_threads);
    assert_true(file_read(path, &text, NULL, NULL));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), n++) {
        assert_memory_equal(line, head, strlen(head));
        const char *word = line + strlen(head);
        assert_int_equal(strlen(word), 31);
        assert_int_equal(strspn(word, (char[]){word[0], ' ', '\0'}), 31);
    }
    assert_int_equal(n, 800);
    free(text);
}

TEST_GROUP(log)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_one_line),
        cmocka_unit_test(a_longer_one_is_cut),
        cmocka_unit_test(threads_do_not_mix_lines),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
