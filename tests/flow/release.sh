#!/bin/sh
# release.sh ROOT: ./dev release refuses what is no release, and makes the same bytes twice: of the sources and the notes, in a clone
# (the packages take as long as a build).
set -eu
root=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git -C "$root" rev-parse --git-dir >/dev/null 2>&1 || {
    echo "this is no checkout of git"
    exit 77
}
git clone -q --no-hardlinks "$root" "$folder/clone"
cd "$folder/clone"
cp "$root/dev" dev
cp "$root/tests/distro/release.sh" tests/distro
git add -A
git -c user.name=t -c user.email=t@localhost commit -qm 'as it is' || true
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" meson.build)

refused() {
    part=$1
    shift
    if ./dev release "$@" >"$folder/told" 2>&1 || ! grep -qF "$part" "$folder/told"; then
        echo "./dev release $* should have been refused ($part):"
        cat "$folder/told"
        exit 1
    fi
}

refused 'usage'
refused "no version '9.9.9'" 9.9.9 sources
refused "no part 'wheel'" "$version" wheel
touch new
refused 'new' "$version" sources
rm new
echo >>README.md
refused 'README.md' "$version" sources
git checkout -q README.md
./dev release "$version" sources >"$folder/first"
cp -r "build/release/$version" "$folder/kept"
touch README.md # times of files do not count
./dev release "$version" sources >"$folder/second"
cmp "$folder/first" "$folder/second"
diff -r "$folder/kept" "build/release/$version"
grep -q "^## $version" "build/release/$version/NOTES.md"
[ "$(grep -c '^## ' "build/release/$version/NOTES.md")" = 1 ]
(cd "build/release/$version" && sha256sum --quiet -c SHA256SUMS)
tar -tJf "build/release/$version/tilewalk-$version.tar.xz" | grep -qx "tilewalk-$version/meson.build"
