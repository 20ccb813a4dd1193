#!/usr/bin/env bash
# Pictures of the workbench (./dev pictures): docs/workbench.svg, 20 seconds, animated, which the README shows, and docs/screens/*.svg,
# a still of each screen, which docs/screens.md explains.
#
#     docs/recording/record.sh build/tilewalk [FOLDER]
#
# A terminal of 120 x 36 in tmux is captured while a matrix product is tuned and the screens are visited. The speeds are those of
# a landscape that is made up (--source synthetic), so that the pictures can be made anywhere and come out alike.
set -euo pipefail

program=$(realpath "$1")
out=$(realpath "${2:-$(dirname "$0")/..}")
here=$(cd "$(dirname "$0")" && pwd)
work=/tmp/tilewalk # seen in the pictures
mkdir "$work"
socket=$work/tmux
trap 'tmux -S "$socket" kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$out/screens"

cp -r "$here"/../../{presets,lua,shaders} "$work"
export TILEWALK_DATA=$work TILEWALK_DB=$work/tilewalk.db XDG_CONFIG_HOME=$work XDG_STATE_HOME=$work
export LC_ALL=C.UTF-8 TERM=xterm-256color COLORTERM=truecolor XDG_CACHE_HOME=$work
tune=(tune gemm --source synthetic:rugged:seed=2:invalid=0.1:delay_us=80000 --workers 1 --strategy opevo)
for seed in 11 12; do # something to overlay
    "$program" "${tune[@]}" --trials 200 --seed $seed --plain >"$work/log.$seed" &
done
wait

tmux -S "$socket" -f /dev/null new-session -d -x 120 -y 36 "'$program' ${tune[*]} --trials 500 --seed 13; sleep 60"
press() {
    tmux -S "$socket" send-keys "$@"
}
capture() {
    tmux -S "$socket" capture-pane -p -e >"$work/$1"
}
draw() {
    gawk -v rows=36 -v cols=120 -v step=1 -f "$here/svg.awk" "$@"
}

# What is pressed before which frame.
keys=([1]=5 [2]=j [3]=space [4]=j [5]=space [6]=1 [9]=Tab [10]=j [12]=2 [13]=] [15]=6 [17]=3 [18]=8 [19]=1)
sleep 6 # until there is something to see
for ((frame = 0; frame < 20; frame++)); do
    [ -z "${keys[frame]-}" ] || press "${keys[frame]}"
    sleep 1
    capture "$(printf 'frame.%03d' "$frame")"
done
draw "$work"/frame.* >"$out/workbench.svg"

number=0
for screen in main map trials network sessions space log kernel; do
    press $((++number))
    sleep 3
    capture "$screen"
    draw "$work/$screen" >"$out/screens/$screen.svg"
done
press q
echo "$out/workbench.svg $out/screens/*.svg"
