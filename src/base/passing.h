// Messages with file descriptors over a socket pair (SOCK_SEQPACKET) between a process of ours and
// its fork: the one that starts programs for the other hands over its ends of their pipes.
#ifndef TILEWALK_BASE_PASSING_H
#define TILEWALK_BASE_PASSING_H

#include <stdbool.h>
#include <sys/uio.h>

#define PASSING_MOST_FDS 2

bool passing_pair(int ends[2]); // closed on exec; false: errno says why

// Sends the parts as one message. The descriptors stay the caller's. False: the other side is gone.
bool passing_send(int socket, struct iovec *parts, int count, const int *fds, int fd_count);
// Waits for a message; `flags` are those of recvmsg. Returns its bytes; 0 or less when the other
// side is gone or, with MSG_DONTWAIT, no message is there yet. Descriptors are the caller's, closed
// on exec; those that did not come are -1.
ssize_t passing_receive(int socket, struct iovec *parts, int count, int flags,
                        int fds[PASSING_MOST_FDS]);

#endif
