// Read-only tables with errors for unknown names.
//
// A space file sees (as `c`, `device`, `math`, the globals) an empty table, the front, before the
// real one, its storage. Reading falls through at the speed of the VM; writing and unknown
// names are errors with a suggestion. Lists end for ipairs and `#`, but `c.tile_n[5]` of four
// elements is an error and not nil.
#ifndef TILEWALK_SCRIPT_READONLY_H
#define TILEWALK_SCRIPT_READONLY_H

#include "script/guard.h"
#include "space/space.h"

// Formats with one %s, for the key; NULL: general ones with the table's name.
struct readonly_words {
    const char *unknown; // "unknown parameter '%s'"
    const char *assign;  // "'%s' is not declared (write 'local')"
    // Pushes a hint for `key`. False, or NULL: a similar name is looked for.
    bool (*hint)(lua_State *L, const char *key);
};

// Replaces the storage on the top of the stack by its front. `words` is static; NULL: general ones.
void readonly_wrap(lua_State *L, const char *name, const struct readonly_words *words);

// Pushes the storage of a front, or the table itself. Of a watched front, all is read.
void readonly_push_storage(lua_State *L, int index);

// Pushes a function for the `__index` of a front: it reads the storage at `storage`, and sets the
// bits of what is read in (*reading)->slots, unless *reading is NULL. The table at `slots` has a
// slot for each key, or the value that is given instead, such as a watched front. `all`: the slots
// of the whole storage.
void readonly_push_watch(lua_State *L, int storage, int slots, uint64_t all,
                         struct rule_reads *const *reading);
// Pushes a second front of the storage at `storage`, with that function on the top, which it takes.
void readonly_watched_front(lua_State *L, int front);

// Keys of a table in a stable order: booleans before numbers before strings, each by value. Lua's
// own order follows addresses and a seed that differs from run to run. Everything whose order a
// user can see (pairs, the first of several errors, a suggestion) uses this one.

// Pushes an array of the keys of the table at `index`; returns how many. Raises an error for keys
// without an order (tables, functions).
int order_push_keys(lua_State *L, int index);

// Pushes " (did you mean 'x'?)" for the string in the array at `index` that is nearest to `name`,
// else "".
void order_push_suggestion_in(lua_State *L, int index, const char *name);

#endif
