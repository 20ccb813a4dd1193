#include "base/shown.h"

#include "base/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool shown_is_plain(uint32_t c)
{
    bool is_control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    bool ends_line = c == 0x2028 || c == 0x2029;
    bool turns = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                 (c >= 0x2066 && c <= 0x2069);
    return !is_control && !ends_line && !turns && c <= 0x10ffff;
}

// Adds the next character, plain or escaped.
static void add_next(struct str *s, const char **text, bool with_lines)
{
    const char *first = *text;
    uint32_t c = str_next_glyph(text);
    if (c == STR_NO_GLYPH)
        str_printf(s, "\\x%02x", (unsigned char)*first);
    else if (shown_is_plain(c) || (with_lines && (c == '\n' || c == '\t')))
        str_add_bytes(s, first, (size_t)(*text - first));
    else if (c == '\n')
        str_add(s, "\\n");
    else
        str_printf(s, c < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)c);
}

void shown_add(struct str *s, const char *text)
{
    while (*text)
        add_next(s, &text, false);
}

const char *shown_text(struct arena *a, const char *text)
{
    struct str s = {0};
    shown_add(&s, text ? text : "");
    const char *kept = arena_strdup(a, str_text(&s));
    str_finish(&s);
    return kept;
}

// --- streams ---

struct outlet {
    int fd;
    struct str held; // the beginning of a character whose end is still to come
};

static ptrdiff_t outlet_put(void *context, const char *bytes, size_t length)
{
    struct outlet *o = context;
    struct str out = {0};
    str_add_bytes(&o->held, bytes, length);
    const char *at = str_text(&o->held), *end = at + o->held.length;
    for (int back = 1; back <= 3 && end - back >= at; back++) {
        unsigned char c = (unsigned char)end[-back];
        if (c >= 0xc0) { // it begins a character of 2 to 4 bytes, which may be unfinished
            end -= back < (c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2) ? back : 0;
            break;
        }
        if (c < 0x80)
            break;
    }
    while (at < end)
        add_next(&out, &at, true);
    char rest[4] = "";
    size_t left = (size_t)(str_text(&o->held) + o->held.length - at);
    memcpy(rest, at, left);
    str_finish(&o->held);
    str_add_bytes(&o->held, rest, left);
    size_t done = 0;
    for (ssize_t put = 0; done < out.length && (put >= 0 || errno == EINTR);) {
        put = write(o->fd, out.text + done, out.length - done);
        done += put > 0 ? (size_t)put : 0;
    }
    bool ok = done == out.length;
    str_finish(&out);
    return ok ? (ptrdiff_t)length : 0;
}

void shown_streams(bool with_stdout)
{
    static struct outlet out = {.fd = STDOUT_FILENO}, error = {.fd = STDERR_FILENO};
    if (with_stdout)
        stdout = os_stream(outlet_put, &out, isatty(out.fd) ? _IOLBF : _IOFBF);
    stderr = os_stream(outlet_put, &error, _IONBF);
}

void shown_clear_line(void)
{
    fflush(stderr);
    ssize_t ignored = write(STDERR_FILENO, "\r\033[K", 4);
    (void)ignored;
}
