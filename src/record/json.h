// JSON as text: checked once, then walked in place.
//
//     struct json_source source = {path, text, length};
//     struct json root;
//     json_check(&source, &root, e);            the only call that can find broken JSON
//     json_members(root, 2, names, found);      what an object holds
//     for (struct json_walk w = json_walk(found[0]); json_next(&w);)
//         json_number(w.value, &x);             w.key of objects
//
// Recordings have up to millions of numbers, most of which are read once: no tree is built. A
// `struct json` is a place in the text, and the line of that place, so that whoever finds something
// wrong can say where. After json_check the text is known to be well-formed and nothing else looks
// for its end.
//
// Kernel Tuner closes its files only when a run ends. A text that stops between two members of an
// object inside the outermost object is closed by json_check, which says so in `unclosed`.
#ifndef TILEWALK_RECORD_JSON_H
#define TILEWALK_RECORD_JSON_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>

struct json {
    const char *at; // first byte of the value; NULL: there is none
    int line;
};

struct json_source {
    const char *path; // for messages
    char *text;       // writable, with room for 3 bytes past `length`
    size_t length;
    int unclosed; // the line where an unclosed text ends; 0: it was closed
};

enum json_type { JSON_NONE, JSON_NULL, JSON_FLAG, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT };

bool json_check(struct json_source *s, struct json *root, struct err *e);

enum json_type json_type(struct json v); // JSON_NONE when there is no value
const char *json_type_name(enum json_type t);
size_t json_length(struct json v); // bytes of a value's text

// The values of a list or object, in order; of anything else none.
struct json_walk {
    struct json value;
    struct json key; // of objects
    const char *at;
    int line;
    bool object;
};
struct json_walk json_walk(struct json v);
bool json_next(struct json_walk *w);

// Fills found[i] with the member names[i] (the last one of that name), or one without `at`.
void json_members(struct json object, int count, const char *const *names, struct json *found);
struct json json_member(struct json object, const char *name);

// False, and nothing is written, for values of another type.
bool json_number(struct json v, double *out); // finite
bool json_flag(struct json v, bool *out);

// Texts. Decoded, control characters become '?', so that what a file says can be printed.
bool json_is(struct json text, const char *expected);
const char *json_text(struct json text, struct arena *arena); // NULL unless it is a text

#endif
