// The guard: a Lua state in which a user's text can neither reach out nor run away.
//
//     guard_create(&g, &texts, library_open, owner)  a state with the safe library and nothing else
//     guard_run(&g, GUARD_RULE, place, visit, c, e)  every visit to Lua; errors become values
//     guard_destroy(&g)
//
// Reach: chunks are text and see only the functions that library.c lists; none of them opens,
// loads, matches patterns, draws random numbers, tells the time, shows an address, catches errors.
//
// Run: a visit has a number of steps. An instruction costs one (count hook), 16 allocated bytes one
// (allocator), compiling a byte four, work done in C about what it takes (guard_charge), so that no
// single call is out of the hook's reach. Steps are the same on every machine. What they do not
// see, such as comparing megabytes in a loop, is ended by CPU time. The memory of the whole state
// is capped, and what is kept outside of it for the file's sake counts there too (guard_keep).
//
// Visits may come from any thread, and take turns: rules are asked on the thread on which a
// strategy plans while the engine's renders. A visit makes no other.
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

struct place { // in a user's file
    int text;  // index in texts
    int line;  // 0: unknown
};

struct guard {
    lua_State *lua;
    pthread_mutex_t turn; // held during a visit
    const struct texts *texts;
    void *owner;         // who made it: the script
    struct place place;  // blamed for errors that happen outside any line of Lua
    struct place caught; // innermost line of Lua when the error was raised
    bool spares_library; // the user's line is blamed, not that of the shipped text that it called
    size_t bytes;
    enum guard_task task;
    int64_t steps_left;
    int64_t steps_at_look; // steps_left when the clock was last looked at
    int hook_interval;     // instructions
    int64_t cpu_limit_ns;
    int64_t cpu_deadline; // 0: not yet set in this visit
};

#define GUARD_MEMORY_MIB 64

// `open` puts into the new state what its texts may call: library_open. `owner` is whoever made it.
void guard_create(struct guard *g, const struct texts *texts, lua_CFunction open, void *owner);
void guard_destroy(struct guard *g);

struct guard *guard_of(lua_State *L);

// Calls `visit` with `context` as its light userdata argument, protected. No Lua error leaves: it
// becomes `e`, with the line of Lua that raised it, else `place`. `visit` must own nothing on the C
// heap that an error would lose.
bool guard_run(struct guard *g, enum guard_task task, struct place place, lua_CFunction visit,
               void *context, struct err *e);

// The rest is for visits and the functions they call: these raise Lua errors.

// Pays for work done outside the VM.
void guard_charge(lua_State *L, uint64_t steps);
// Pays for memory outside of the state that is kept as long as it.
void guard_keep(lua_State *L, size_t bytes);
// Like luaL_loadbufferx, of text alone: pushes the function, or the complaint. Paid for while it is
// compiled, which the hook does not see.
int guard_load(lua_State *L, const char *name, const char *source, size_t length);
// Pushes the function of a chunk. `text` says whose lines it has.
void guard_load_text(lua_State *L, int text, const char *source, size_t length);
// The line of Lua that called the running C function.
struct place guard_caller(lua_State *L);
// An error in another place than the caller's.
int guard_raise(lua_State *L, struct place place, const char *message);

#endif
