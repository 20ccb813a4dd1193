// A pool on this machine, for benchmarks: a nats-server on a free port, and workers of it.
//
//     if (pool_begin(folder)) { pool_add_workers(16); ... --pool=pool_url() ...; pool_end(); }
//
// What was started ends with this process, however it ends.
#ifndef TILEWALK_TESTS_BENCH_POOL_H
#define TILEWALK_TESTS_BENCH_POOL_H

#include <stdbool.h>
#include <sys/types.h>

bool pool_begin(const char *folder); // its storage; false: there is no nats-server
const char *pool_url(void);
pid_t pool_server_pid(void);
void pool_add_workers(int count);
double pool_broker_cpu_s(void); // of the processes by which runs use it, so far
void pool_end(void);

#endif
