// The safe library: all that a space file or template can call without having declared it.
//
//     assert error ipairs pairs select tonumber tostring type
//     math    abs ceil exp floor fmod huge log max maxinteger min mininteger modf pi sqrt
//             tointeger type ult
//     string  byte char format len lower rep reverse sub upper, also as methods of strings
//     table   concat insert pack remove sort unpack
//
// Every function that walks over its arguments is charged for them before it starts. pairs goes by
// sorted keys, tostring and format show no addresses, rep and format know bounds.
#ifndef TILEWALK_SCRIPT_LIBRARY_H
#define TILEWALK_SCRIPT_LIBRARY_H

#include "script/guard.h"

// What a guard opens its state with: a visit, which leaves nothing on the stack.
int library_open(lua_State *L);
// Pushes the library as a table to copy from; it is never handed out itself.
void library_push(lua_State *L);
// A hint of readonly_words: names of full Lua that are missing here.
bool library_hint(lua_State *L, const char *key);

#endif
