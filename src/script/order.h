// Keys of a table in an order that does not depend on where things lie in memory: booleans before
// numbers before strings, each by value.
//
// Lua's own order follows addresses and a seed that differs from run to run. Whatever a user can
// see the order of (pairs, the first of several complaints, a suggestion) goes through here.
#ifndef TILEWALK_SCRIPT_ORDER_H
#define TILEWALK_SCRIPT_ORDER_H

#include "script/guard.h"

// Pushes an array of the keys of the table at `index`; returns how many. Raises an error for keys
// without an order (tables, functions).
int order_push_keys(lua_State *L, int index);

// Pushes " (did you mean 'x'?)" for the string key of the table at `index` that is nearest to
// `name`, else "".
void order_push_suggestion(lua_State *L, int index, const char *name);

// The same for the strings in the array at `index`.
void order_push_suggestion_in(lua_State *L, int index, const char *name);

#endif
