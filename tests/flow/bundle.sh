#!/bin/sh
# bundle.sh DEV: the bundle in an empty root, which holds glibc, a shell and lavapipe with the libraries of its own. Skipped (77)
# where that root cannot be entered.
set -eu
dev=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "failed: $1"
    exit 1
}

root=$folder/root
mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root/opt" "$root/icd" "$root/driver"
unshare --mount --pid --fork --map-root-user true 2>/dev/null || {
    echo 'skipped: no namespaces here'
    exit 77
}
driver=$(ls /usr/lib/x86_64-linux-gnu/libvulkan_lvp.so 2>/dev/null) || {
    echo 'skipped: no lavapipe'
    exit 77
}

# FILE: it and the libraries that it needs. glibc's go where the loader looks, others to `driver`.
needs() { ldd "$1" | awk '$2 == "=>" { print $3 } $1 ~ /^\/lib64\// { print $1 }'; }
for file in $(needs /bin/sh; needs /usr/bin/readlink; needs /usr/bin/dirname; needs "$driver"); do
    case ${file##*/} in
    ld-linux* | libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | libselinux* | libpcre2*)
        mkdir -p "$root/lib64" "$root/lib/x86_64-linux-gnu"
        case $file in */ld-linux*) cp -L "$file" "$root/lib64" ;; *) cp -L "$file" "$root/lib/x86_64-linux-gnu" ;; esac
        ;;
    *) cp -L "$file" "$root/driver" ;;
    esac
done
mkdir -p "$root/bin"
cp -L /bin/sh /usr/bin/readlink /usr/bin/dirname "$root/bin"
cp -L "$driver" "$root/driver"
printf '{"file_format_version":"1.0.0","ICD":{"library_path":"/driver/libvulkan_lvp.so","api_version":"1.3.230"}}' \
    >"$root/icd/lavapipe.json"

"$dev" bundle "$folder/bundle.tar.xz" >"$folder/log" 2>&1 || {
    cat "$folder/log"
    fail 'dev bundle'
}
tar -C "$root/opt" -xJf "$folder/bundle.tar.xz"
[ -n "$(ls "$root/opt/tilewalk/notices")" ] || fail 'no notices'

# shellcheck disable=SC2016 # $1 is the inner shell's
inside() {
    timeout 300 unshare --mount --pid --fork --map-root-user sh -c '
        root=$1
        shift
        mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" &&
            exec env -i HOME=/tmp TERM=xterm PATH=/bin VK_ICD_FILENAMES=/icd/lavapipe.json LD_LIBRARY_PATH=/driver \
                "$(command -v chroot)" "$root" /opt/tilewalk/tilewalk "$@"' sh "$root" "$@"
}
# WORD ARGUMENT...: runs it inside, wants that it says the word.
says() {
    word=$1
    shift
    inside "$@" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "$*"; }
    grep -q "$word" "$folder/log" || { cat "$folder/log"; fail "$1: no $word"; }
}
says llvmpipe devices
says '^best ' tune mm1 --set N=64 --set M=64 --set K=64 --trials 1 --plain
says '"trials":1' ls --json
says '^wrote /tmp/report.tar.xz' prove --minutes 0.01 --only limits --out /tmp/report.tar.xz
