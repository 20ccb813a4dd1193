// Read-only tables that complain about names they do not know.
//
// What a space file is handed (`c`, `device`, `math`, the globals themselves) is an empty table in
// front of the real one, its storage: reading falls through at the speed of the VM, writing and
// unknown names are errors with a suggestion. Lists end where they end for ipairs and `#`, but
// `c.tile_n[5]` of four is an error and not a nil.
#ifndef TILEWALK_SCRIPT_READONLY_H
#define TILEWALK_SCRIPT_READONLY_H

#include "script/guard.h"

// Formats with one %s, for the key; NULL: general ones with the table's name.
struct readonly_words {
    const char *unknown; // "unknown parameter '%s'"
    const char *assign;  // "'%s' is not declared (write 'local')"
    // Pushes a hint for `key` and returns true; false: look for a similar name. NULL: always that.
    bool (*hint)(lua_State *L, const char *key);
};

// Replaces the storage on the top of the stack by its front. `words` (NULL: general ones) is
// static.
void readonly_wrap(lua_State *L, const char *name, const struct readonly_words *words);

// Pushes the storage of a front, or the table itself.
void readonly_push_storage(lua_State *L, int index);

// Keys of a table in an order that does not depend on where things lie in memory: booleans before
// numbers before strings, each by value.
//
// Lua's own order follows addresses and a seed that differs from run to run. Whatever a user can
// see the order of (pairs, the first of several complaints, a suggestion) goes through here.

// Pushes an array of the keys of the table at `index`; returns how many. Raises an error for keys
// without an order (tables, functions).
int order_push_keys(lua_State *L, int index);

// Pushes " (did you mean 'x'?)" for the string key of the table at `index` that is nearest to
// `name`, else "".
void order_push_suggestion(lua_State *L, int index, const char *name);

// The same for the strings in the array at `index`.
void order_push_suggestion_in(lua_State *L, int index, const char *name);

#endif
