#include "base/json_read.h"

#include "base/json.h"
#include "base/str.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

// Checks that a text is JSON (RFC 8259), without recursion.

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

static void json_check_skip_space(struct checker *c)
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

static bool is_no_number(const char *at)
{
    return strncasecmp(at, "nan", 3) == 0 || strncasecmp(at, "inf", 3) == 0;
}

static bool number(struct checker *c, struct err *e)
{
    if (*c->at == '-' && is_no_number(c->at + 1))
        return broken(c, e, "NaN and Infinity are no JSON");
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
    return is_no_number(c->at) ? broken(c, e, "NaN and Infinity are no JSON")
                               : broken(c, e, "a value should be here");
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
    case '[': {
        if (c->depth == JSON_DEEPEST)
            return broken(c, e, "too many lists and objects inside each other");
        c->open[c->depth++] = *c->at;
        c->expect = *c->at++ == '{' ? FIRST_KEY : FIRST_VALUE;
        return true;
    }
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
    json_check_skip_space(c);
    if (*c->at != ':')
        return broken(c, e, "a colon should be here");
    c->at++;
    c->expect = VALUE;
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
    case AFTER: {
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
    }
    return false;
}

// Closes a text that ends between two members of an object in the outermost object.
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
    struct checker c = {.source = s,
                        .at = s->text,
                        .end = s->text + s->length,
                        .line = s->first_line ? s->first_line : 1};
    s->unclosed = 0;
    json_check_skip_space(&c);
    *root = (struct json){.at = c.at, .line = c.line};
    do {
        if (c.at == c.end && close_text(&c))
            return true;
        if (!step(&c, e))
            return false;
        if (c.expect == AFTER || c.expect == FIRST_KEY)
            c.last_end = c.at;
        json_check_skip_space(&c);
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

static struct json of_node(cJSON *node)
{
    return node ? (struct json){.at = "", .node = node} : (struct json){0};
}

bool json_read_tree(const char *text, struct json *root)
{
    int values = 1;
    bool is_string = false;
    if (!json_parse(text, root))
        return false;
    for (const char *p = text; *p && values <= JSON_MOST_VALUES; p++) {
        if (is_string && *p == '\\')
            p++;
        else if (*p == '"')
            is_string = !is_string;
        else if (!is_string)
            values += *p == ',' || *p == '[' || *p == '{';
    }
    *root = of_node(values <= JSON_MOST_VALUES ? cJSON_Parse(text) : NULL);
    return root->node;
}

void json_free(struct json *root)
{
    cJSON_Delete(root->node);
    *root = (struct json){0};
}

enum json_type json_type(struct json v)
{
    if (v.node) {
        if (v.is_key || cJSON_IsString(v.node))
            return JSON_TEXT;
        return cJSON_IsNull(v.node)     ? JSON_NULL
               : cJSON_IsBool(v.node)   ? JSON_FLAG
               : cJSON_IsNumber(v.node) ? JSON_NUMBER
               : cJSON_IsArray(v.node)  ? JSON_LIST
                                        : JSON_OBJECT;
    }
    switch (v.at ? *v.at : '\0') {
    case '\0': return JSON_NONE;
    case 'n': return JSON_NULL;
    case 't':
    case 'f': return JSON_FLAG;
    case '"': return JSON_TEXT;
    case '[': return JSON_LIST;
    case '{': return JSON_OBJECT;
    default: return JSON_NUMBER;
    }
}

const char *json_type_name(enum json_type t)
{
    static const char *const name[] = {"nothing", "null",   "a flag",   "a number",
                                       "a text",  "a list", "an object"};
    return name[t];
}

static const char *skip_space(const char *at, int *line)
{
    for (;; at++)
        if (*at == '\n')
            ++*line;
        else if (*at != ' ' && *at != '\t' && *at != '\r')
            return at;
}

static const char *skip_text(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

// Goes past a value, and counts its lines.
static const char *skip_value(const char *at, int *line)
{
    int depth = 0;
    do {
        switch (*at) {
        case '"': at = skip_text(at); continue;
        case '{':
        case '[': depth++; break;
        case '}':
        case ']': depth--; break;
        case '\n': ++*line; break;
        case ',':
        case ':':
        case ' ':
        case '\t':
        case '\r': break;
        default: at += strcspn(at, ",]} \t\r\n"); continue;
        }
        at++;
    } while (depth > 0);
    return at;
}

size_t json_length(struct json v)
{
    int ignored = 0;
    return (size_t)(skip_value(v.at, &ignored) - v.at);
}

struct json_walk json_walk(struct json v)
{
    enum json_type t = json_type(v);
    struct json_walk w = {.line = v.line, .object = t == JSON_OBJECT};
    if (v.node) {
        w.node = v.is_key ? NULL : v.node->child;
        return w;
    }
    if (t == JSON_OBJECT || t == JSON_LIST)
        w.at = v.at + 1;
    return w;
}

bool json_next(struct json_walk *w)
{
    if (w->node) {
        w->value = w->key = of_node(w->node);
        w->key.is_key = true;
        w->node = w->node->next;
        return true;
    }
    if (!w->at)
        return false;
    if (w->value.at) // past what the caller has seen
        w->at = skip_value(w->at, &w->line);
    w->at = skip_space(w->at, &w->line);
    if (*w->at == ',')
        w->at = skip_space(w->at + 1, &w->line);
    if (*w->at == ']' || *w->at == '}') {
        w->at = NULL; // nor when it is asked again
        return false;
    }
    if (w->object) {
        w->key = (struct json){.at = w->at, .line = w->line};
        w->at = skip_space(skip_text(w->at), &w->line);
        w->at = skip_space(w->at + 1, &w->line); // the colon
    }
    w->value = (struct json){.at = w->at, .line = w->line};
    return true;
}

void json_members(struct json object, int count, const char *const *names, struct json *found)
{
    memset(found, 0, (size_t)count * sizeof *found);
    if (json_type(object) != JSON_OBJECT)
        return;
    for (struct json_walk w = json_walk(object); json_next(&w);)
        for (int i = 0; i < count; i++)
            if (json_is(w.key, names[i]))
                found[i] = w.value;
}

struct json json_member(struct json object, const char *name)
{
    struct json found;
    json_members(object, 1, &name, &found);
    return found;
}

bool json_number(struct json v, double *out)
{
    enum { LONGEST = 400 }; // 1e308 written out fits
    char digits[LONGEST + 1];
    if (json_type(v) != JSON_NUMBER)
        return false;
    if (v.node) {
        bool is_finite = isfinite(v.node->valuedouble);
        *out = is_finite ? v.node->valuedouble : *out;
        return is_finite;
    }
    size_t length = strspn(v.at, "0123456789.eE+-");
    if (length > LONGEST)
        return false;
    memcpy(digits, v.at, length);
    digits[length] = '\0';
    return str_to_real(digits, out);
}

bool json_flag(struct json v, bool *out)
{
    if (json_type(v) != JSON_FLAG)
        return false;
    *out = v.node ? cJSON_IsTrue(v.node) : *v.at == 't';
    return true;
}

static unsigned hex4(const char *at)
{
    unsigned code = 0;
    for (int i = 0; i < 4; i++) {
        const char digit = at[i];
        code = 16 * code + (unsigned)(digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
    }
    return code;
}

// Returns the code point of "XXXX" or, when that is half of a pair, of "XXXX\uXXXX"; half pairs
// become U+FFFD.
static unsigned read_code(const char **at)
{
    unsigned high = hex4(*at);
    *at += 4;
    if (high < 0xD800 || high > 0xDFFF)
        return high;
    if (high < 0xDC00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        unsigned low = hex4(*at + 2);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            *at += 6;
            return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return 0xFFFD;
}

// Writes the next character of a text to `out`, as UTF-8. Returns its length; 0 at the end.
static int next_exact(const char **at, char out[4])
{
    static const char escapes[] = "bfnrt", meant[] = "\b\f\n\r\t";
    char c = *(*at)++;
    if (c == '"')
        return 0;
    if (c == '\\') {
        c = *(*at)++;
        if (c == 'u') {
            unsigned code = read_code(at);
            if (code < 0x80) {
                out[0] = (char)code;
                return 1;
            }
            int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
            static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
            out[0] = (char)(lead[more] | (code >> (6 * more)));
            for (int i = 1; i <= more; i++)
                out[i] = (char)(0x80 | ((code >> (6 * (more - i))) & 0x3F));
            return more + 1;
        }
        const char *found = strchr(escapes, c);
        c = found ? meant[found - escapes] : c;
    }
    out[0] = c;
    return 1;
}

// Returns the text of a node, or its name.
static const char *node_text(struct json v)
{
    return v.is_key ? v.node->string : v.node->valuestring;
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

static int next_character(const char **at, char out[4])
{
    int length = next_exact(at, out);
    if (length == 1 && is_control(*out))
        *out = '?';
    return length;
}

bool json_is(struct json text, const char *expected)
{
    if (json_type(text) != JSON_TEXT)
        return false;
    if (text.node) {
        const char *at = node_text(text);
        while (*at && *expected == (is_control(*at) ? '?' : *at))
            at++, expected++;
        return !*at && !*expected;
    }
    char c[4];
    int n;
    for (const char *at = text.at + 1; (n = next_character(&at, c)) > 0; expected += n)
        for (int i = 0; i < n; i++)
            if (expected[i] != c[i]) // a NUL differs, too
                return false;
    return *expected == '\0';
}

static const char *decode(struct json text, struct arena *arena, int (*next)(const char **, char *))
{
    if (json_type(text) != JSON_TEXT)
        return NULL;
    if (text.node) {
        char *copy = arena_strdup(arena, node_text(text));
        for (char *c = copy; *c && next == next_character; c++)
            *c = is_control(*c) ? '?' : *c;
        return copy;
    }
    const char *at = text.at;
    char *out = arena_zero(arena, (size_t)(skip_text(at) - at), 1), *end = out;
    int n;
    at++;
    while ((n = next(&at, end)) > 0) // never longer than how it is written
        end += n;
    *end = '\0';
    return out;
}

const char *json_text(struct json text, struct arena *arena)
{
    return decode(text, arena, next_character);
}

const char *json_text_exact(struct json text, struct arena *arena)
{
    return decode(text, arena, next_exact);
}
