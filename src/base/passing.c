#include "base/passing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

bool passing_pair(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
}

bool passing_send(int socket, struct iovec *parts, int count, const int *fds, int fd_count)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(PASSING_MOST_FDS * sizeof(int))] = {0};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    ssize_t sent;
    if (fd_count) {
        m.msg_control = control;
        m.msg_controllen = CMSG_SPACE((size_t)fd_count * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)fd_count * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t)fd_count * sizeof(int));
    }
    do
        sent = sendmsg(socket, &m, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

ssize_t passing_receive(int socket, struct iovec *parts, int count, int flags,
                        int fds[PASSING_MOST_FDS])
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(PASSING_MOST_FDS * sizeof(int))];
    struct msghdr m = {.msg_iov = parts,
                       .msg_iovlen = (size_t)count,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    ssize_t got;
    do
        got = recvmsg(socket, &m, flags);
    while (got < 0 && errno == EINTR);
    fds[0] = fds[1] = -1;
    struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    for (int i = 0; i < PASSING_MOST_FDS; i++)
        if (fds[i] >= 0)
            fcntl(fds[i], F_SETFD, FD_CLOEXEC);
    return got;
}
