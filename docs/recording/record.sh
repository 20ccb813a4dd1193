#!/usr/bin/env bash
# Pictures of the workbench (./dev pictures): docs/guide/screens/*.svg, each a frame of the program's own. README shows the first,
# docs/guide/screens.md explains all.
#
#     docs/recording/record.sh build/tilewalk [FOLDER]
#
# A terminal of 120 x 36 in tmux is captured while a matrix product is tuned on the device here. Two other searches of the same
# product, which ran before, are drawn beside.
set -euo pipefail

program=$(realpath "$1")
out=$(realpath "${2:-$(dirname "$0")/../guide/screens}")
here=$(cd "$(dirname "$0")" && pwd)
work=/tmp/tilewalk # seen in the pictures
mkdir "$work"
socket=$work/tmux
trap 'tmux -S "$socket" kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$out"

cp -r "$here"/../../{presets,lua,shaders} "$work"
export TILEWALK_DATA=$work TILEWALK_DB=$work/tilewalk.db XDG_CONFIG_HOME=$work XDG_STATE_HOME=$work
export LC_ALL=C.UTF-8 TERM=xterm-256color COLORTERM=truecolor XDG_CACHE_HOME=$work
tune=(tune gemm --transfer none --seed 2)
for strategy in opevo random; do # something to overlay
    "$program" "${tune[@]}" --strategy $strategy --trials 80 --plain >"$work/log.$strategy"
done

tmux -S "$socket" -f /dev/null new-session -d -x 120 -y 36 "'$program' ${tune[*]} --trials 200; sleep 60"
press() {
    tmux -S "$socket" send-keys "$@"
    sleep 1
}
capture() {
    tmux -S "$socket" capture-pane -p -e
}
until capture | grep -q '1[2-9][0-9]/200'; do sleep 1; done # the search has something to show, and is not over
for key in 5 j space j space; do press $key; done

number=0
for screen in main map trials network sessions space log kernel; do
    press $((++number))
    sleep 2
    capture >"$work/$screen"
    gawk -v rows=36 -v cols=120 -f "$here/svg.awk" "$work/$screen" >"$out/$screen.svg"
done
press q
echo "$out"/*.svg
