#!/usr/bin/env bash
# card.sh glslang FOLDER         builds Debian 13's glslang into FOLDER/glslang, once. Nothing is installed.
# card.sh pack ROOT ARCHIVE TO   fills the folder TO: the bundle ARCHIVE, the Vulkan loader, the scripts and what they begin with.
set -euo pipefail

# Lists of apt's are our own: the machine's sources have no say.
fetch_source() {
    local folder=$1
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/source"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" \
        >"$folder/apt/sources.list"
    cat >"$folder/apt/apt.conf" <<TEXT
Dir::State "$folder/apt"; Dir::State::status "/dev/null"; Dir::Cache "$folder/apt";
Dir::Etc::sourcelist "$folder/apt/sources.list"; Dir::Etc::sourceparts "/dev/null"; Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "";
TEXT
    export APT_CONFIG=$folder/apt/apt.conf
    apt-get update -qq
    (cd "$folder/apt/archives" && apt-get source -qq --download-only glslang)
    tar -C "$folder/source" -xzf "$folder"/apt/archives/glslang_*.orig.tar.gz --strip-components=1
}

build_glslang() {
    local folder=$1
    [ ! -d "$folder/glslang" ] || return 0
    rm -rf "$folder/apt" "$folder/source" "$folder/glslang.new"
    fetch_source "$folder"
    cmake -S "$folder/source" -B "$folder/source/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DENABLE_OPT=OFF -DENABLE_HLSL=OFF \
        -DGLSLANG_TESTS=OFF -DENABLE_GLSLANG_BINARIES=OFF -DCMAKE_INSTALL_PREFIX="$folder/glslang.new" >"$folder/log"
    ninja -C "$folder/source/build" install >>"$folder/log"
    rm -rf "$folder/apt" "$folder/source"
    mv "$folder/glslang.new" "$folder/glslang"
}

# The loaders are this system's. A bare machine may have none, and no xz either: the archive is gzip's.
pack() {
    local here=$1/tests/card archive=$2 to=$3 program
    rm -rf "$to"
    mkdir -p "$to/loaders"
    cp "$archive" "$to/bundle.tar.gz"
    cp -r "$here/first.sh" "$here/second.sh" "$here/rows.sh" "$here/vendor.py" "$here/starts" "$to"
    (cd "$to/loaders" && apt-get download -qq libvulkan1 libegl1 libglvnd0 libgl1 libglx0) ||
        echo "dev: the Vulkan loader cannot be fetched: the machine has to have it" >&2
    program=$(command -v glslangValidator) && cp "$program" "$to/glslang-nv" # where it is older than 13, it knows the NV spelling alone
    [ -z "${GGML-}" ] || cp -r "$GGML" "$to/ggml"
    echo "$to: $(du -sh "$to" | cut -f1); run there: bash first.sh OUT, then bash second.sh OUT (CARD_SMALL=1 rehearses)"
}

case $1 in
glslang) build_glslang "$2" ;;
pack) pack "$2" "$3" "$4" ;;
esac
