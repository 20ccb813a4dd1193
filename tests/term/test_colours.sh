#!/bin/sh
# test_colours.sh PROGRAM: as many colours as the terminal shows and the user wants; the palette and the environment as they were.
. "$(dirname "$0")/terminal.sh"

command -v tic >/dev/null || {
    echo 'tic is missing'
    exit 77
}
cp "$TILEWALK_DATA/presets/gemm.lua" "$box/mine.lua"
cd "$box" || exit 1
tilewalk tune mine.lua --source synthetic:rugged --seed 1 --trials 60 --plain >/dev/null || fail 'no session to look at'
open_terminal 36 120
escape=$(printf '\033')
entries=$box/cache/tilewalk/terminfo/t

# Colours of 24 bits, of the 256, of the 8.
colors() { mux capture-pane -p -e -t main | grep -q "$escape\[[0-9;]*$1"; }
rgb='48;2;' # backgrounds of values
indexed='48;5;'
plain='[34][0-7][;m]'

# look 'ENVIRONMENT': the map, with the number of a cell on its colour.
look() {
    start "env $1 tilewalk watch 1 --view map"
    see ' high best, by speed'
}
leave() {
    press q
    at_prompt 0
}

# --- truecolor ---
for terminal in tmux-256color screen-256color xterm-256color xterm; do
    infocmp "$terminal" >/dev/null 2>&1 || continue
    look "TERM=$terminal COLORTERM=truecolor"
    within 'colours of 24 bits' colors "$rgb"
    colors "$indexed" && fail 'colours of the 256 beside them'
    leave
    [ -f "$entries/tilewalk1-$terminal" ] || fail "no entry for $terminal"
done
pass 'truecolor where COLORTERM says so'

look 'TERM=tmux-256color COLORTERM=24bit'
within 'the ends of viridis' colors '48;2;253;231;37'
leave
look 'TERM=tmux-256color COLORTERM=truecolor COLORFGBG="0;15"'
within 'its dark end' colors '48;2;68;1;84'
colors '48;2;253;231;37' && fail 'pale yellow on a light background'
leave
pass 'dark and light'

# --- without ---
for terminal in tmux-256color xterm-256color; do
    look "TERM=$terminal"
    within 'colours of the 256' colors "$indexed"
    colors "$rgb" && fail 'colours of 24 bits that nobody offered'
    leave
done
look 'TERM=xterm'
within 'colours of the palette' colors "$plain"
colors "$rgb" && fail 'colours of 24 bits that nobody offered'
leave
pass 'fewer where it does not'

for wish in 'NO_COLOR=1' 'TERM=vt100'; do
    look "TERM=tmux-256color COLORTERM=truecolor $wish"
    colors "$rgb" || colors "$indexed" || colors "$plain" && fail "colours in spite of $wish"
    leave
done
look '-u TMUX STY=1.screen TERM=screen-256color COLORTERM=truecolor' # inherited, and wrong in there
within 'colours of the 256' colors "$indexed"
colors "$rgb" && fail 'colours of 24 bits in GNU screen'
leave
pass 'none where they are not wanted or not shown'

# --- entries that cannot be made, and those of others ---
rm -r "$box/cache"
: >"$box/cache"
look 'TERM=tmux-256color COLORTERM=truecolor'
within 'colours of the 256' colors "$indexed"
leave
rm "$box/cache"
start "env PATH=$box/bin TERM=tmux-256color COLORTERM=truecolor $program watch 1 --view map" # has no tic
see ' high best, by speed'
within 'colours of the 256' colors "$indexed"
leave
mkdir -p "$entries"
echo 'no entry' >"$entries/tilewalk1-tmux-256color"
look 'TERM=tmux-256color COLORTERM=truecolor'
within 'colours of the 256' colors "$indexed"
leave
rm -r "$box/cache"
pass 'the 256 where no entry can be made'

cat >"$box/direct.ti" <<'TEXT'
xterm-direct|one of a system that has it,
	RGB, ccc@, colors#0x1000000, pairs#0x7FFF, initc@, op=\E[39;49m,
	setab=\E[%?%p1%{8}%<%t4%p1%d%e48;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,
	setaf=\E[%?%p1%{8}%<%t3%p1%d%e38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,
	setb@, setf@, use=xterm-256color,
TEXT
tic -x -o "$box/.terminfo" "$box/direct.ti" || fail 'tic'
look 'TERM=xterm-direct'
within 'colours of 24 bits' colors "$rgb"
leave
rm -r "$box/cache"
start "env PATH=$box/bin TERM=xterm-direct $program watch 1 --view map" # without tic
see ' high best, by speed'
within 'colours of the palette' colors "$plain"
colors '[34]8;[25];' && fail 'colours that this entry has other numbers for'
leave
pass 'a terminal type that is direct itself'

# --- nothing is left behind ---
mux pipe-pane -t main "cat >'$box/raw'"
look 'TERM=xterm-256color COLORTERM=truecolor'
within 'colours of 24 bits' colors "$rgb"
leave
mux pipe-pane -t main
grep -q "$escape\]4;" "$box/raw" && fail 'the palette was changed'
type 'echo plain-$((1 + 1))'
see 'plain-2'
colors "$rgb" || colors "$indexed" || colors "$plain" && fail 'the colours were not reset'
cat >"$box/editor" <<TEXT
#!/bin/sh
echo "TERM=\$TERM TERMINFO=\${TERMINFO-none}" >'$box/seen'
TEXT
chmod +x "$box/editor"
look "TERM=xterm-256color COLORTERM=truecolor EDITOR=$box/editor"
press e
within 'the editor' test -s "$box/seen"
[ "$(cat "$box/seen")" = 'TERM=xterm-256color TERMINFO=none' ] || fail "the editor saw $(cat "$box/seen")"
leave
pass 'the palette and the environment are as they were'
