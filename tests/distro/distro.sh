#!/usr/bin/env bash
# distro.sh ROOT NAME PACKAGE...: builds and tests this checkout on another Debian, in a tree of its own below the user's cache. Nothing
# is installed on the machine. The tree is made once (mmdebstrap); removing the folder that is named at the end makes the next call
# begin anew.
#
# What runs there: a build without warnings, the unit tests, and the tests with a device on the newest lavapipe that the release and
# its backports have.
set -euo pipefail

root=$1 name=$2
shift 2
packages=("$@")
folder=${XDG_CACHE_HOME:-$HOME/.cache}/tilewalk/distro/$name
mirror=http://deb.debian.org/debian

refuse() {
    echo "dev: $1" >&2
    exit 2
}

case $name in
debian-12) suite=bookworm backports= ;;
debian-13) suite=trixie backports=trixie-backports ;;
*) refuse "no distribution '$name' (debian-12, debian-13)" ;;
esac

inside() { "$root/tests/distro/inside.sh" "$folder/tree" "$1"; }

make_tree() {
    [ ! -d "$folder/tree" ] || return 0
    local new=$folder/tree.new list
    rm -rf "$new"
    mkdir -p "$folder"
    list=$(IFS=,; echo "${packages[*]}")
    echo "dev: making $name (a few minutes, once)"
    local sources=("deb $mirror $suite main")
    [ -z "$backports" ] || sources+=("deb $mirror $backports main")
    mmdebstrap --quiet --variant=minbase --aptopt='APT::Install-Recommends "false"' --include="ca-certificates,git,$list" \
        ${backports:+--customize-hook='chroot "$1" apt-get install -y -qq -t '"$backports"' mesa-vulkan-drivers >/dev/null'} \
        "$suite" "$new" "${sources[@]}"
    mv "$new" "$folder/tree"
}

# The tracked files as they are now. Files that did not change keep their times, so that a second build is short.
copy_sources() {
    local there=$folder/tree/root/tilewalk
    mkdir -p "$there"
    (cd "$root" && git ls-files -z | xargs -0 ls -d 2>/dev/null) >"$folder/files"
    tar -C "$root" -cf - -T "$folder/files" | tar -C "$there" -xf - --keep-newer-files 2>/dev/null || true
    cmp -s "$folder/files" "$folder/files.before" || (cd "$there" && find src ui tests -type f | sort | comm -23 - <(sort "$folder/files") | xargs -r rm -f)
    mv "$folder/files" "$folder/files.before"
}

make_tree
copy_sources
inside 'cd /root/tilewalk && git init -q . 2>/dev/null; ./dev build >/root/build.log 2>&1 || { tail -40 /root/build.log >&2; exit 1; }
    build/tilewalk --version; gcc -dumpfullversion; build/tilewalk devices | head -20
    ./dev test --build plain unit device'
echo "dev: the tree of $name is $folder"
