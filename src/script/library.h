// The safe library: the functions that a space file or template can call without declaring them.
//
//     assert error ipairs pairs select tonumber tostring type
//     math    abs ceil exp floor fmod huge log max maxinteger min mininteger modf pi sqrt
//             tointeger type ult
//     string  byte char format len lower rep reverse sub upper, also as methods of strings
//     table   concat insert pack remove sort unpack
//
// Every function that walks over its arguments is charged for them before it starts. pairs sorts
// its keys, tostring and format show no addresses, rep and format are bounded.
#ifndef TILEWALK_SCRIPT_LIBRARY_H
#define TILEWALK_SCRIPT_LIBRARY_H

#include "script/guard.h"

// Opens the state of a guard: a visit, which leaves nothing on the stack.
int library_open(lua_State *L);
// Pushes the library as a table to copy from; texts never see the table itself.
void library_push(lua_State *L);
// A hint for readonly_words about names of full Lua that are missing here.
bool library_hint(lua_State *L, const char *key);

#endif
