#!/usr/bin/env bash
# glslang.sh find   prints the folder of a glslang that was built by `make`; nothing where the system's is new enough. Exit 1 where it is
#                   too old and nothing was built.
# glslang.sh make   the same, and builds one first where there is none: the newest of Debian's source packages that compiles here. Exit 1,
#                   and a line that says why, where that cannot be.
#
# Debian 12's glslang 12.0 knows neither KHR's cooperative matrices nor integer dot products. What is built lies in the user's cache, one
# folder for a version, a compiler and these flags; nothing is installed.
set -euo pipefail

oldest=15
flags=(-DCMAKE_BUILD_TYPE=Release -DENABLE_OPT=OFF -DENABLE_HLSL=OFF -DGLSLANG_TESTS=OFF -DENABLE_GLSLANG_BINARIES=OFF
    -DCMAKE_INSTALL_LIBDIR=lib)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tilewalk
key=$({ echo "${flags[*]}" && ${CC:-cc} -dumpmachine && ${CC:-cc} -dumpversion; } | sha256sum | cut -c1-8)
failed=$cache/glslang-failed-$key

# The version of the system's headers; 0 without any.
system_version() {
    printf '#include <glslang/build_info.h>\nGLSLANG_VERSION_MAJOR\n' | ${CC:-cc} -E -P - 2>/dev/null | grep -x '[0-9]*' || echo 0
}

newest_built() {
    local folders
    mapfile -t folders < <(printf '%s\n' "$cache"/glslang-[0-9]*-"$key" | sort -V)
    [ -d "${folders[-1]}" ] && echo "${folders[-1]}"
}

# Lists of apt's are our own: the machine's sources have no say.
list_sources() {
    local work=$1 suite
    mkdir -p "$work/lists/partial" "$work/archives/partial"
    for suite in sid trixie; do
        echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main"
    done >"$work/sources.list"
    cat >"$work/apt.conf" <<TEXT
Dir::State "$work"; Dir::State::status "/dev/null"; Dir::Cache "$work";
Dir::Etc::sourcelist "$work/sources.list"; Dir::Etc::sourceparts "/dev/null"; Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User ""; Acquire::Languages "none"; Acquire::Retries "0"; Acquire::http::Timeout "20";
TEXT
    export APT_CONFIG=$work/apt.conf
    apt-get update -qq || return 1 # in a condition `set -e` is off, in functions too
    apt-cache showsrc glslang | sed -n 's/^Version: //p' | sort -Vru >"$work/versions"
    [ -s "$work/versions" ]
}

build_version() {
    local work=$1 version=$2 tree
    tree=$work/$version
    mkdir -p "$tree/source"
    (cd "$tree" && apt-get source -qq --download-only "glslang=$version")
    tar -C "$tree/source" -xf "$tree"/glslang_*.orig.tar.* --strip-components=1
    cmake -S "$tree/source" -B "$tree/build" -G Ninja "${flags[@]}" -DCMAKE_INSTALL_PREFIX="$tree/installed"
    ninja -C "$tree/build" install
    cp "$tree/source/LICENSE.txt" "$tree/installed"
    rm -rf "${cache:?}/glslang-${version%-*}-$key"
    mv "$tree/installed" "$cache/glslang-${version%-*}-$key"
}

# Makes the newest that compiles. What happens is in the log.
make_one() {
    local work=$1 version
    list_sources "$work" || return 1
    while read -r version; do
        ! dpkg --compare-versions "$version" lt "$oldest" || break
        bash -c 'set -e; source "$1" define; build_version "$2" "$3"' sh "${BASH_SOURCE[0]}" "$work" "$version" && return 0
        echo "glslang $version cannot be fetched, or does not compile here"
    done <"$work/versions"
    return 1
}

make_in_turn() {
    local work log=$cache/glslang.log
    newest_built && return # another process has just made it
    if [ -n "$(find "$failed" -mmin -60 2>/dev/null)" ]; then
        echo "dev: no newer glslang was built within the last hour ($log; remove $failed to try at once)" >&2
        return 1
    fi
    echo "dev: building a newer glslang than the system's (two to five minutes, once)" >&2
    work=$(mktemp -d)
    if make_one "$work" >"$log" 2>&1; then
        rm -rf "$work" "$failed"
        newest_built
    else
        rm -rf "$work"
        touch "$failed" # so that each call of an offline machine does not wait for the network
        echo "dev: the system's glslang is used, as a newer one cannot be built: $(tail -n 1 "$log") ($log)" >&2
        return 1
    fi
}

case $1 in
define) ;;
find | make)
    [ "$(system_version)" -lt "$oldest" ] || exit 0
    newest_built && exit
    [ "$1" = make ] || exit 1
    mkdir -p "$cache"
    exec 8>"$cache/glslang.lock"
    flock 8
    make_in_turn
    ;;
esac
