#!/bin/sh
# as_root.sh COMMAND...: runs a command as root: as it is where the user is root, else as root of a user namespace, where the user's
# own files are root's, and other ids are those of /etc/subuid (package uidmap); there it may mount, and begins a tree of processes.
[ "$(id -u)" = 0 ] && exec "$@"
exec unshare --map-root-user --map-auto --mount --pid --fork "$@"
