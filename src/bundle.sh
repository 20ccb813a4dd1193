#!/bin/sh
# Starts the tilewalk beside it with the libraries beside it. Those of `spare` the machine's Vulkan driver may use too, and
# may need newer than ours: they stand in only where the machine has none.
here=$(dirname "$(readlink -f "$0")")
libraries=$here/lib
for spare in "$here"/spare/*; do
    found=
    for folder in /lib/*-linux-gnu /usr/lib/*-linux-gnu /lib64 /usr/lib64 /lib /usr/lib; do
        [ ! -e "$folder/${spare##*/}" ] || found=yes
    done
    [ -n "$found" ] || libraries=$libraries:$spare
done
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export TERMINFO_DIRS="${TERMINFO_DIRS:+$TERMINFO_DIRS:}/etc/terminfo:/lib/terminfo:/usr/share/terminfo:$here/share/terminfo"
exec "$here/bin/tilewalk" "$@"
