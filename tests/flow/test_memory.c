// An allocation of ours that fails, in each kind of process in turn: the run ends, with a line that
// says so, or goes on without that process; what is stored is right; and the same command works
// when it is run again.
//
// The first allocation fails, then each that is about sixteen times as far as the one before, until
// one is not reached. With TILEWALK_ALLOCATIONS=N each is an N-th farther than the one before, an
// eighth of N where a run takes a device.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL_TUNE "tune", "small.lua", "--strategy", "random", "--seed", "3", "--workers", "1"

enum { MOST_WORDS = 20 };

struct process {
    const char *role;
    bool needs_device;
    const char *before[MOST_WORDS]; // what is run first, where all is well
    const char *words[MOST_WORDS];
};

static const struct process processes[] = {
    {"tune", false, .words = {SMALL_TUNE, "--source", "synthetic:rugged", "--trials", "12"}},
    {"resume",
     false,
     {SMALL_TUNE, "--source", "synthetic:rugged", "--trials", "6"},
     {"resume", "1", "--trials", "12"}},
    {"agent", false,
     .words = {SMALL_TUNE, "--source", "synthetic:rugged", "--trials", "1", "--on",
               "local:", "--wait", "3"}},
    {"check", false, .words = {"check", "small.lua", "--device", "none"}},
    {"import", false, .words = {"import", "model.gguf", "--out", "model.lua", "--force"}},
    {"show",
     false,
     {SMALL_TUNE, "--source", "synthetic:rugged", "--trials", "6"},
     {"show", "1", "--trials"}},
    {"list", true, .words = {"devices"}},
    {"open", true, .words = {"doctor"}},
    {"peaks", true, .words = {"devices", "--roof"}},
    {"hello", true, .words = {SMALL_TUNE, "--trials", "3"}},
    {"compile",
     true,
     {SMALL_TUNE, "--trials", "3"},
     {"export", "1", "--out", "best", "--force", "--anyway"}},
    {"export",
     true,
     {SMALL_TUNE, "--trials", "3"},
     {"export", "1", "--out", "best", "--force", "--anyway"}},
    {"whole", true,
     .words = {"tune", "two.lua", "--strategy", "random", "--seed", "3", "--trials", "8",
               "--workers", "1"}},
};

static void prepare(struct box *b)
{
    size_t size;
    char *bytes;
    struct err e;
    char *path = path_join(getenv("TILEWALK_DATA"), "tests/fuzz/corpus/gguf/dense");
    copy_small(b);
    box_write(b, "two.lua",
              "network 'two layers'\n"
              "local function product(name, n, from)\n"
              "  return layer { name = name, preset = 'small.lua', from = from, set = { N = n } }\n"
              "end\n"
              "output(product('wide', 64, input { name = 'x', sizes = { 64, 64 } }))\n"
              "output(product('narrow', 16, input { name = 'v', sizes = { 16, 64 } }))\n");
    if (!file_read(path, &bytes, &size, &e) ||
        !file_write(box_path(b, "model.gguf"), bytes, size, &e))
        fail_msg("%s", e.text);
    free(bytes);
    free(path);
}

static bool says_so(const struct result *r)
{
    return strstr(r->err, "out of memory") || strstr(r->out, "out of memory");
}

// Only the process itself may be ended by a signal, and only by its own.
static void assert_ended(const struct process *p, const struct result *r)
{
    bool is_itself = str_equal(p->role, p->words[0]);
    if (r->code != 0 &&
        (!says_so(r) || (r->code > 128 && (!is_itself || r->code != 128 + SIGABRT))))
        fail_msg("exit code %d: %.300s", r->code, r->err);
}

// A trial that failed says why, or is lost with its machine: all kernels of these runs are right.
static void assert_stored_right(struct box *b)
{
    if (!file_exists(box_get(b, "TILEWALK_DB")) ||
        !count_rows(b, "sqlite_master", "name = 'trial'"))
        return;
    static const char other_failures[] =
        "outcome NOT IN ('ok', 'rejected', 'lost') AND outcome IS NOT NULL "
        "AND reason NOT LIKE '%out of memory%'";
    assert_int_equal(count_rows(b, "trial", other_failures), 0);
    assert_int_equal(count_rows(b, "trial", "outcome = 'ok' AND (seconds IS NULL OR seconds <= 0)"),
                     0);
}

// Returns true when the allocation was reached. The database is a new one.
static bool fails_at(struct box *b, const struct process *p, long number)
{
    const char *failing = arena_printf(&b->arena, "%s:%ld", p->role, number);
    box_set(b, "TILEWALK_DB", box_path(b, arena_printf(&b->arena, "%s.db", failing)));
    if (p->before[0]) {
        struct result r = run_list(b, p->before);
        assert_ok(&r);
    }
    print_message("# %s\n", failing);
    box_set(b, "TILEWALK_FAIL_ALLOCATION", failing);
    struct result r = run_list(b, p->words);
    box_set(b, "TILEWALK_FAIL_ALLOCATION", NULL);
    bool is_reached = says_so(&r) || r.code != 0;
    assert_ended(p, &r);
    assert_stored_right(b);
    if (is_reached && !p->needs_device) {
        r = run_list(b, p->words);
        assert_ok(&r);
    }
    return is_reached;
}

static void test_each_process(void **state)
{
    struct box *b = *state;
    prepare(b);
    assert_int_equal(chdir(b->folder), 0);
    bool device = has_device();
    const char *wanted = getenv("TILEWALK_ALLOCATIONS");
    for (size_t i = 0; i < sizeof processes / sizeof *processes; i++) {
        const struct process *p = &processes[i];
        long number = 0, reached = 0, part = wanted ? atol(wanted) / (p->needs_device ? 8 : 1) : 0;
        if (p->needs_device && !device)
            continue;
        for (; fails_at(b, p, number); reached++)
            number = part > 0 ? number + 1 + number / part : 16 * number + 15;
        assert_true(reached > 0); // the process is there
    }
}

TEST_GROUP(memory)
{
    const struct CMUnitTest tests[] = {FLOW_TEST(test_each_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
