// Checks of what a space file hands over.
//
// They raise Lua errors that begin with `what`, which is how the user knows the value: "kernel",
// "custom: values". Tables are read as the user would read them, so that read-only lists count as
// lists. `index` is absolute or relative to the top; the stack is left as it was.
#ifndef TILEWALK_SCRIPT_CHECK_H
#define TILEWALK_SCRIPT_CHECK_H

#include "base/mem.h"
#include "script/guard.h"

#define CHECK_MAX_TEXT 1000

// The table at `index` has string keys only, all of them in the NULL-terminated `known`.
void check_fields(lua_State *L, int index, const char *what, const char *const *known);

double check_real(lua_State *L, int index, const char *what); // finite
// A whole number within [low, high]; a float without a rest is one.
int64_t check_whole(lua_State *L, int index, const char *what, int64_t low, int64_t high);

// A list without holes and other keys; read-only lists too. Returns its length.
int check_list(lua_State *L, int index, const char *what);

// Pushes the list and the fields of a table that is both: { "Q", rows, type = "f16" }.
void check_parts(lua_State *L, int index, const char *what);

// Of 1 to CHECK_MAX_TEXT bytes: a name or a word, which is kept and shown.
const char *check_string(lua_State *L, int index, const char *what);
const char *check_identifier(lua_State *L, int index, const char *what);
void check_type(lua_State *L, int index, const char *what, int type);

// What --set would say, { N = 8, scale = 0.5, layout = "nt" } or nothing (nil), by name. The array
// is the arena's and ends with a NULL name; it is kept as long as the state.
struct setting *check_settings(lua_State *L, int index, const char *what, struct arena *a,
                               int *count);

// { x }, { x, y } or { x, y, z }, each from 1 to `high`; what is missing becomes 1.
void check_dimensions(lua_State *L, int index, const char *what, int64_t high, uint64_t out[3]);

#endif
