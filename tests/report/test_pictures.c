// The pictures of the documentation: what is text in them is seen as it is written, whatever shows
// them. Viewers cut blanks at the ends of a run and run those inside together.
#include "group.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Returns how many runs there are.
static int check_runs(const char *path, const char *svg)
{
    int runs = 0;
    for (const char *at = svg; (at = strstr(at, "<text ")); runs++) {
        const char *text = strchr(at, '>') + 1, *end = strstr(text, "</text>");
        assert_non_null(end);
        char *run = mem_printf("%.*s", (int)(end - text), text);
        if (!*run || *run == ' ' || end[-1] == ' ' || strstr(run, "  ") || strstr(run, "\302\240"))
            fail_msg("%s: blanks of '%s' are lost in viewers", path, run);
        free(run);
        at = end;
    }
    return runs;
}

static int check_picture(const char *folder, const char *name)
{
    struct err e;
    char *path = path_join(folder, name), *svg = NULL;
    assert_true(file_read(path, &svg, NULL, &e));
    int runs = check_runs(path, svg);
    free(svg);
    free(path);
    return runs;
}

static void test_runs_of_text(void **state)
{
    (void)state;
    const char *docs = getenv("TILEWALK_DOCS");
    assert_non_null(docs);
    char *screens = path_join(docs, "guide/screens");
    DIR *folder = opendir(screens);
    assert_non_null(folder);
    int pictures = 0;
    for (struct dirent *d; (d = readdir(folder));)
        if (strstr(d->d_name, ".svg"))
            pictures += check_picture(screens, d->d_name) > 20;
    closedir(folder);
    free(screens);
    assert_int_equal(pictures, 8);
}

TEST_GROUP(pictures)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs_of_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
