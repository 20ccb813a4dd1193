// Whether a text is JSON (RFC 8259), without recursion.
#include "base/json_read.h"

#include "base/json.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

enum expect { VALUE, FIRST_VALUE, KEY, FIRST_KEY, AFTER }; // FIRST_: or the end of what is open

struct checker {
    struct json_source *source;
    const char *at, *end;
    int line;
    enum expect expect;
    int depth;
    char open[JSON_DEEPEST];
    const char *last_end; // where the last value or opening ended
};

static bool broken(const struct checker *c, struct err *e, const char *what)
{
    char found[32] = "the end of the file";
    if (c->at < c->end) {
        unsigned char byte = (unsigned char)*c->at;
        if (byte > 0x20 && byte < 0x7F) {
            memcpy(found, "'?'", 4);
            found[1] = (char)byte;
        } else {
            static const char hex[] = "0123456789abcdef";
            memcpy(found, "byte 0x??", 10);
            found[7] = hex[byte >> 4];
            found[8] = hex[byte & 15];
        }
    }
    return err_at(e, c->source->path, c->line, "broken JSON: %s, found %s%s", what, found,
                  c->at < c->end ? "" : " (is it cut off?)");
}

static void skip_space(struct checker *c)
{
    for (; c->at < c->end; c->at++)
        if (*c->at == '\n')
            c->line += c->line < INT_MAX;
        else if (*c->at != ' ' && *c->at != '\t' && *c->at != '\r')
            return;
}

static bool digits(struct checker *c)
{
    const char *first = c->at;
    while (isdigit((unsigned char)*c->at)) // the text ends with a NUL
        c->at++;
    return c->at > first;
}

static bool number(struct checker *c, struct err *e)
{
    const char *first = c->at;
    c->at += *c->at == '-';
    bool zero = *c->at == '0', ok = digits(c);
    ok = ok && !(zero && c->at - first > 1 + (*first == '-')); // no leading zeros
    if (ok && *c->at == '.') {
        c->at++;
        ok = digits(c);
    }
    if (ok && (*c->at == 'e' || *c->at == 'E')) {
        c->at++;
        c->at += *c->at == '+' || *c->at == '-';
        ok = digits(c);
    }
    return ok || broken(c, e, "a number is malformed");
}

static bool escape(struct checker *c, struct err *e)
{
    c->at++;
    if (*c->at == '\0' || !strchr("\"\\/bfnrtu", *c->at))
        return broken(c, e, "a text has an unknown escape");
    if (*c->at++ != 'u')
        return true;
    for (int i = 0; i < 4; i++, c->at++)
        if (!isxdigit((unsigned char)*c->at))
            return broken(c, e, "\\u wants four hexadecimal digits");
    return true;
}

static bool text(struct checker *c, struct err *e)
{
    for (c->at++; *c->at != '"';) {
        if ((unsigned char)*c->at < 0x20)
            return broken(c, e, "a text is not closed");
        if (*c->at != '\\')
            c->at++;
        else if (!escape(c, e))
            return false;
    }
    c->at++;
    return true;
}

static bool word(struct checker *c, struct err *e)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(c->at, words[i], length) == 0 && !isalnum((unsigned char)c->at[length])) {
            c->at += length;
            return true;
        }
    }
    if (strncmp(c->at, "NaN", 3) == 0 || strncmp(c->at, "Infinity", 8) == 0)
        return broken(c, e, "NaN and Infinity are no JSON");
    return broken(c, e, "a value should be here");
}

static bool open_one(struct checker *c, struct err *e)
{
    if (c->depth == JSON_DEEPEST)
        return broken(c, e, "too many lists and objects inside each other");
    c->open[c->depth++] = *c->at;
    c->expect = *c->at++ == '{' ? FIRST_KEY : FIRST_VALUE;
    return true;
}

static void close_one(struct checker *c)
{
    c->at++;
    c->depth--;
    c->expect = AFTER;
}

static bool value(struct checker *c, struct err *e)
{
    c->expect = AFTER;
    switch (*c->at) {
    case '{':
    case '[': return open_one(c, e);
    case '"': return text(c, e);
    default: return *c->at == '-' || isdigit((unsigned char)*c->at) ? number(c, e) : word(c, e);
    }
}

static bool key(struct checker *c, struct err *e)
{
    if (*c->at != '"')
        return broken(c, e, "a name in quotes should be here");
    if (!text(c, e))
        return false;
    skip_space(c);
    if (*c->at != ':')
        return broken(c, e, "a colon should be here");
    c->at++;
    c->expect = VALUE;
    return true;
}

static bool after(struct checker *c, struct err *e)
{
    bool object = c->open[c->depth - 1] == '{';
    if (*c->at == (object ? '}' : ']')) {
        close_one(c);
        return true;
    }
    if (*c->at != ',')
        return broken(c, e, object ? "',' or '}' should be here" : "',' or ']' should be here");
    c->at++;
    c->expect = object ? KEY : VALUE;
    return true;
}

static bool step(struct checker *c, struct err *e)
{
    switch (c->expect) {
    case FIRST_VALUE:
        if (*c->at == ']') {
            close_one(c);
            return true;
        }
        return value(c, e);
    case VALUE: return value(c, e);
    case FIRST_KEY:
        if (*c->at == '}') {
            close_one(c);
            return true;
        }
        return key(c, e);
    case KEY: return key(c, e);
    case AFTER: return after(c, e);
    }
    return false;
}

// The end of the text, between two members of an object in the outermost object: closes both.
static bool close_text(struct checker *c)
{
    bool between = c->expect == AFTER || c->expect == KEY || c->expect == FIRST_KEY;
    struct json_source *s = c->source;
    if (!s->room || c->depth != 2 || c->open[0] != '{' || c->open[1] != '{' || !between)
        return false;
    s->unclosed = c->line;
    memcpy(s->room - (c->end - c->last_end), "}}", 3); // without the comma
    s->length = (size_t)(c->last_end - s->text) + 2;
    return true;
}

bool json_check(struct json_source *s, struct json *root, struct err *e)
{
    struct checker c = {.source = s, .at = s->text, .end = s->text + s->length, .line = 1};
    s->unclosed = 0;
    skip_space(&c);
    *root = (struct json){c.at, c.line};
    do {
        if (c.at == c.end && close_text(&c))
            return true;
        if (!step(&c, e))
            return false;
        if (c.expect == AFTER || c.expect == FIRST_KEY)
            c.last_end = c.at;
        skip_space(&c);
    } while (c.depth > 0 || c.expect != AFTER);
    return c.at == c.end || broken(&c, e, "the file should end here");
}

bool json_parse(const char *text, struct json *root)
{
    struct err ignored;
    struct json_source s = {.path = "", .text = text ? text : ""};
    s.length = strlen(s.text);
    bool ok = json_check(&s, root, &ignored);
    if (!ok)
        *root = (struct json){0};
    return ok;
}
