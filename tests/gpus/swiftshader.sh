#!/bin/sh
# swiftshader.sh FOLDER: the driver SwiftShader alone, out of a package of which nothing is installed. Once.
set -eu
folder=$1 package=chromium-common
[ ! -f "$folder/vk_swiftshader_icd.json" ] || exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || {
    echo "this is no Debian" >&2
    exit 1
}
rm -rf "$folder"
mkdir -p "$folder/package"
cd "$folder/package"
if ! apt-get download -qq "$package"; then
    sudo="sudo -n"
    [ "$(id -u)" != 0 ] || sudo=
    $sudo apt-get update -qq
    apt-get download -qq "$package"
fi
dpkg-deb -x "$package"_*.deb .
mv usr/lib/chromium/libvk_swiftshader.so usr/lib/chromium/vk_swiftshader_icd.json "$folder"
rm -rf "$folder/package"
