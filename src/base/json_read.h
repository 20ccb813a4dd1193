// JSON: the one way to read it. Texts of any size are checked once, then walked in place; messages
// and small files become a tree of cJSON's. Both are read by the same calls.
//
//     struct json_source source = {path, text, length};
//     struct json root;
//     json_check(&source, &root, e);            the only call that can find broken JSON
//     json_parse(text, &root);                  the same for what is no file of the user's
//     json_read_tree(text, &root);              the same as a tree, which json_free frees
//     json_members(root, 2, names, found);      what an object holds
//     for (struct json_walk w = json_walk(found[0]); json_next(&w);)
//         json_number(w.value, &x);             w.key of objects
//
// A `struct json` of a text is a place in it, and the line of that place, so that whoever finds
// something wrong can say where. Recordings, models and stored columns are read so: what a
// stranger's file costs is its own size. (cJSON's tree of the largest published recording, 17 MB,
// is 93 MB and takes 0.29 s, where this takes 0.22 s; of 64 MB of "1,1,1" it is 2.6 GB. It knows no
// lines.) After json_check the text is known to be well-formed and nothing else looks for its end.
//
// Kernel Tuner closes its files only when a run ends. Where `room` is given, a text that stops
// between two members of an object inside the outermost object is closed, and `unclosed` says so.
#ifndef TILEWALK_BASE_JSON_READ_H
#define TILEWALK_BASE_JSON_READ_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>

struct cJSON;

struct json {
    const char *at;     // first byte of the value, of a tree ""; NULL: there is no value
    int line;           // 0 in a tree
    struct cJSON *node; // NULL: the value is a place in a text
    bool is_key;        // the value is the name of `node`
};

struct json_source {
    const char *path; // for messages
    const char *text; // with a byte 0 at `length`
    size_t length;
    char *room;     // the text's end, with 3 bytes to write to; NULL: an unclosed text is broken
    int first_line; // the number of its first line; 0: 1
    int unclosed;   // the line where an unclosed text ends; 0: it was closed
};

// A tree of so many values takes about 80 MB.
enum { JSON_MOST_VALUES = 1 << 20 };

enum json_type { JSON_NONE, JSON_NULL, JSON_FLAG, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT };

// `root` lives as long as the text.
bool json_check(struct json_source *s, struct json *root, struct err *e);
// False for broken JSON and for NULL; `root` has no value (`at` NULL) then.
bool json_parse(const char *text, struct json *root);
// As json_parse, by cJSON: the text may go. False for more than JSON_MOST_VALUES values, too.
bool json_read_tree(const char *text, struct json *root);
void json_free(struct json *root); // of json_read_tree; another one is left alone

enum json_type json_type(struct json v); // JSON_NONE when there is no value
const char *json_type_name(enum json_type t);
size_t json_length(struct json v); // bytes of a value's text; not of a tree

// The values of a list or object, in order; of anything else none.
struct json_walk {
    struct json value;
    struct json key; // of objects
    const char *at;
    int line;
    bool object;
    struct cJSON *node; // of a tree: the next value
};
struct json_walk json_walk(struct json v);
bool json_next(struct json_walk *w);

// Fills found[i] with the member names[i] (the last one of that name), or one without `at`.
void json_members(struct json object, int count, const char *const *names, struct json *found);
struct json json_member(struct json object, const char *name);

// False, and nothing is written, for values of another type.
bool json_number(struct json v, double *out); // finite
bool json_flag(struct json v, bool *out);

// Both decode a text; control characters become '?', so that what a file says can be printed.
bool json_is(struct json text, const char *expected);
const char *json_text(struct json text, struct arena *arena); // NULL unless it is a text
// Decodes a text with its control characters, up to its first byte 0: for messages between our own
// processes. NULL unless it is a text.
const char *json_text_exact(struct json text, struct arena *arena);

#endif
