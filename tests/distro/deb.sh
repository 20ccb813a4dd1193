#!/usr/bin/env bash
# deb.sh ROOT [NAME]: makes a .deb of this checkout's tracked files in build/deb, from docs/packaging/debian; for the Debian here, or
# in the tree of another one that ./dev distro NAME made. It is looked at by lintian, and with NAME tried in a fresh tree.
set -euo pipefail

root=$1 name=${2-}
here=$root/tests/distro
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tilewalk/distro
out=$root/build/deb${name:+/$name}

# A build of a commit is older than the release that it leads to, and names the commit.
version_of() {
    local version commit=
    version=$(sed -n '1s/.*(\(.*\)-.*/\1/p' "$root/docs/packaging/debian/changelog")
    [ ! -e "$root/.git" ] || commit=$(git -C "$root" describe --always --dirty --exclude '*' 2>/dev/null || true)
    echo "$version${commit:+~$(git -C "$root" show -s --format=%cd --date=format:%Y%m%d).${commit//-/.}}-1"
}

copy_sources() {
    local there=$1
    rm -rf "$there"
    mkdir -p "$there"
    (cd "$root" && if [ -e .git ]; then git ls-files -z; else find . -path ./build -prune -o -type f -print0; fi | xargs -0 ls -d 2>/dev/null) | tar -C "$root" -cf - -T - | tar -C "$there" -xf -
    mv "$there/docs/packaging/debian" "$there/debian"
    sed -i "1s/(.*)/($(version_of))/" "$there/debian/changelog"
}

build='cd "$1" && dpkg-buildpackage -us -uc -b >../build.log 2>&1 || { tail -n 40 ../build.log >&2; exit 1; }
    lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs ../*.changes'

rm -rf "$out"
mkdir -p "$out"
# shellcheck source=/dev/null
this=$(. /etc/os-release && echo "${ID-}-${VERSION_ID-}")
case $name in
'' | "$this")
    copy_sources "$out/tilewalk"
    bash -c "$build" bash "$out/tilewalk"
    ;;
debian-12 | debian-13)
    [ -d "$cache/$name/tree" ] || {
        echo "dev: there is no tree of $name (./dev distro $name makes it)" >&2
        exit 2
    }
    copy_sources "$cache/$name/tree/root/deb/tilewalk"
    "$here/inside.sh" "$cache/$name/tree" "apt-get update -qq && apt-get install -y -qq --no-install-recommends debhelper lintian >/dev/null &&
        set -- /root/deb/tilewalk && $build"
    mv "$cache/$name/tree/root/deb"/*.deb "$out"
    rm -rf "$cache/$name/tree/root/deb"
    ;;
*)
    echo "dev: no distribution '$name' (debian-12, debian-13)" >&2
    exit 2
    ;;
esac
ls "$out"/tilewalk_*.deb
[ -n "$name" ] || exit 0

suite=$([ "$name" = debian-12 ] && echo bookworm || echo trixie)
mkdir -p "$cache"
fresh=$(mktemp -d "$cache/deb-XXXXXX")
trap '"$here/as_root.sh" rm -rf --one-file-system "$fresh"' EXIT
"$here/as_root.sh" mmdebstrap --mode=root --quiet --variant=minbase --include=ca-certificates "$suite" "$fresh/tree" http://deb.debian.org/debian
cp "$out"/tilewalk_*.deb "$fresh/tree/root/tilewalk.deb"
"$here/inside.sh" "$fresh/tree" 'set -e
    apt-get update -qq && apt-get install -y -qq --no-install-recommends /root/tilewalk.deb >/dev/null 2>&1
    tilewalk --version
    tilewalk check gemm --device none | head -n 1
    tilewalk tune gemm --source synthetic:rugged --trials 30 --seed 1 --plain | tail -n 3
    for file in man/man1/tilewalk-tune.1.gz doc/tilewalk/docs/guide/spaces.md bash-completion/completions/tilewalk; do
        dpkg -L tilewalk | grep -qx "/usr/share/$file" || { echo "no $file in the package"; exit 1; }
    done
    apt-get purge -y -qq tilewalk >/dev/null 2>&1
    ! ls -d /usr/bin/tilewalk /usr/share/tilewalk /usr/share/doc/tilewalk 2>/dev/null
    echo "installed, tried and removed on $(sed -n "s/^PRETTY_NAME=//p" /etc/os-release)"'
