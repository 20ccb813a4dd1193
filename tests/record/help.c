#include "help.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], path[256];
static char kept[64][256]; // to remove
static int kept_count;

int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tilewalk-record-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

int remove_folder(void **state)
{
    (void)state;
    for (int i = 0; i < kept_count; i++)
        unlink(kept[i]);
    return rmdir(folder);
}

static void keep(void)
{
    for (int i = 0; i < kept_count; i++)
        if (strcmp(kept[i], path) == 0)
            return;
    assert_true(kept_count < 64);
    snprintf(kept[kept_count++], sizeof kept[0], "%s", path);
}

const char *put_file(const char *name, const void *bytes, size_t length)
{
    struct err e;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    keep();
    if (!file_write(path, bytes, length, &e))
        fail_msg("%s", e.text);
    return path;
}

struct recording *must_read(const char *name, const char *text)
{
    struct recording *r = NULL;
    struct err e;
    if (!recording_read(put_file(name, text, strlen(text)), &r, &e))
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    return r;
}

void refuse(const char *text, const char *expected)
{
    struct recording *r = NULL;
    struct err e = {0};
    char message[1400];
    if (recording_read(put_file("x.json", text, strlen(text)), &r, &e))
        fail_msg("read, but should say: %s", expected);
    assert_null(r);
    err_format(&e, message, sizeof message);
    const char *said = message + strlen(folder) + 1;
    if (!str_starts(message, folder) || !str_starts(said, expected))
        fail_msg("says: %s\nexpected: %s", message, expected);
}

const struct record_entry *entry_at(const struct recording *r, const char *key)
{
    struct config c;
    struct err e;
    if (!config_parse_key(r->space, key, &c, &e))
        fail_msg("%s", e.text);
    const struct record_entry *found = recording_find(r, &c);
    if (!found)
        fail_msg("there is no entry %s", key);
    return found;
}

void assert_close(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}
