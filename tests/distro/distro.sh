#!/usr/bin/env bash
# distro.sh ROOT NAME PACKAGES [COMMAND...]: builds this checkout on another Debian, in a tree of its own below the user's cache, and runs its
# tests, or the command, there. Nothing is installed on the machine. The tree is made once, with the packages (words of one argument);
# removing the folder that is named at the end makes the next call begin anew.
#
# Exit 77 where it cannot be: mmdebstrap, the right to enter a tree, or the network is missing.
set -euo pipefail

root=$1 name=${2-}
read -ra packages <<<"$3"
shift 3
folder=${XDG_CACHE_HOME:-$HOME/.cache}/tilewalk/distro/$name
mirror=http://deb.debian.org/debian

refuse() {
    echo "dev: $1" >&2
    exit 2
}

skip() {
    echo "skipped: $1" >&2
    exit 77
}

case $name in
debian-12) suite=bookworm backports= ;;
debian-13) suite=trixie backports=trixie-backports ;;
*) refuse "no distribution '$name' (debian-12, debian-13)" ;;
esac

as_root=$root/tests/distro/as_root.sh
inside() { "$root/tests/distro/inside.sh" "$folder/tree" "cd /root/tilewalk && $1" "TILEWALK_FETCH=${TILEWALK_FETCH-1}"; }

can_enter() {
    "$as_root" unshare --mount --pid --fork true
}

reaches_mirror() {
    local file
    file=$(mktemp)
    /usr/lib/apt/apt-helper download-file "$mirror/dists/$suite/InRelease" "$file" && rm -f "$file"
}

make_tree() {
    local new=$folder/tree.new list sources=("deb $mirror $suite main")
    reaches_mirror >/dev/null 2>&1 || skip "$mirror cannot be reached"
    "$as_root" rm -rf "$new"
    mkdir -p "$folder"
    list=$(IFS=,; echo "${packages[*]}")
    echo "dev: making $name (a few minutes, once)"
    [ -z "$backports" ] || sources+=("deb $mirror $backports main")
    "$as_root" mmdebstrap --mode=root --quiet --variant=minbase --aptopt='APT::Install-Recommends "false"' --include="ca-certificates,ccache,git,$list" \
        ${backports:+--customize-hook='chroot "$1" apt-get install -y -qq -t '"$backports"' mesa-vulkan-drivers >/dev/null'} \
        --customize-hook='cp /etc/resolv.conf "$1/etc/resolv.conf"' "$suite" "$new" "${sources[@]}"
    mv "$new" "$folder/tree"
}

# copy_sources FROM TO LIST: the files of the list as they are now. A file that did not change keeps its time, so that a second build is
# short; what is no longer in the list goes.
copy_sources() {
    local file
    mkdir -p "$2"
    while read -r file; do
        cmp -s "$1/$file" "$2/$file" || install -D -m "$(stat -c %a "$1/$file")" "$1/$file" "$2/$file"
    done <"$3"
    (cd "$2" && find . -type f -not -path './build*' -not -path './.git/*' | sed 's/^..//' | sort | comm -23 - "$3" | xargs -r rm -f)
}

command -v mmdebstrap >/dev/null || skip 'there is no mmdebstrap (apt install mmdebstrap)'
can_enter 2>/dev/null || skip 'this user cannot enter a tree: it is not root, and has no user namespaces (uidmap, /etc/subuid)'
[ -d "$folder/tree" ] || make_tree
(cd "$root" && git ls-files -co --exclude-standard -z | xargs -0 ls -d 2>/dev/null | LC_ALL=C sort) >"$folder/files"
LC_ALL=C copy_sources "$root" "$folder/tree/root/tilewalk" "$folder/files"
begin='{ git init -q . && ./dev build >/root/build.log 2>&1 || { tail -n 40 /root/build.log >&2; exit 1; }; }'
if [ $# -gt 0 ]; then
    inside "$begin && $(printf '%q ' "$@")"
else
    inside "$begin"' && build/tilewalk --version && echo "gcc $(gcc -dumpfullversion)" && build/tilewalk devices | head -n 20 &&
        { ! build/tilewalk devices | grep -q "matrix *khr" ||
            { ninja -C build tests/test_kernels >/dev/null &&
                (export TILEWALK_DATA=. TILEWALK_UNITS=khr && build/tests/test_kernels kernels && build/tests/test_kernels definitions "*units*"); }; } &&
        ./dev test --build plain unit device'
fi
echo "dev: the tree of $name is $folder"
