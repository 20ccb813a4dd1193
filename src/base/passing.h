// Messages over a socket pair (SOCK_SEQPACKET) between two processes of ours that fork has parted,
// with descriptors that go along: one that starts others hands over its ends of their pipes.
#ifndef TILEWALK_BASE_PASSING_H
#define TILEWALK_BASE_PASSING_H

#include <stdbool.h>
#include <sys/uio.h>

#define PASSING_MOST_FDS 2

bool passing_pair(int ends[2]); // closed on exec; false: errno says why

// The descriptors stay the caller's. False: the other side is gone.
bool passing_send(int socket, struct iovec *parts, int count, const int *fds, int fd_count);
// `flags` as of recvmsg. Returns how many bytes came; 0 or less: nothing will any more, or, with
// MSG_DONTWAIT, has yet. Descriptors are the caller's, closed on exec; those that did not come are
// -1.
ssize_t passing_receive(int socket, struct iovec *parts, int count, int flags,
                        int fds[PASSING_MOST_FDS]);

#endif
