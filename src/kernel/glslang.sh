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
    local version
    # A compiler that does not read its input to the end breaks the pipe; its answer holds all the same.
    version=$({ printf '#include <glslang/build_info.h>\nGLSLANG_VERSION_MAJOR\n' || true; } 2>/dev/null | ${CC:-cc} -E -P - 2>/dev/null | grep -x '[0-9]*') || true
    echo "${version:-0}"
}

newest_built() {
    local folders
    mapfile -t folders < <(printf '%s\n' "$cache"/glslang-[0-9]*-"$key" | sort -V)
    [ -d "${folders[-1]}" ] && echo "${folders[-1]}"
}

# Lists of apt's are our own: the machine's sources have no say. Prints the newest version of the suite.
list_sources() {
    local work=$1 suite=$2
    rm -rf "$work/lists"
    mkdir -p "$work/lists/partial" "$work/archives/partial"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" >"$work/sources.list"
    cat >"$work/apt.conf" <<TEXT
Dir::State "$work"; Dir::State::status "/dev/null"; Dir::Cache "$work";
Dir::Etc::sourcelist "$work/sources.list"; Dir::Etc::sourceparts "/dev/null"; Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User ""; Acquire::Languages "none"; Acquire::Retries "0"; Acquire::http::Timeout "20";
TEXT
    apt-get update -qq >&2 || return 1
    apt-cache showsrc glslang | sed -n 's/^Version: //p' | sort -Vr | head -n 1
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

make_of_suite() {
    local work=$1 suite=$2 version
    export APT_CONFIG=$work/apt.conf
    version=$(list_sources "$work" "$suite")
    dpkg --compare-versions "$version" ge "$oldest"
    build_version "$work" "$version"
}

# Makes the newest that can be fetched and compiles. What happens is in the log.
make_one() {
    local work=$1 suite
    for suite in sid trixie; do
        echo "== $suite"
        # In a condition `set -e` is off, in functions too: so it is another shell.
        bash -c 'set -euo pipefail; source "$1" define; make_of_suite "$2" "$3"' bash "${BASH_SOURCE[0]}" "$work" "$suite" && return 0
    done
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
