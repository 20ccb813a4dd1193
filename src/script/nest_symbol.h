// Symbols: what the function of nest() sees instead of numbers. Shared by the declare_nest files
// only.
//
// A symbol is a sum of loops times formulas, the index of an access, or, without any loop, a
// formula of the configuration. Arithmetic on symbols and whole numbers makes symbols; it adds to
// the nest being declared, and is an error afterwards.
#ifndef TILEWALK_SCRIPT_NEST_SYMBOL_H
#define TILEWALK_SCRIPT_NEST_SYMBOL_H

#include "script/guard.h"
#include "space/nest.h"

#define NEST_MAX_FORMULAS 8192
#define NEST_MAX_DIVISORS 64    // which take longer than the others
#define DIVISOR_STEPS     20000 // of one

struct symbol {
    int formula; // without loops; else what is constant is lost, no index needs it
    int loop;    // the loop that it simply is, or -1
    int count;
    struct nest_term term[];
};

void nest_symbol_open(lua_State *L);         // the metatables, once
struct nest *nest_symbol_nest(lua_State *L); // that is being declared; raises an error otherwise

void nest_symbol_push_formula(lua_State *L, int formula);
void nest_symbol_push_loop(lua_State *L, int loop);
void nest_symbol_push_config(lua_State *L); // `c`, each parameter a symbol
// Adds d.min and so on to the table on the top.
void nest_symbol_set_functions(lua_State *L);

const struct symbol *nest_symbol_test(lua_State *L, int index); // NULL: something else
// A formula from a symbol, a whole number or a boolean.
int nest_symbol_formula(lua_State *L, int index, const char *what);
// The symbol of an index; numbers become symbols in place. `index` is absolute.
const struct symbol *nest_symbol_index(lua_State *L, int index, const char *what);

#endif
