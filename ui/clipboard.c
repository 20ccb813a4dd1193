#include "clipboard.h"

#include <string.h>

#define LONGEST_TEXT 8192 // bytes

static void add_base64(struct str *out, const char *text)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = (const unsigned char *)text;
    for (size_t left = strlen(text); left; p += 3) {
        unsigned bits = (unsigned)p[0] << 16;
        bits |= left > 1 ? (unsigned)p[1] << 8 : 0;
        bits |= left > 2 ? (unsigned)p[2] : 0;
        str_add_char(out, digit[bits >> 18]);
        str_add_char(out, digit[bits >> 12 & 63]);
        str_add_char(out, left > 1 ? digit[bits >> 6 & 63] : '=');
        str_add_char(out, left > 2 ? digit[bits & 63] : '=');
        left = left > 3 ? left - 3 : 0;
    }
}

static bool knows_osc(const char *terminal)
{
    static const char *const old[] = {"vt", "linux", "ansi", "cons", "sun"};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (str_starts(terminal, old[i]))
            return false;
    return true;
}

bool clipboard_add(struct str *out, const char *terminal, const char *text)
{
    if (!terminal || !knows_osc(terminal) || strlen(text) > LONGEST_TEXT)
        return false;
    str_add(out, "\033]52;c;");
    add_base64(out, text);
    str_add(out, "\a");
    return true;
}
