#!/bin/sh
# doctor.sh PROGRAM: what doctor says, and its exit code, where something is missing and where nothing is.
set -u
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TILEWALK_DB="$folder/t.db"

fail() {
    echo "failed: $1"
    cat "$folder/out"
    exit 1
}

# CODE ARGUMENT...: runs doctor, wants that exit code.
doctor() {
    code=$1
    shift
    "$program" doctor "$@" >"$folder/out" 2>&1
    [ $? = "$code" ] || fail "doctor $* does not exit with $code"
}

says() { grep -q -e "$1" "$folder/out" || fail "no '$1'"; }
is_silent_on() { ! grep -q -e "$1" "$folder/out" || fail "'$1'"; }

# No driver at all.
drivers=${VK_DRIVER_FILES-${VK_ICD_FILENAMES-}}
export VK_ICD_FILENAMES="$folder/none" VK_DRIVER_FILES="$folder/none"
doctor 1
says '^missing '
says 'apt install .*mesa-vulkan-drivers'
says '^ok  *BLAS'
says 'XGBoost'
says '^[a-z]*  *GLSL compiler  *glslang [0-9]'
doctor 1 --json
says '"ok":false'
says '"state":"missing","needed":true'

# A database whose pages are damaged, all but the first.
doctor 1 --db "$folder/damaged.db"
says '^ok  *database'
size=$(wc -c <"$folder/damaged.db")
head -c $((size - 4096)) /dev/zero | tr '\0' x | dd of="$folder/damaged.db" bs=4096 seek=1 conv=notrunc 2>/dev/null
doctor 1 --db "$folder/damaged.db"
says '^missing  *database .*is damaged'
unset VK_ICD_FILENAMES VK_DRIVER_FILES
[ -z "$drivers" ] || export VK_ICD_FILENAMES="$drivers" VK_DRIVER_FILES="$drivers"

# Cards that no driver shows, by made-up files of a system: each thing that is missing is named until it is there.
export TILEWALK_ROOT="$folder/root"
plant() {
    mkdir -p "$(dirname "$TILEWALK_ROOT/$1")"
    echo "${2-}" >"$TILEWALK_ROOT/$1"
}
any_doctor() { "$program" doctor >"$folder/out" 2>&1 || true; }
any_doctor
is_silent_on "a card's driver"
plant proc/driver/nvidia/version
any_doctor
says 'dev/nvidia\* is missing'
says 'docker run --gpus all'
says 'no Vulkan manifest of NVIDIA'
says 'NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics'
says 'libGLX_nvidia.so.0'
says 'apt install libxext6'
says 'egl_vendor.d/10_nvidia.json'
says 'apt install libegl1'
says 'libnvidia-glvkspirv is not there'
plant dev/nvidiactl
plant usr/share/vulkan/icd.d/nvidia_icd.json
plant usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.550.1
plant usr/lib/x86_64-linux-gnu/libXext.so.6
plant usr/lib/x86_64-linux-gnu/libEGL.so.1
plant usr/share/glvnd/egl_vendor.d/10_nvidia.json
any_doctor
[ "$(grep -c "a card's driver" "$folder/out")" = 1 ] || fail 'one thing is missing'
says 'libnvidia-glvkspirv is not there'
plant usr/lib/x86_64-linux-gnu/libnvidia-glvkspirv.so.550.1
any_doctor
is_silent_on "a card's driver"
plant sys/class/drm/card1/device/vendor 0x1002
any_doctor
says 'a card of AMD, but no /dev/dri/renderD'
says 'docker run --device /dev/dri'
plant dev/dri/renderD128
any_doctor
says 'no driver shows it'
plant sys/class/drm/card1/device/vendor 0x8086
any_doctor
says 'a card of Intel'
unset TILEWALK_ROOT

# A database that can't be: a file stands where its folder should.
touch "$folder/file"
doctor 1 --db "$folder/file/t.db"
says '^missing  *database'
says '\-\-db'

# Everything, where there is a device.
"$program" devices --json | grep -q '"index"' || exit 77
doctor 0
is_silent_on '^missing'
says '^ok  *device'
doctor 0 --json
says '"ok":true'
