// A pool for tests: its own nats-server on a free port of this machine, with its storage in the
// box; and a client that writes the protocol by hand, as no program of ours would.
#ifndef TILEWALK_TESTS_POOL_SERVER_H
#define TILEWALK_TESTS_POOL_SERVER_H

#include "program.h"

struct pool_server {
    struct running *running;
    const char *url; // "nats://127.0.0.1:4222"
    int port;
};

// Returns the path of nats-server; NULL: there is none, or the program was built without pools.
const char *pool_server_program(void);

// `config`: lines of its configuration file; "" for none.
struct pool_server pool_start(struct box *b, const char *config);
void pool_kill(struct box *b, struct pool_server *s); // kill -9
void pool_start_again(struct box *b, struct pool_server *s);

// Writes lines of the protocol, and returns what comes back, from `wanted` to the end of that
// message.
int pool_talk(const struct pool_server *s); // a socket, with the greetings done
// The same for a user (members of CONNECT's JSON, each with a comma) who listens to `subject`.
int pool_talk_as(const struct pool_server *s, const char *who, const char *subject);
void pool_publish(int socket, const char *subject, const char *text);
const char *pool_listen(struct box *b, int socket, const char *wanted);

#endif
