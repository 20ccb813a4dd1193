#include "group.h"

#include "base/mem.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void no_bytes_are_fine(void **state)
{
    (void)state;
    void *a = mem_alloc(0), *b = mem_zero(0, 8), *c = mem_resize(NULL, 0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    free(a);
    free(b);
    free(c);
}

static void grow_keeps_the_elements(void **state)
{
    (void)state;
    int *list = NULL;
    int n = 0, capacity = 0;
    for (int i = 0; i < 1000; i++) {
        MEM_GROW(list, n, capacity);
        list[n++] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(list[i], i);
    assert_true(capacity >= 1000 && capacity < 2048);
    free(list);
}

static void printf_has_no_limit(void **state)
{
    (void)state;
    char *text = mem_printf("%5000d|%s", 7, "end");
    assert_int_equal(strlen(text), 5004);
    assert_string_equal(text + 4999, "7|end");
    free(text);
}

static int hook_pipe[2];

static void say_goodbye(void)
{
    assert_int_equal(write(hook_pipe[1], "bye", 3), 3);
}

// Runs `exhaust` in a child: it must call the hook, then abort.
static void expect_exhausted(void (*exhaust)(void))
{
    assert_int_equal(pipe(hook_pipe), 0);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL); // cmocka catches it
        close(STDERR_FILENO);
        mem_on_exhausted(say_goodbye);
        exhaust();
        _exit(0);
    }
    close(hook_pipe[1]);
    char said[8] = {0};
    assert_int_equal(read(hook_pipe[0], said, sizeof said), 3);
    assert_string_equal(said, "bye");
    close(hook_pipe[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

// Allocations of another role do not count.
static void fail_third(void)
{
    setenv("TILEWALK_FAIL_ALLOCATION", "hello:2", 1);
    mem_on_exhausted(NULL);
    mem_fail_as("tune");
    for (int i = 0; i < 10; i++)
        free(mem_alloc(1));
    mem_fail_as("hello");
    free(mem_alloc(1));
    free(mem_zero(1, 1));
    mem_on_exhausted(say_goodbye);
    free(mem_alloc(1));
}

static void a_chosen_allocation_fails(void **state)
{
    (void)state;
    expect_exhausted(fail_third);
}

static volatile size_t half = SIZE_MAX / 2; // volatile: the compiler must not see the overflow

static void overflow_zero(void)
{
    free(mem_zero(half, 3));
}

static void overflow_resize(void)
{
    free(mem_resize(NULL, half, 3));
}

static void overflow_arena(void)
{
    struct arena a;
    arena_init(&a);
    arena_zero(&a, half, 3);
}

static void expect_too_much(void)
{
    mem_expect(half);
}

static void overflow_arena_rounding(void)
{
    struct arena a;
    arena_init(&a);
    arena_zero(&a, 2 * half + 1, 1);
}

static void overflow_is_out_of_memory(void **state)
{
    (void)state;
    expect_exhausted(overflow_zero);
    expect_exhausted(overflow_resize);
    expect_exhausted(overflow_arena);
    expect_exhausted(overflow_arena_rounding);
    expect_exhausted(expect_too_much);
    mem_expect(1 << 20);
}

enum { PIECES = 2000 };

// Pieces of all sizes, also larger than a block: zeroed, aligned, apart from each other.
static void fill_arena(struct arena *a)
{
    unsigned char *piece[PIECES];
    size_t size[PIECES];
    for (int i = 0; i < PIECES; i++) {
        size[i] = (size_t)(i * 37 % 301 + (i % 500 == 0 ? 40000 : 0));
        piece[i] = arena_zero(a, size[i], 1);
        assert_int_equal((uintptr_t)piece[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size[i]; k++)
            assert_int_equal(piece[i][k], 0);
        if (size[i])
            memset(piece[i], 1 + i % 255, size[i]);
    }
    for (int i = 0; i < PIECES; i++)
        for (size_t k = 0; k < size[i]; k++)
            assert_int_equal(piece[i][k], 1 + i % 255);
}

static void arena_pieces_are_apart(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    fill_arena(&a);
    arena_finish(&a);
    assert_null(a.blocks);
    fill_arena(&a);
    arena_finish(&a);
    arena_finish(&a);
}

static void arena_copies_texts(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    char text[] = "tile_n";
    char *copy = arena_strdup(&a, text), *printed = arena_printf(&a, "%s[%d]", text, 3);
    text[0] = 'x';
    assert_string_equal(copy, "tile_n");
    assert_string_equal(printed, "tile_n[3]");
    arena_finish(&a);
}

TEST_GROUP(mem)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_bytes_are_fine),         cmocka_unit_test(grow_keeps_the_elements),
        cmocka_unit_test(printf_has_no_limit),       cmocka_unit_test(a_chosen_allocation_fails),
        cmocka_unit_test(overflow_is_out_of_memory), cmocka_unit_test(arena_pieces_are_apart),
        cmocka_unit_test(arena_copies_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
