#include "group.h"
#include "wording.h"

#include "base/log.h"

#include "base/file.h"
#include "base/mem.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

// The log's content since the last call; the time at the head of each line is checked and cut.
static char *take_lines(char lines[][2100], int most, int *n)
{
    char *text;
    struct err e;
    assert_true(file_read(path, &text, NULL, &e));
    assert_int_equal(truncate(path, 0), 0);
    *n = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        assert_true(*n < most);
        assert_true(strlen(line) > 21 && line[10] == 'T' && line[19] == 'Z' && line[20] == ' ');
        snprintf(lines[(*n)++], 2100, "%s", line + 21);
    }
    free(text);
    return lines[0];
}

static void levels_decide(void **state)
{
    (void)state;
    char lines[8][2100];
    int n;
    assert_true(log_to_file(path, NULL));
    log_error("e%d", 1);
    log_warning("w");
    log_info("i");
    log_debug("d");
    take_lines(lines, 8, &n);
    assert_int_equal(n, 2);
    assert_string_equal(lines[0], "error: e1");
    assert_string_equal(lines[1], "warning: w");
    log_set_level(LOG_LEVEL_DEBUG);
    log_info("i");
    log_debug("d");
    log_set_level(LOG_LEVEL_ERROR);
    log_warning("w");
    take_lines(lines, 8, &n);
    assert_int_equal(n, 2);
    assert_string_equal(lines[0], "info: i");
    assert_string_equal(lines[1], "debug: d");
    log_set_level(LOG_LEVEL_WARNING);
}

static void a_message_is_one_line(void **state)
{
    (void)state;
    char lines[2][2100], longer[5000];
    int n;
    assert_true(log_to_file(path, NULL));
    log_error("a\nb\x1b[2J\x7f");
    assert_string_equal(take_lines(lines, 2, &n), "error: a\\nb\\x1b[2J\\x7f");
    assert_int_equal(n, 1);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    log_error("%s", longer);
    assert_true(strlen(take_lines(lines, 2, &n)) > 1000);
    assert_int_equal(n, 1);
}

static void goes_back_to_stderr(void **state)
{
    (void)state;
    int saved = dup(STDERR_FILENO);
    FILE *captured = tmpfile();
    assert_true(log_to_file(path, NULL));
    assert_true(log_to_file(NULL, NULL));
    dup2(fileno(captured), STDERR_FILENO);
    log_warning("careful");
    dup2(saved, STDERR_FILENO);
    close(saved);
    char text[100] = {0};
    rewind(captured);
    assert_non_null(fgets(text, sizeof text, captured));
    assert_string_equal(text, "tilewalk: warning: careful\n");
    fclose(captured);
}

static void a_log_that_cannot_be_opened(void **state)
{
    (void)state;
    struct err e;
    assert_false(log_to_file("/no/such/folder/log", &e));
    wording_is("base", "log: no folder", e.text);
}

static void *write_many(void *name)
{
    for (int i = 0; i < 200; i++)
        log_error("%s %s %s %s", (char *)name, (char *)name, (char *)name, (char *)name);
    return NULL;
}

static void threads_do_not_mix_lines(void **state)
{
    (void)state;
    static char lines[900][2100], names[4][8] = {"aaaaaaa", "bbbbbbb", "ccccccc", "ddddddd"};
    pthread_t thread[4];
    int n;
    assert_true(log_to_file(path, NULL));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, write_many, names[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    take_lines(lines, 900, &n);
    assert_int_equal(n, 800);
    for (int i = 0; i < n; i++) {
        const char *word = lines[i] + strlen("error: ");
        assert_int_equal(strlen(word), 31);
        assert_int_equal(strspn(word, (char[]){word[0], ' ', '\0'}), 31);
    }
    log_to_file(NULL, NULL);
}

TEST_GROUP(log)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_decide),
        cmocka_unit_test(a_message_is_one_line),
        cmocka_unit_test(goes_back_to_stderr),
        cmocka_unit_test(a_log_that_cannot_be_opened),
        cmocka_unit_test(threads_do_not_mix_lines),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
