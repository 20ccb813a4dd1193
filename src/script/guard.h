// The guard: a Lua state that limits what a user's text can do.
//
//     guard_create(&g, &texts, library_open, owner)  a state with the safe library and nothing else
//     guard_run(&g, GUARD_RULE, place, visit, c, e)  every visit to Lua; errors become values
//     guard_destroy(&g)
//
// Access: chunks are text and see only the functions in library.c. None of these opens or loads
// files, matches patterns, draws random numbers, returns the time, shows an address or catches
// errors.
//
// Cost: a visit has a number of steps. An instruction costs one (count hook), 16 allocated bytes
// cost one (allocator), compiling a byte costs four, and work in C costs about the time it takes
// (guard_charge), so that no single call escapes the hook. Steps are the same on every machine.
// CPU time limits work that steps do not measure, such as comparing megabytes in a loop. The
// memory of the state is limited, with the memory that is kept outside of it for the file
// (guard_keep).
//
// Visits may come from any thread, one after the other: a strategy may evaluate rules on its thread
// while the engine's thread renders. A visit must not start another one.
//
// A chunk is named after the index of its text ("=#3"), so that Lua's "#3:12: what" becomes a path
// of any length.
#ifndef TILEWALK_SCRIPT_GUARD_H
#define TILEWALK_SCRIPT_GUARD_H

#include "base/err.h"
#include "script/texts.h"

#include <lauxlib.h>
#include <lua.h>
#include <pthread.h>
#include <stdint.h>

enum guard_task { GUARD_LOAD, GUARD_RULE, GUARD_RENDER };

struct place { // a line of a user's file
    int text;  // index in texts
    int line;  // 0: unknown
};

struct guard {
    lua_State *lua;
    pthread_mutex_t turn; // held during a visit
    const struct texts *texts;
    void *owner;         // the script
    struct place place;  // the place of errors outside of any line of Lua
    struct place caught; // innermost line of Lua when the error was raised
    bool spares_library; // errors have the user's line, not that of the shipped text that it called
    size_t bytes;
    enum guard_task task;
    int64_t steps_left;
    int64_t steps_at_look; // steps_left at the last check of the clock
    int hook_interval;     // instructions
    int64_t cpu_limit_ns;  // for tests; 0: that of the task
    int64_t cpu_deadline;  // 0: not yet set in this visit
};

#define GUARD_MEMORY_MIB 64

// `open` adds to the new state what its texts may call: library_open.
void guard_create(struct guard *g, const struct texts *texts, lua_CFunction open, void *owner);
void guard_destroy(struct guard *g);

struct guard *guard_of(lua_State *L);

// Calls `visit`, protected, with `context` as its light userdata argument. A Lua error becomes `e`,
// with the line of Lua that raised it, else `place`. `visit` must own nothing on the C heap: an
// error would lose it.
bool guard_run(struct guard *g, enum guard_task task, struct place place, lua_CFunction visit,
               void *context, struct err *e);
// The same; adds the steps of the visit to `*steps`, unless that is NULL. They are counted from the
// beginning of the visit, in thousands of instructions.
struct guard_visit {
    enum guard_task task;
    struct place place;
    lua_CFunction function;
    void *context;
    uint64_t *steps;
};
bool guard_run_visit(struct guard *g, const struct guard_visit *v, struct err *e);

// The functions below are for visits. They raise Lua errors.

// Charges steps for work outside of the VM.
void guard_charge(lua_State *L, uint64_t steps);
// Counts memory outside of the state that is kept as long as the state.
void guard_keep(lua_State *L, size_t bytes);
// Compiles a text: pushes the function, or the error message, like luaL_loadbufferx. Charges steps,
// because the hook does not run meanwhile.
int guard_load(lua_State *L, const char *name, const char *source, size_t length);
// Pushes the function of a chunk, whose lines are those of the text.
void guard_load_text(lua_State *L, int text, const char *source, size_t length);
// Returns the line of Lua that called the running C function.
struct place guard_caller(lua_State *L);
// Raises an error at another place than the caller's.
int guard_raise(lua_State *L, struct place place, const char *message);

// --- the safe library (library.c) ---

// Opens the state of a guard: a visit, which leaves nothing on the stack.
int library_open(lua_State *L);
// Pushes the library as a table to copy from; texts never see the table itself.
void library_push(lua_State *L);
// Pushes a hint for readonly_words about a name of full Lua that is missing here; else false.
bool library_hint(lua_State *L, const char *key);

#endif
