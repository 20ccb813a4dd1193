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
says '^ok  *OpenBLAS'
says '^ok  *XGBoost'
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
