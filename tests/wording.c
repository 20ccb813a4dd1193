#include "wording.h"

#include "base/file.h"
#include "base/mem.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LONGEST = 2000 };

void wording_begin(struct wording *r, const char *folder, const char *part)
{
    *r = (struct wording){.folder = folder, .part = part};
}

static void add_line(struct str *s, const char *indent, const char *text, size_t most)
{
    str_add(s, indent);
    for (size_t i = 0; text[i] && i < most; i++) {
        if (text[i] == '\n') {
            str_add(s, *indent ? "\n" : "\\n");
            str_add(s, indent);
        } else if ((unsigned char)text[i] < ' ' || text[i] == 127) {
            str_printf(s, "\\x%02x", (unsigned char)text[i]);
        } else {
            str_add_char(s, text[i]);
        }
    }
    str_add(s, strlen(text) > most ? "...\n" : "\n");
}

void wording_add(struct wording *r, const char *tried, const char *message)
{
    add_line(&r->text, "", tried, 400);
    add_line(&r->text, "    ", message, LONGEST);
}

static char *file_path(const struct wording *r)
{
    const char *root = getenv("TILEWALK_DATA");
    return mem_printf("%s/tests/%s/messages.txt", root ? root : ".", r->folder);
}

// Where the part begins, or would: `*end` is behind its last case, `*is_there` says whether it is.
static const char *find_part(const char *file, const char *name, const char **end, bool *is_there)
{
    const char *at = file;
    *is_there = false;
    while (str_starts(at, "== ")) {
        size_t length = strcspn(at + 3, "\n");
        const char *next = strstr(at, "\n== ");
        *end = next ? next + 1 : at + strlen(at);
        int order = strncmp(at + 3, name, length);
        if (order == 0 && name[length])
            order = -1;
        *is_there = order == 0;
        if (order >= 0)
            break;
        at = *end;
    }
    if (!*is_there)
        *end = at;
    return at;
}

// The groups of a program run side by side, and each writes its own parts.
static void write_part(const struct wording *r, const char *path)
{
    struct err e;
    char *old;
    struct str file = {0};
    bool is_there;
    int fd = open(path, O_RDWR | O_CREAT, 0644);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    assert_true(fd >= 0 && fcntl(fd, F_SETLKW, &whole) == 0);
    assert_true(file_read(path, &old, NULL, &e));
    const char *end, *begin = find_part(old, r->part, &end, &is_there);
    str_add_bytes(&file, old, (size_t)(begin - old));
    str_printf(&file, "== %s\n%s", r->part, str_text(&r->text));
    str_add(&file, end);
    assert_int_equal(pwrite(fd, str_text(&file), file.length, 0), file.length);
    assert_int_equal(ftruncate(fd, (off_t)file.length), 0);
    close(fd);
    free(old);
    str_finish(&file);
}

static int lines_until(const char *text, const char *end)
{
    int lines = 1;
    for (; text < end; text++)
        lines += *text == '\n';
    return lines;
}

// Shows the first line that differs; true when none does.
static bool same_part(const struct wording *r, const char *path, const char *file)
{
    const char *end, *got = str_text(&r->text);
    bool is_there;
    const char *begin = find_part(file, r->part, &end, &is_there);
    begin += is_there ? strcspn(begin, "\n") + 1 : 0;
    if ((size_t)(end - begin) == r->text.length && memcmp(begin, got, r->text.length) == 0)
        return true;
    const char *wanted = begin;
    for (;;) {
        size_t a = wanted < end ? strcspn(wanted, "\n") : 0, b = strcspn(got, "\n");
        if (a != b || memcmp(wanted, got, a) || wanted >= end || !*got) {
            print_error("%s:%d: part '%s'\n  wanted %.*s\n  got    %.*s\n", path,
                        lines_until(file, wanted), r->part, (int)a, wanted, (int)b, got);
            return false;
        }
        wanted += a + 1;
        got += b + 1;
    }
}

void wording_end(struct wording *r)
{
    struct err e;
    char *path = file_path(r), *file;
    bool same = true;
    if (getenv("TILEWALK_UPDATE_GOLDEN")) {
        write_part(r, path);
    } else if (!file_read(path, &file, NULL, &e)) {
        print_error("%s\n", e.text);
        same = false;
    } else {
        same = same_part(r, path, file);
        free(file);
    }
    free(path);
    str_finish(&r->text);
    if (!same)
        fail_msg("messages differ (TILEWALK_UPDATE_GOLDEN=1 writes them anew)");
}

void wording_is(const char *folder, const char *part, const char *message)
{
    struct wording w;
    wording_begin(&w, folder, part);
    add_line(&w.text, "    ", message, LONGEST);
    wording_end(&w);
}
