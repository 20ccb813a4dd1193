// Many workers of a pool in one process, which measure nothing: each has a connection of its own to
// the server, speaks its protocol (docs.nats.io/reference/reference-protocols/nats-protocol), takes
// trials that are made up one at a time, and gives each back at once. So it is the server and the
// run that a benchmark sees, not what hundreds of processes cost.
//
//     stubs_begin(port, 500); ... a run ...; int64_t messages = stubs_end();
//
// They end with this process, however it ends.
#ifndef TILEWALK_TESTS_BENCH_STUBS_H
#define TILEWALK_TESTS_BENCH_STUBS_H

#include <stdint.h>

void stubs_begin(int port, int count);
int64_t stubs_end(void); // how many messages they sent and got

#endif
