#!/bin/sh
# inside.sh TREE COMMAND: runs a command of bash in a tree of another system, with processes, devices and shared memory of its own.
# Whoever is not root needs user namespaces, which mmdebstrap's helper enters.
set -eu
enter='unshare --mount --pid --fork --uts'
[ "$(id -u)" = 0 ] || enter="mmdebstrap --unshare-helper $enter"
# shellcheck disable=SC2016,SC2086 # $1 and $2 are the inner shell's; $enter is a list of words
exec $enter sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/dev/shm" &&
    cp -L /etc/resolv.conf "$1/etc/resolv.conf" 2>/dev/null; exec chroot "$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb \
    DEBIAN_FRONTEND=noninteractive bash -c "$2"' sh "$1" "$2"
