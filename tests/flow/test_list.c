// Lists of trials: in some order, the first few, as CSV.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void make_session(struct box *b)
{
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:rugged:invalid=0.2:seed=4",
            "--trials", "40", "--seed", "5", "--strategy", "opevo");
    assert_ok(&r);
}

static double speed_of(const cJSON *trial)
{
    return is_null(trial, "tflops") ? -1 : number_of(trial, "tflops");
}

static const cJSON *list(struct box *b, const char *const *arguments)
{
    struct result r = run_list(b, arguments);
    assert_ok(&r);
    return member(json_of(b, r.out), "trials");
}
#define LIST(b, ...) list((b), (const char *const[]){"show", "1", "--json", __VA_ARGS__, NULL})

static void test_fastest_first(void **state)
{
    struct box *b = *state;
    make_session(b);
    const cJSON *trial, *trials = LIST(b, "--sort", "speed");
    double before = 1e9;
    int slow = 0;
    assert_int_equal(cJSON_GetArraySize(trials), 40);
    cJSON_ArrayForEach(trial, trials)
    {
        assert_true(speed_of(trial) <= before);
        before = speed_of(trial);
        slow += before < 0;
    }
    assert_true(slow > 0 && slow < 40); // those that failed are at the end
    const cJSON *first = LIST(b, "--top", "3");
    assert_int_equal(cJSON_GetArraySize(first), 3);
    for (int i = 0; i < 3; i++)
        assert_true(
            cJSON_Compare(cJSON_GetArrayItem(first, i), cJSON_GetArrayItem(trials, i), true));
}

static void test_other_orders(void **state)
{
    struct box *b = *state;
    make_session(b);
    static const char *const orders[][2] = {{"number", "id"}, {"elapsed", "elapsed_s"}};
    for (size_t i = 0; i < COUNT(orders); i++) {
        const cJSON *trial, *trials = LIST(b, "--sort", orders[i][0], "--top", "25");
        double before = 0;
        assert_int_equal(cJSON_GetArraySize(trials), 25);
        cJSON_ArrayForEach(trial, trials)
        {
            assert_true(number_of(trial, orders[i][1]) >= before);
            before = number_of(trial, orders[i][1]);
        }
    }
    assert_int_equal(cJSON_GetArraySize(LIST(b, "--sort", "number", "--top", "1000")), 40);
    const cJSON *trial, *all = LIST(b, "--sort", "number", "--show-rejected");
    int rejected = 0;
    cJSON_ArrayForEach(trial, all) rejected += number_of(trial, "id") == 0;
    assert_true(rejected > 0 && cJSON_GetArraySize(all) == 40 + rejected);
}

// --top prints its rows, under a line with the names of their columns, and nothing else; --trials
// has them behind all that is known of the session.
static void test_text(void **state)
{
    struct box *b = *state;
    make_session(b);
    struct result r = RUN(b, "show", "1", "--top", "2");
    assert_ok(&r);
    assert_true(str_starts(r.out, " trial   gen  outcome "));
    int number, first;
    const char *best = strstr(RUN(b, "show", "1").out, "\nbest ");
    assert_non_null(best);
    assert_int_equal(sscanf(strstr(best, "trial "), "trial %d", &number), 1);
    const char *list = strchr(r.out, '\n') + 1;
    assert_int_equal(sscanf(list, "%d", &first), 1);
    assert_int_equal(first, number); // no race here: the fastest is the best
    const char *second = strchr(list, '\n') + 1;
    assert_ptr_equal(strchr(second, '\n'), r.out + strlen(r.out) - 1); // two lines
    assert_contains(RUN(b, "show", "1", "--trials").out, "\n\n trial   gen  outcome ");
    assert_null(strstr(RUN(b, "show", "1").out, "outcome "));
}

static void test_all_options_on_request(void **state)
{
    struct box *b = *state;
    make_session(b);
    assert_contains(RUN(b, "show", "1").out, "\nsearch   opevo  seed 5\n");
    assert_contains(RUN(b, "show", "1", "--options").out, "lambda=8 rho=8");
}

// --- CSV ---

// Returns the next field, unquoted; `*at` moves behind its end, `*end` is that character.
static const char *field(struct box *b, const char **at, char *end)
{
    char *text = arena_zero(&b->arena, strlen(*at) + 1, 1), *to = text;
    const char *c = *at;
    bool quoted = *c == '"';
    for (c += quoted; *c && (quoted || !strchr(",\r", *c)); c++) {
        if (quoted && *c == '"' && *++c != '"')
            quoted = false;
        if (!quoted && strchr(",\r", *c))
            break;
        *to++ = *c;
    }
    *end = *c;
    if (*c == '\r')
        assert_int_equal(*++c, '\n');
    *at = c + 1;
    return text;
}

static int row(struct box *b, const char **at, const char *fields[16])
{
    char end = ',';
    int n = 0;
    while (end == ',') {
        assert_true(n < 16);
        fields[n++] = field(b, at, &end);
    }
    return n;
}

static void check_row(const char *const fields[16], const cJSON *trial)
{
    bool ok = strcmp(text_of(trial, "outcome"), "ok") == 0;
    assert_float_equal(strtod(fields[0], NULL), number_of(trial, "id"), 0);
    assert_float_equal(strtod(fields[1], NULL), number_of(trial, "ask"), 0);
    assert_float_equal(strtod(fields[2], NULL), number_of(trial, "generation"), 0);
    assert_string_equal(fields[3], text_of(trial, "outcome"));
    assert_int_equal(fields[4][0] != '\0', ok);
    if (ok) {
        assert_float_equal(1e3 * strtod(fields[4], NULL), number_of(trial, "ms"), 1e-9);
        assert_float_equal(strtod(fields[5], NULL), number_of(trial, "tflops"), 0);
    }
    const cJSON *config = member(trial, "config"), *tile = member(config, "tile");
    int part[4];
    assert_int_equal(sscanf(fields[6], "%d,%d,%d,%d", part, part + 1, part + 2, part + 3), 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(part[i], cJSON_GetArrayItem(tile, i)->valueint);
    assert_float_equal(strtod(fields[7], NULL), number_of(config, "unroll"), 0);
    assert_string_equal(fields[9], text_of(config, "stage"));
    assert_string_equal(fields[10], ok ? "" : text_of(trial, "reason"));
    char *samples = cJSON_PrintUnformatted(member(trial, "samples"));
    assert_int_equal(strlen(samples), strlen(fields[11]) + 2); // without its brackets
    cJSON_free(samples);
}

static void test_csv(void **state)
{
    static const char *const names[] = {"number", "ask",     "generation",  "outcome", "seconds",
                                        "tflops", "tile",    "unroll",      "order",   "stage",
                                        "reason", "samples", "race_seconds"};
    struct box *b = *state;
    make_session(b);
    struct result r = RUN(b, "show", "1", "--csv", "--sort", "speed", "--show-rejected");
    assert_ok(&r);
    const char *at = r.out, *fields[16];
    assert_int_equal(row(b, &at, fields), COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(fields[i], names[i]);
    const cJSON *trial, *trials = LIST(b, "--sort", "speed", "--show-rejected");
    cJSON_ArrayForEach(trial, trials)
    {
        assert_int_equal(row(b, &at, fields), COUNT(names));
        check_row(fields, trial);
    }
    assert_string_equal(at, "");
}

static void test_wrong_words(void **state)
{
    struct box *b = *state;
    make_session(b);
    struct result r = RUN(b, "show", "1", "--sort", "size");
    assert_refused(&r, 2, "'size'", "elapsed");
    r = RUN(b, "show", "1", "--csv", "--json");
    assert_refused(&r, 2, "--json", "--csv");
    r = RUN(b, "show", "1", "--top", "0");
    assert_refused(&r, 2, "--top", "'0'");
}

TEST_GROUP(list)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_fastest_first), FLOW_TEST(test_other_orders),
        FLOW_TEST(test_text),          FLOW_TEST(test_csv),
        FLOW_TEST(test_wrong_words),   FLOW_TEST(test_all_options_on_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
