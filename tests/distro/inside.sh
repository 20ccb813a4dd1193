#!/bin/sh
# inside.sh TREE COMMAND [NAME=VALUE...]: runs a command of bash in a tree of another system, with processes, devices and shared memory of
# its own, the recordings at /mnt/data where TILEWALK_RECORDINGS names some, and these variables alone. The first process there stays a
# shell, which waits for orphans: there is no init.
set -eu
# shellcheck disable=SC2016 # the inner shells' words
exec "${0%/*}/as_root.sh" unshare --mount --pid --fork --uts sh -c '
    tree=$1 command=$2
    shift 2
    mount -t proc proc "$tree/proc" && mount --rbind /dev "$tree/dev" && mount -t tmpfs tmpfs "$tree/dev/shm" || exit 1
    cp -L /etc/resolv.conf "$tree/etc/resolv.conf" 2>/dev/null
    if [ -n "${TILEWALK_RECORDINGS-}" ]; then
        mkdir -p "$tree/mnt/data" && mount --rbind "$TILEWALK_RECORDINGS" "$tree/mnt/data" && set -- TILEWALK_RECORDINGS=/mnt/data "$@"
    fi
    exec chroot "$tree" env -i HOME=/root PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb \
        DEBIAN_FRONTEND=noninteractive "$@" bash -c "$command; exit \$?"' sh "$@"
