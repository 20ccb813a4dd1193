// The words of GLSL and of Lua that a scaffold has to know: those that no shader declares, and
// those that are no names in a space file.
//
//     scaffold_is_keyword("uniform"); scaffold_is_built_in("vec4"); scaffold_is_lua_word("end");
//
// Types and families of functions are known by how they begin.
#ifndef TILEWALK_SCRIPT_SCAFFOLD_WORDS_H
#define TILEWALK_SCRIPT_SCAFFOLD_WORDS_H

#include <stdbool.h>

// Returns if a word is in a list whose words all have spaces on both sides.
bool scaffold_is_listed(const char *list, const char *word);
bool scaffold_is_keyword(const char *word);  // of GLSL
bool scaffold_is_built_in(const char *word); // a type or function of GLSL
bool scaffold_is_lua_word(const char *name); // of Lua, or of space files

struct scaffold_type {
    const char *name; // as space files write it, "f32"
    int bytes, count; // of a component (0: a macro says it); of them in a vector
    bool is_plain;    // a number in a space file stands for it
};
// Returns what a type of GLSL is: a scalar or a vector.
struct scaffold_type scaffold_type_of(const char *type);

#endif
