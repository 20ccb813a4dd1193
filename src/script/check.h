// Checks of the values that a space file passes.
//
// They raise Lua errors that begin with `what`, the user's words for the value: "kernel", "custom:
// values". Read-only lists count as lists. `index` is absolute or relative to the top; the stack is
// left as it was.
#ifndef TILEWALK_SCRIPT_CHECK_H
#define TILEWALK_SCRIPT_CHECK_H

#include "base/mem.h"
#include "script/guard.h"
#include "space/tensor.h"

#define CHECK_MAX_TEXT 1000

// A table with string keys only, all of them in the NULL-terminated `known`.
void check_fields(lua_State *L, int index, const char *what, const char *const *known);

double check_real(lua_State *L, int index, const char *what); // finite
// A whole number within [low, high]; a float without a rest is one.
int64_t check_whole(lua_State *L, int index, const char *what, int64_t low, int64_t high);

// A list without holes and other keys; read-only lists too. Returns its length.
int check_list(lua_State *L, int index, const char *what);

// Pushes the list and the fields of a table that is both: { "Q", rows, type = "f16" }.
void check_parts(lua_State *L, int index, const char *what);

// A name or a word of 1 to CHECK_MAX_TEXT bytes, which is kept and shown.
const char *check_string(lua_State *L, int index, const char *what);
const char *check_identifier(lua_State *L, int index, const char *what);
// A type of elements; `allows` (NULL: all) says which.
enum element check_element(lua_State *L, int index, const char *what,
                           bool (*allows)(enum element e));
void check_type(lua_State *L, int index, const char *what, int type);

void check_done(lua_State *L, bool done, const struct err *e); // raises `e` where it is false

// Returns settings by name, { N = 8, scale = 0.5, layout = "nt" } or nil, written like --set
// values. The array belongs to the arena, ends with a NULL name, and counts as kept memory
// (guard_keep).
struct setting *check_settings(lua_State *L, int index, const char *what, struct arena *a,
                               int *count);

// { x }, { x, y } or { x, y, z }, each from 1 to `high`; missing ones become 1.
void check_dimensions(lua_State *L, int index, const char *what, int64_t high, uint64_t out[3]);

#endif
