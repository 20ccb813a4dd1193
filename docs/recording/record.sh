#!/usr/bin/env bash
# Records the workbench on a run of the best device here, for the README: docs/workbench.svg (20 seconds, animated) and
# docs/workbench.txt (the main screen at the end, which the README shows).
#
#     docs/recording/record.sh build/tilewalk [FOLDER]
#
# A terminal of 120 x 36 in tmux is captured once a second while a matrix product is tuned and the screens are visited.
set -euo pipefail

program=$(realpath "$1")
out=$(realpath "${2:-$(dirname "$0")/..}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
socket=$work/tmux
trap 'tmux -S "$socket" kill-server 2>/dev/null || true; rm -rf "$work"' EXIT

export TILEWALK_DB=$work/tilewalk.db XDG_CONFIG_HOME=$work XDG_STATE_HOME=$work
export LC_ALL=C.UTF-8 TERM=xterm-256color
for seed in 1 2; do # something to overlay
    "$program" tune gemm --set N=128 --set M=128 --set K=128 --seed $seed --trials 120 --json >"$work/log"
done

tmux -S "$socket" -f /dev/null new-session -d -x 120 -y 36 \
    "'$program' tune gemm --set N=128 --set M=128 --set K=128 --seed 3 --trials 400; sleep 60"
press() {
    tmux -S "$socket" send-keys "$@"
}
# What is pressed before which frame.
keys=([1]=5 [2]=j [3]=space [4]=j [5]=space [6]=1 [9]=Tab [10]=j [12]=2 [13]=] [15]=6 [17]=3 [19]=1)

sleep 6 # until there is something to see
for ((frame = 0; frame < 20; frame++)); do
    [ -z "${keys[frame]-}" ] || press "${keys[frame]}"
    sleep 1
    tmux -S "$socket" capture-pane -p -e >"$work/$(printf 'frame.%03d' "$frame")"
done
tmux -S "$socket" capture-pane -p >"$out/workbench.txt"
press q

LC_ALL=C.UTF-8 gawk -v rows=36 -v cols=120 -v step=1 -f "$here/svg.awk" "$work"/frame.* >"$out/workbench.svg"
echo "$out/workbench.svg $out/workbench.txt"
