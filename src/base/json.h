// JSON: the one way to write it.
//
//     struct str out = {0};
//     struct json_writer w = json_begin(&out);
//     json_add_text(&w, "name", name);
//     json_begin_list(&w, "runs");
//     json_add_real(&w, NULL, seconds);
//     json_end_all(&w);                       {"name":"a","runs":[0.5]}
//
// `name` is that of a member, NULL in a list. Commas come by themselves. Values are made and
// printed by cJSON. What stands in a list is built as a tree of its own, and is printed and freed
// when it ends, so that a list of any length costs the memory of one element. Numbers are handed to
// cJSON as text: it keeps none past 2^53, and has no fewest digits that read back the same.
// json_read.h reads it.
#ifndef TILEWALK_BASE_JSON_H
#define TILEWALK_BASE_JSON_H

#include "base/str.h"

enum { JSON_DEEPEST = 64 };

struct cJSON;

struct json_writer {
    struct str *out;         // the caller's, who may begin and end it with other text
    char open[JSON_DEEPEST]; // the closing brackets of what is written as it comes
    int depth;
    bool is_spaced; // with a blank behind each colon and comma
    bool is_lined;  // the members of the outermost object begin lines, behind two blanks
    bool has_more;  // what comes next needs a comma
    bool has_line;  // what comes next begins a line, behind `indent` blanks
    int indent;
    struct cJSON
        *built[JSON_DEEPEST]; // the element of a list that is being built, what is open in it
    int built_depth;
    const char *raw_name; // of a member of it whose value others add to `out`, from `raw_from` on
    size_t raw_from;
    bool has_raw;
};

// Returns a writer that has begun the outermost object. A writer that is only {.out = out} adds
// members to an object that the caller has begun.
struct json_writer json_begin(struct str *out);
void json_begin_object(struct json_writer *w, const char *name);
void json_begin_list(struct json_writer *w, const char *name);
void json_end(struct json_writer *w);     // what was begun last
void json_end_all(struct json_writer *w); // and all around it
void json_print(struct json_writer *w);   // ends all, prints it as a line, frees `out`

// Begins a line, behind `indent` blanks, ahead of the next value, member or end. An element of a
// list stands on one line: within it the call does nothing.
void json_begin_line(struct json_writer *w, int indent);

void json_add_text(struct json_writer *w, const char *name, const char *text); // NULL: null
// As json_add_text, and null for "" too.
void json_add_text_if_any(struct json_writer *w, const char *name, const char *text);
void json_add_real(struct json_writer *w, const char *name, double value); // null unless finite
void json_add_int(struct json_writer *w, const char *name, int64_t value);
void json_add_count(struct json_writer *w, const char *name, uint64_t value);
void json_add_flag(struct json_writer *w, const char *name, bool value);
void json_add_null(struct json_writer *w, const char *name);
void json_add_raw(struct json_writer *w, const char *name, const char *json); // NULL, "": null
void json_add_texts(struct json_writer *w, const char *name, const char *const *text); // to NULL
void json_add_reals(struct json_writer *w, const char *name, int64_t count, const double *value);
void json_add_axes(struct json_writer *w, const char *name, const uint32_t value[3]);

// A member without its value, which others then add to `w->out`. `name` must live until the next
// call.
void json_add_name(struct json_writer *w, const char *name);

// Appends `text` as a JSON string. Bytes that are not UTF-8 become U+FFFD.
void json_add_string(struct str *out, const char *text);

#endif
