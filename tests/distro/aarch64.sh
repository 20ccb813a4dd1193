#!/usr/bin/env bash
# aarch64.sh ROOT: the bundle for aarch64, build/tilewalk-bundle-aarch64.tar.xz, compiled here in a tree of Debian 12 that holds the
# cross compiler and arm64's libraries (mmdebstrap, once; 2 GB below the user's cache). It is tried in an empty root with qemu-user,
# which knows no seccomp: TILEWALK_SANDBOX=0.
set -euo pipefail

root=$1
here=$root/tests/distro
tree=${XDG_CACHE_HOME:-$HOME/.cache}/tilewalk/distro/aarch64/tree
out=$root/build/aarch64
archive=$root/build/tilewalk-bundle-aarch64.tar.xz
here_too=(ca-certificates git build-essential crossbuild-essential-arm64 meson ninja-build pkg-config protobuf-c-compiler spirv-headers libonnx-dev xz-utils qemu-user-static)
there=(liblua5.4-dev libvulkan-dev glslang-dev spirv-tools libcjson-dev libsqlite3-dev libopenblas-dev libgmp-dev libseccomp-dev
    libxxhash-dev libcmocka-dev libprotobuf-c-dev libncurses-dev libcairo2-dev zlib1g-dev liblzma-dev libxgboost-dev libnats-dev)

make_tree() {
    [ ! -d "$tree" ] || return 0
    echo "dev: making a tree for aarch64 (some minutes, once)"
    mkdir -p "${tree%/*}"
    "$here/as_root.sh" rm -rf "$tree.new"
    "$here/as_root.sh" mmdebstrap --mode=root --quiet --variant=minbase --aptopt='APT::Install-Recommends "false"' --architectures=amd64,arm64 \
        --include="$(IFS=, && echo "${here_too[*]},${there[*]/%/:arm64}")" bookworm "$tree.new" http://deb.debian.org/debian
    mv "$tree.new" "$tree"
}

copy_sources() {
    mkdir -p "$tree/root/tilewalk"
    (cd "$root" && git ls-files -z | xargs -0 ls -d 2>/dev/null) | tar -C "$root" -cf - -T - | tar -C "$tree/root/tilewalk" -xf - --keep-newer-files 2>/dev/null || true
    cat >"$tree/root/cross" <<'TEXT'
[binaries]
c = 'aarch64-linux-gnu-gcc'
cpp = 'aarch64-linux-gnu-g++'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'aarch64-linux-gnu-pkg-config'
exe_wrapper = 'qemu-aarch64-static'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'armv8-a'
endian = 'little'
TEXT
}

# libraries_of FILE: names of what it needs and of what these need, without glibc's, in the order in which they are met.
libraries_of() {
    local queue=("$1") known=" " name file
    while [ ${#queue[@]} -gt 0 ]; do
        file=${queue[0]}
        queue=("${queue[@]:1}")
        for name in $(objdump -p "$file" | awk '$1 == "NEEDED" { print $2 }'); do
            case $name in libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | ld-linux-*) continue ;; esac
            [[ $known != *" $name "* ]] || continue
            known+="$name "
            file=$(find "$tree/usr/lib/aarch64-linux-gnu" "$tree/lib/aarch64-linux-gnu/" -name "$name" -print -quit 2>/dev/null)
            [ -n "$file" ] || file=$(find -L "$tree/usr/lib/aarch64-linux-gnu" -name "$name" -print -quit)
            [ -n "$file" ] || { echo "dev: no library $name" >&2 && return 1; }
            echo "$file"
            queue+=("$file")
        done
    done
}

pack() {
    local bundle=$out/tilewalk library name
    rm -rf "$out"
    mkdir -p "$bundle/lib" "$bundle/bin" "$bundle/share/tilewalk/docs" "$bundle/notices"
    chroot "$tree" aarch64-linux-gnu-strip -o /root/stripped /root/tilewalk/build-aarch64/tilewalk
    cp "$tree/root/stripped" "$bundle/bin/tilewalk"
    cp -r "$root/lua" "$root/presets" "$root/shaders" "$bundle/share/tilewalk"
    cp -r "$root/docs/sample" "$bundle/share/tilewalk/docs"
    libraries_of "$bundle/bin/tilewalk" >"$out/libraries"
    while read -r library; do
        name=${library##*/}
        case $name in
        libstdc++.* | libgcc_s.* | libz.* | libexpat.* | libvulkan.* | libxcb* | libX*)
            mkdir -p "$bundle/spare/$name"
            cp -L "$library" "$bundle/spare/$name"
            ;;
        *) cp -L "$library" "$bundle/lib" ;;
        esac
    done <"$out/libraries"
    for name in "${there[@]}"; do cp -r "$tree/usr/share/doc/$name/copyright" "$bundle/notices/$name"; done
    for library in $(sed "s|.*/||" "$out/libraries"); do
        name=$(chroot "$tree" dpkg-query -S "*/$library" | sed -n '1s/:.*//p')
        cp "$tree/usr/share/doc/$name/copyright" "$bundle/notices/$name"
    done
    cp "$root/LICENSE" "$root/README.md" "$bundle"
    cp -rL /lib/terminfo "$bundle/share/terminfo"
    cp "$root/src/bundle.sh" "$bundle/tilewalk"
    chmod 755 "$bundle/tilewalk"
    tar -C "$out" --owner=0 --group=0 -caf "$archive" tilewalk
    echo "$archive: $(du -h "$archive" | cut -f1)"
}

# An empty root with glibc (arm64's for the program, ours for the launcher's shell) and nothing else.
make_root() {
    local r=$1 lib=lib/aarch64-linux-gnu
    mkdir -p "$r/proc" "$r/dev" "$r/tmp" "$r/bin" "$r/lib64" "$r/lib/x86_64-linux-gnu" "$r/$lib"
    cp -L "$tree/bin/dash" "$r/bin/sh"
    cp -L "$tree"/bin/{readlink,dirname} "$r/bin"
    cp -L "$tree/lib64/ld-linux-x86-64.so.2" "$r/lib64"
    cp -L "$tree/lib/x86_64-linux-gnu/libc.so.6" "$r/lib/x86_64-linux-gnu"
    cp -L "$tree/$lib"/{ld-linux-aarch64.so.1,libc.so.6,libm.so.6,libdl.so.2,librt.so.1,libpthread.so.0} "$r/$lib"
    ln -s aarch64-linux-gnu/ld-linux-aarch64.so.1 "$r/lib"
    tar -C "$r" -xf "$archive"
}

# Programs of arm64 are given to qemu in this namespace alone (Linux 6.7 or newer).
try() {
    local folder
    folder=$(mktemp -d)
    make_root "$folder"
    cp "$tree/usr/bin/qemu-aarch64-static" "$folder/bin"
    unshare --user --map-root-user --mount --pid --fork sh -eu -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev"
        mount -t binfmt_misc binfmt_misc "$1/proc/sys/fs/binfmt_misc"
        printf "%s" ":arm64:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:$1/bin/qemu-aarch64-static:F" \
            >"$1/proc/sys/fs/binfmt_misc/register"
        exec env -i HOME=/tmp TERM=dumb PATH=/bin TILEWALK_SANDBOX=0 OPENBLAS_NUM_THREADS=1 "$(command -v chroot)" "$1" sh -eu -c "
            tilewalk/tilewalk --version
            tilewalk/tilewalk check gemm --device none
            tilewalk/tilewalk tune gemm --source synthetic:rugged --trials 30 --seed 1 --plain
            tilewalk/tilewalk export 1 --recording --out /tmp/recording --name gemm
            tilewalk/tilewalk replay /tmp/recording/gemm.json --strategy random --trials 20 --repeats 5 --seed 1"' sh "$folder"
    rm -rf --one-file-system "$folder"
}

make_tree
copy_sources
build=$(git -C "$root" describe --always --dirty --exclude '*' 2>/dev/null || true)
"$here/inside.sh" "$tree" "cd /root/tilewalk && { [ -f build-aarch64/build.ninja ] || meson setup build-aarch64 --cross-file /root/cross -Dwerror=false
    meson configure build-aarch64 -Dbuild='$build' && ninja -C build-aarch64 tilewalk; } >/root/build.log 2>&1 || { tail -n 40 /root/build.log >&2; exit 1; }"
pack
try
