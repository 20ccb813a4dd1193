#!/usr/bin/env bash
# release.sh ROOT VERSION [PART...]: all that a version consists of, in build/release/VERSION: NOTES.md from CHANGELOG.md, and of the
# PARTs sources, bundle and deb (all of them) the archives; SHA256SUMS. It is made from the commit alone: its files are unpacked and
# built in a folder of their own, times are that of the commit, paths of this machine are mapped away. So twice from one commit gives
# the same bytes, with the same compiler and libraries.
set -euo pipefail

root=$1 version=${2-}
shift 2 || {
    echo "usage: ./dev release VERSION [sources] [bundle] [deb]" >&2
    exit 2
}
parts=${*:-sources bundle deb}

refuse() {
    echo "dev: $1" >&2
    exit 1
}

for part in $parts; do
    case $part in
    sources | bundle | deb) ;;
    *)
        echo "dev: a release has no part '$part' (sources, bundle, deb)" >&2
        exit 2
        ;;
    esac
done
git -C "$root" rev-parse --git-dir >/dev/null 2>&1 || refuse "a release is made from a checkout of git"
dirty=$(git -C "$root" status --porcelain | head -n 1)
[ -z "$dirty" ] || refuse "files differ from the commit (${dirty#???}): commit or remove them first"
notes=$(awk -v version="$version" '/^## / { on = $2 == version } on' "$root/CHANGELOG.md")
[ -n "$notes" ] || refuse "CHANGELOG.md has no version '$version'"
declared=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$root/meson.build")
[ "$declared" = "$version" ] || refuse "meson.build is of version $declared, not $version"

SOURCE_DATE_EPOCH=$(git -C "$root" show -s --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC XZ_DEFAULTS=-T1
out=$root/build/release/$version name=tilewalk-$version
tree=$root/build/release/$name
rm -rf "$out" "$tree"
mkdir -p "$out" "$tree"
printf '%s\n' "$notes" >"$out/NOTES.md"
git -C "$root" archive --format=tar --prefix="$name/" HEAD >"$out/$name.tar"
tar -C "$root/build/release" -xf "$out/$name.tar"
# Packages are built with these, whatever the checkout is called.
flags="-ffile-prefix-map=$tree=/$name"
for part in $parts; do
    case $part in
    sources) xz -9 -k "$out/$name.tar" ;;
    bundle) CFLAGS=$flags CXXFLAGS=$flags "$tree/dev" bundle "$out/$name-x86_64.tar.xz" ;;
    deb)
        "$tree/dev" deb
        cp "$tree"/build/deb/tilewalk_*.deb "$out"
        ;;
    esac
done
rm -rf "$out/$name.tar" "$tree"
(cd "$out" && sha256sum -- * >SHA256SUMS)
(cd "$out" && cat SHA256SUMS)
