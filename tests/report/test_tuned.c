// The reader of tables for other programs (tilewalk_tuned.h): which entry is nearest, and which
// tables it refuses.
#include "group.h"

#include "export/reader/tilewalk_tuned.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"

#include <math.h>
#include <pthread.h>

struct made {
    int64_t size[3]; // N, M, K
    const char *device, *driver, *identity;
    const char *passes; // JSON
    double tflops;
};

#define SMALL "{\"local_size\": [64, 1, 1], \"shared_bytes\": 1024, \"needs\": []}"
#define LARGE "{\"local_size\": [64, 16, 1], \"shared_bytes\": 49152, \"needs\": [\"f16\"]}"

static void add(struct str *out, const struct made *m)
{
    str_printf(out,
               "%s{\"problem\": {\"kind\": \"matmul\", \"N\": %d, \"M\": %d, \"K\": %d, \"type\": "
               "\"f32\"},\n \"configuration\": {\"p\": %d}, \"device\": \"%s\", \"driver\": "
               "\"%s\", \"device_identity\": \"%s\",\n \"passes\": [%s], \"timing\": {\"ms\": 1, "
               "\"tflops\": %g}}",
               out->length ? ",\n" : "", (int)m->size[0], (int)m->size[1], (int)m->size[2],
               (int)m->size[0], m->device, m->driver, m->identity, m->passes ? m->passes : "",
               m->tflops > 0 ? m->tflops : 1);
}

#define HEAD "{\"format\": \"tilewalk-table\", \"version\": 1, \"entries\": ["

static struct tilewalk_tuned read_of(const struct str *entries)
{
    struct tilewalk_tuned t;
    char why[160];
    char *text = mem_printf("%s%s]}\n", HEAD, str_text(entries));
    if (!tilewalk_tuned_read(&t, text, strlen(text), why, sizeof why))
        fail_msg("%s", why);
    free(text);
    return t;
}

static struct tilewalk_found find(const struct tilewalk_tuned *t, const int64_t size[3],
                                  const struct tilewalk_device *d)
{
    const struct tilewalk_member m[] = {
        {"type", "f32", 0}, {"N", NULL, size[0]}, {"M", NULL, size[1]}, {"K", NULL, size[2]}};
    return tilewalk_tuned_find(t, "matmul", m, 4, d, "{}");
}

static const struct tilewalk_device card = {
    "Card 1", "Maker, 1.0", {1024, {1024, 1024, 64}, 32768, 0, 0, 0}};
static const int64_t cube[3] = {64, 64, 64};

// The likest device comes first, then the nearest shape; never another vendor's.
static void test_devices(void **state)
{
    (void)state;
    static const struct made devices[] = {
        {{64, 64, 64}, "Card 9", "Other, 1", "card-9", SMALL, 1},
        {{65, 64, 64}, "Card 2", "Maker, 7", "card-2-unknown", NULL, 1},
        {{66, 64, 64}, "Card 2", "Maker, 7", "card-2", SMALL, 1},
        {{512, 64, 64}, "Card 1", "Maker, 2.0", "card-1-new", NULL, 1},
        {{1024, 64, 64}, "Card 1", "Maker, 1.0", "card-1", NULL, 1},
    };
    static const enum tilewalk_likeness expected[] = {TILEWALK_NOT_FOUND, TILEWALK_NOT_FOUND,
                                                      TILEWALK_SAME_VENDOR, TILEWALK_OTHER_DRIVER,
                                                      TILEWALK_SAME_DEVICE};
    struct str entries = {0};
    for (int i = 0; i < 5; i++) {
        add(&entries, &devices[i]);
        struct tilewalk_tuned t = read_of(&entries);
        struct tilewalk_found f = find(&t, cube, &card);
        assert_int_equal(f.likeness, expected[i]);
        if (expected[i] == TILEWALK_NOT_FOUND)
            assert_string_equal(f.configuration, "{}");
        else
            assert_string_equal(f.entry->identity, devices[i].identity);
        tilewalk_tuned_free(&t);
    }
    struct tilewalk_tuned t = read_of(&entries);
    assert_true(find(&t, cube, NULL).distance == 0); // whatever device: the nearest shape
    tilewalk_tuned_free(&t);
    str_finish(&entries);
}

// What a device cannot run is not found, on that device or by another driver either.
static void test_needs(void **state)
{
    (void)state;
    struct made near = {{64, 64, 64}, "Card 1", "Maker, 1.0", "near", LARGE, 1};
    struct made far = {{128, 64, 64}, "Card 1", "Maker, 1.0", "far", SMALL, 1};
    struct str entries = {0};
    add(&entries, &near);
    add(&entries, &far);
    struct tilewalk_tuned t = read_of(&entries);
    struct tilewalk_device d = card;
    assert_string_equal(find(&t, cube, &d).entry->identity, "far"); // no f16, too little memory
    d.limits.features = TILEWALK_F16;
    assert_string_equal(find(&t, cube, &d).entry->identity, "far");
    d.limits.shared_bytes = 49152;
    assert_string_equal(find(&t, cube, &d).entry->identity, "near");
    d.limits.invocations = 1023;
    assert_string_equal(find(&t, cube, &d).entry->identity, "far");
    d.limits.group_size[0] = 63;
    assert_null(find(&t, cube, &d).entry);
    tilewalk_tuned_free(&t);
    str_finish(&entries);
}

static double distance(const int64_t *a, const int64_t *b)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += pow(log((double)a[i] / (double)b[i]) / log(2), 2);
    return sqrt(sum);
}

enum { SHAPES = 60, LOOKUPS = 400 };

struct asker {
    const struct tilewalk_tuned *t;
    const int64_t (*wanted)[3];
    struct tilewalk_found found[LOOKUPS];
};

static void *ask_all(void *context)
{
    struct asker *a = context;
    for (int i = 0; i < LOOKUPS; i++)
        a->found[i] = find(a->t, a->wanted[i], &card);
    return NULL;
}

// The nearest shape against all one by one, in four threads at once.
static void test_shapes(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    struct made made[SHAPES];
    int64_t wanted[LOOKUPS][3];
    struct str entries = {0};
    struct rng r;
    rng_seed(&r, 1);
    for (int i = 0; i < SHAPES; i++) {
        made[i] = (struct made){{0}, card.name, card.driver, "same", NULL, 1};
        for (int k = 0; k < 3; k++)
            made[i].size[k] = 1 + (int64_t)rng_below(&r, 4096);
        add(&entries, &made[i]);
    }
    for (int i = 0; i < LOOKUPS; i++)
        for (int k = 0; k < 3; k++)
            wanted[i][k] = i < SHAPES ? made[i].size[k] : 1 + (int64_t)rng_below(&r, 4096);
    struct tilewalk_tuned t = read_of(&entries);
    struct asker *asker = mem_zero(THREADS, sizeof *asker);
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        asker[i].t = &t;
        asker[i].wanted = (const int64_t(*)[3])wanted;
        assert_int_equal(pthread_create(&thread[i], NULL, ask_all, &asker[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int n = 0; n < LOOKUPS; n++) {
        const struct tilewalk_found *f = &asker[0].found[n];
        double least = INFINITY;
        for (int i = 0; i < SHAPES; i++)
            least = fmin(least, distance(made[i].size, wanted[n]));
        assert_true(fabs(sqrt((double)f->distance) / 65536 - least) < 1e-3);
        assert_true((f->distance == 0) == (least == 0));
        for (int i = 1; i < THREADS; i++)
            assert_ptr_equal(asker[i].found[n].entry, f->entry);
    }
    free(asker);
    tilewalk_tuned_free(&t);
    str_finish(&entries);
}

// Sizes of which one is 0 are never near, and neighbours far out are not the same.
static void test_edges(void **state)
{
    (void)state;
    struct made none = {{0, 64, 64}, "Card 1", "Maker, 1.0", "none", NULL, 1};
    struct made most = {{2147483647, 64, 64}, "Card 1", "Maker, 1.0", "most", NULL, 1};
    struct str entries = {0};
    add(&entries, &none);
    add(&entries, &most);
    struct tilewalk_tuned t = read_of(&entries);
    assert_string_equal(find(&t, (int64_t[]){1, 64, 64}, &card).entry->identity, "most");
    assert_string_equal(find(&t, (int64_t[]){0, 32, 64}, &card).entry->identity, "none");
    assert_true(find(&t, (int64_t[]){2147483647, 64, 64}, &card).distance == 0);
    assert_true(find(&t, (int64_t[]){2147483646, 64, 64}, &card).distance == 1);
    assert_null(find(&t, (int64_t[]){-1, 64, 64}, &card).entry);
    tilewalk_tuned_free(&t);
    str_finish(&entries);
}

// --- tables that cannot be read ---

static void refused(const char *text, const char *part)
{
    struct tilewalk_tuned t;
    char why[160] = "";
    size_t length = strlen(text);
    char *exact = mem_alloc(length ? length : 1); // without a byte 0 behind it
    memcpy(exact, text, length);
    if (tilewalk_tuned_read(&t, exact, length, why, sizeof why))
        fail_msg("was read: %s", text);
    if (!strstr(why, part))
        fail_msg("%s: %s", why, text);
    assert_null(strchr(why, '\n'));
    free(exact);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct made one = {{64, 64, 64}, "Card 1", "Maker, 1.0", "c", SMALL, 1};
    struct str entries = {0};
    add(&entries, &one);
    char *whole = mem_printf("%s%s]}", HEAD, str_text(&entries));
    for (size_t cut = 0; whole[cut]; cut++) {
        char *part = mem_printf("%.*s", (int)cut, whole);
        refused(part, "cut off");
        free(part);
    }
    free(whole);
    add(&entries, &one);
    whole = mem_printf("%s%s]}", HEAD, str_text(&entries));
    refused(whole, "line 4: another");
    free(whole);
    refused("{\"format\": \"tilewalk-table\", \"version\": 2, \"entries\": []}", "version");
    refused("{\"format\": \"tilewalk-recording\", \"version\": 1, \"entries\": []}",
            "tilewalk-table");
    refused(HEAD "{}]}", "an entry needs");
    refused(HEAD "7]}", "an object");
    refused(HEAD "{\"problem\": {\"kind\": \"copy\", \"N\": NaN}}]}", "NaN");
    refused(HEAD "{\"timing\": {\"ms\": 1e999}}]}", "too large");
    refused(HEAD "]} x", "behind the table");
    refused("{\"a\\", "cut off");
    str_finish(&entries);
    for (int i = 0; i < 70; i++)
        str_add(&entries, "[");
    whole = mem_printf("{\"a\": %s", str_text(&entries));
    refused(whole, "too deeply");
    free(whole);
    str_finish(&entries);
}

static void test_configuration(void **state)
{
    (void)state;
    static const char c[] =
        "{\"a\": [4, 8, [1]], \"name\": \"x\", \"ab\": -3, \"b\": 2.5e1, \"big\": 1e30}";
    assert_int_equal(tilewalk_configuration_number(c, "a", 1, 9), 8);
    assert_int_equal(tilewalk_configuration_number(c, "a", 2, 9), 9);
    assert_int_equal(tilewalk_configuration_number(c, "a", 3, 9), 9);
    assert_int_equal(tilewalk_configuration_number(c, "ab", 0, 9), -3);
    assert_int_equal(tilewalk_configuration_number(c, "b", 0, 9), 25);
    assert_int_equal(tilewalk_configuration_number(c, "name", 0, 9), 9);
    assert_int_equal(tilewalk_configuration_number(c, "c", 0, 9), 9);
    assert_int_equal(tilewalk_configuration_number(c, "big", 0, 9), 9);
    assert_int_equal(tilewalk_configuration_number("{\"a\": ", "a", 0, 9), 9);
}

TEST_GROUP(tuned)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices), cmocka_unit_test(test_needs),
        cmocka_unit_test(test_shapes),  cmocka_unit_test(test_edges),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
