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

#endif
