// Descriptor 2, captured from a pseudo terminal.
#include "group.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 120000
#define NEXT_LINE   stderr_line((char[STDERR_LINE_SIZE]){""})

static int terminal;    // our end of it
static int original_fd; // descriptor 2 of the test program

static int give_terminal(void **state)
{
    (void)state;
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        return -1;
    int other_end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    original_fd = dup(STDERR_FILENO);
    dup2(other_end, STDERR_FILENO);
    close(other_end);
    stderr_capture();
    return 0;
}

static int take_terminal(void **state)
{
    (void)state;
    stderr_release();
    dup2(original_fd, STDERR_FILENO);
    close(original_fd);
    close(terminal);
    return 0;
}

static void say(const char *text)
{
    assert_int_equal(write(STDERR_FILENO, text, strlen(text)), (int)strlen(text));
}

// What the terminal has got, at most as much as fits, once `wanted` bytes are there: the kernel
// carries them over after they were written.
static const char *on_terminal(size_t wanted)
{
    static char text[4096];
    size_t length = 0;
    struct pollfd p = {.fd = terminal, .events = POLLIN};
    while (length < sizeof text - 1 && poll(&p, 1, length < wanted ? PATIENCE_MS : 0) > 0 &&
           p.revents & POLLIN) {
        ssize_t got = read(terminal, text + length, sizeof text - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    text[length] = '\0';
    return text;
}

static void lines_are_handed_out(void **state)
{
    (void)state;
    assert_null(NEXT_LINE);
    say("first\nsec");
    assert_string_equal(NEXT_LINE, "first");
    assert_null(NEXT_LINE);
    say("ond\n\nthird\n");
    assert_string_equal(NEXT_LINE, "second");
    assert_string_equal(NEXT_LINE, "");
    assert_string_equal(NEXT_LINE, "third");
    assert_null(NEXT_LINE);
    assert_string_equal(on_terminal(0), "");
}

static void lines_cannot_steer_a_terminal(void **state)
{
    (void)state;
    say("\033[31mred\tand\rback\n");
    assert_string_equal(NEXT_LINE, " [31mred and back");
}

static void long_lines_come_in_parts(void **state)
{
    char text[1300];
    size_t length = 0;
    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof text - 2] = '\n';
    text[sizeof text - 1] = '\0';
    say(text);
    for (const char *line; (line = NEXT_LINE);)
        length += strlen(line);
    assert_int_equal(length, sizeof text - 2);
}

// A library must not hang because nobody reads.
static void writers_never_wait(void **state)
{
    char block[4096];
    int written = 0;
    (void)state;
    memset(block, '\n', sizeof block);
    while (written < 1000 && write(STDERR_FILENO, block, sizeof block) > 0)
        written++;
    assert_true(written < 1000);
    assert_true(errno == EAGAIN);
    while (NEXT_LINE)
        ;
    say("after\n");
    assert_string_equal(NEXT_LINE, "after");
}

static void what_nobody_took_reaches_the_terminal(void **state)
{
    (void)state;
    say("taken\nread, but no line yet");
    assert_string_equal(NEXT_LINE, "taken");
    say(" and its rest\n");
    stderr_release();
    assert_int_equal(stderr_fd(), -1);
    say("direct\n");
    static const char all[] = "read, but no line yet and its rest\r\ndirect\r\n";
    assert_string_equal(on_terminal(sizeof all - 1), all);
    stderr_release(); // more than once is fine
    stderr_capture();
    say("captured again\n");
    assert_string_equal(NEXT_LINE, "captured again");
}

static void what_is_no_terminal_is_left_alone(void **state)
{
    int ends[2];
    char text[16] = "";
    (void)state;
    stderr_release();
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    stderr_capture();
    assert_int_equal(stderr_fd(), -1);
    assert_null(NEXT_LINE);
    static const char said[] = "to a file";
    say(said);
    assert_int_equal(read(ends[0], text, sizeof text), 9);
    assert_string_equal(text, said);
    close(ends[0]);
    close(ends[1]);
}

TEST_GROUP(captured)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_are_handed_out, give_terminal, take_terminal),
        cmocka_unit_test_setup_teardown(lines_cannot_steer_a_terminal, give_terminal,
                                        take_terminal),
        cmocka_unit_test_setup_teardown(long_lines_come_in_parts, give_terminal, take_terminal),
        cmocka_unit_test_setup_teardown(writers_never_wait, give_terminal, take_terminal),
        cmocka_unit_test_setup_teardown(what_nobody_took_reaches_the_terminal, give_terminal,
                                        take_terminal),
        cmocka_unit_test_setup_teardown(what_is_no_terminal_is_left_alone, give_terminal,
                                        take_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
