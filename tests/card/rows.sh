# shellcheck shell=bash
# Sourced by first.sh and second.sh, whose argument is the folder for what they find: rows (a line for each row when it is done), log, trials.csv,
# sessions.tar.gz. Each row has a limit of its own, and none stops the next. After `most` seconds no row begins.
#
#     line NAME SECONDS COMMAND...     what the command prints
#     tune NAME SECONDS OPTION...      a session of `tilewalk tune`: its best
#     finish                           says how long all took
#
# CARD_SMALL=1 makes all sizes small, for a CPU device. CARD_PROGRAM is a tilewalk in place of the bundle's.

most=395 # seven minutes, less what a row that is stopped takes to end
card=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:-out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
PATH=$PATH:/usr/sbin:/sbin
export TILEWALK_DB=$work/sessions.db
tilewalk=${CARD_PROGRAM:-$work/tilewalk/tilewalk}

# Loaders are unpacked where the machine has none; NVIDIA's driver may lie where they do not look.
prepare() {
    local package manifest=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
    if ! ldconfig -p | grep -q 'libvulkan\.so\.1'; then
        for package in "$card"/loaders/*.deb; do
            dpkg -x "$package" /
        done
        ldconfig
    fi
    if [ -f $manifest ] && [ -z "${VK_DRIVER_FILES-}" ]; then
        export VK_DRIVER_FILES=$manifest __EGL_VENDOR_LIBRARY_FILENAMES=/usr/local/nvidia/share/glvnd/egl_vendor.d/10_nvidia.json
    fi
    [ -n "${CARD_PROGRAM-}" ] || tar -C "$work" -xzf "$card/bundle.tar.gz"
    cp -r "$card/starts" "$work"
    [ ! -d "$card/ggml" ] || cp -r "$card/ggml" "$work"
    say "prepared after $SECONDS s"
}

say() {
    echo "$*" | tee -a "$out/rows"
}

# begin NAME SECONDS: sets the row's limit to so many, or to what is left; false where too little is.
begin() {
    name=$1 limit=$(($2 < most - SECONDS ? $2 : most - SECONDS)) begun=$SECONDS status=0
    ((most - SECONDS > 4)) || { say "$name: left out after $SECONDS s" && return 1; }
}

line() {
    local name limit begun status said
    begin "$1" "$2" || return 0
    shift 2
    said=$(stat -c %s "$out/rows")
    timeout -k 2 "$limit" "$@" >>"$out/rows" 2>"$work/errors" || status=$?
    tail -c "+$((said + 1))" "$out/rows"
    cat "$work/errors" >>"$out/log"
    [ $status = 0 ] || say "$name: status $status: $(tail -n 1 "$work/errors" | cut -c1-200)"
    say "$name: $((SECONDS - begun)) s, until $SECONDS s"
}

tune() {
    local name limit begun status id
    begin "$1" "$2" || return 0
    shift 2
    timeout -s INT -k 6 "$limit" "$tilewalk" tune "$@" --seed 1 --transfer none --plain --verbose >"$work/said" 2>"$work/errors" || status=$?
    { echo "== $name: tune $*"; cat "$work/said" "$work/errors"; } >>"$out/log"
    say "$name: $(grep '^best\|^  run ' "$work/said" | tail -n 1), status $status, $((SECONDS - begun)) s, until $SECONDS s"
    [ $status = 0 ] || say "    $(tail -n 1 "$work/errors" | cut -c1-200)"
    grep '^baseline\|^         [a-z]* .* us' "$work/said" >>"$out/rows"
    id=$(sed -n 's/^session \([0-9]*\) .*/\1/p' "$work/said" | head -n 1)
    if [ -n "$id" ]; then
        { echo "== $name"; timeout 5 "$tilewalk" show "$id" --csv; } >>"$out/trials.csv" 2>>"$out/log"
        [ "$1" != resnet50 ] || timeout 5 "$tilewalk" show "$id" | cut -c1-120 >>"$out/rows"
        [ ! -f "$TILEWALK_DB" ] || { (cd "$work" && tar -czf packed sessions.db*) && mv "$work/packed" "$out/sessions.tar.gz"; }
    fi
}

finish() {
    rm -rf "$work"
    say "finished after $SECONDS s"
}
