#!/bin/sh
# test_terminal.sh PROGRAM: the terminal is used well and given back as it was found, whatever happens to the program.
. "$(dirname "$0")/terminal.sh"

tilewalk tune gemm --source synthetic:rugged --seed 1 --trials 60 --plain >/dev/null || fail 'no session to look at'
open_terminal 36 120

# --- shown and left ---
start 'tilewalk watch 1'
see 'Best GFLOPS by trial'
other_screen_is 1 || fail 'no alternate screen'
braille=$(printf '\342[\240-\243]') # the first two bytes of U+2800 to U+28FF
in_braille() { shown | LC_ALL=C grep -q "$braille"; }
within 'braille in a UTF-8 locale' in_braille
press q
at_prompt 0
pass 'shown and left'

start 'env LC_ALL=C tilewalk watch 1'
see 'Best GFLOPS by trial'
shown | LC_ALL=C grep -q '[^ -~]' && fail 'more than ASCII in the C locale'
press q
at_prompt 0
pass 'ASCII in the C locale'

# --- sizes ---
start 'tilewalk watch 1'
see '─ Workers ─'
for size in '80 24' '60 15' '40 6' '20 1' '1 1' '200 50' '80 24' '120 36'; do
    # shellcheck disable=SC2086
    set -- $size
    mux resize-window -t main -x "$1" -y "$2"
    press 3 # whatever the size, keys are taken
    press 1
done
press 7 # which comes after all of them: what is seen now is the last size
see ' Log '
press 1
see '─ Workers ─' # its own pane: only there at 110 columns and more
see 'q Quit'
[ "$(shown | grep -c '─ Workers')" = 1 ] || fail 'pieces of old frames are left'
pass 'any size, and back'

press q
at_prompt 0
start 'env LINES=10 COLUMNS=40 tilewalk watch 1' # which are not to be believed
see '─ Workers ─'
press q
at_prompt 0

# --- the carpet and the population, in colours ---
start 'tilewalk watch 1'
see '─ Workers ─'
see 'registers[1]'
coloured() { mux capture-pane -p -e -t main; }
# A row of the carpet has cells whose glyphs have the colour of their background.
has_carpet() { [ "$(coloured | grep 'threads\[1\]' | grep -cE '38;5;([0-9]+)m?.?\[?48;5;|48;5;')" = 1 ]; }
within 'the background colours of the carpet' has_carpet
see 'SYNTHETIC'
press v
see '─ Population of'
see_not '─ Workers ─'
see 'agree'
has_backgrounds() { coloured | grep -q '48;5;'; }
within 'the background colours of the population' has_backgrounds
press '['
see '─ Best 8 after trial'
press Escape
see '─ Population of'
mux resize-window -t main -x 80 -y 24
see 'Workers | Log'
press v # as it is usual there
press v # to the carpet
see 'registers[1]│'
press v # to the population
see '─ Population of'
mux resize-window -t main -x 120 -y 36
see '─ Workers ─'
press q
at_prompt 0
pass 'carpet and population'

# --- suspended ---
start 'tilewalk watch 1'
see '─ Workers ─'
kill -TSTP "$(workbench)"
see 'Stopped' # the shell has the terminal again, and its settings
other_screen_is 0 || fail 'suspended on the alternate screen'
type 'clear; fg'
see '─ Workers ─'
press C-z
see 'Stopped'
other_screen_is 0 || fail 'suspended on the alternate screen'
type "stty -g >'$box/stty-now'; echo stopped-\$((1 + 1))"
see 'stopped-2'
settings_are_the_same || fail 'stty differs while suspended'
type fg
see '─ Workers ─'
other_screen_is 1 || fail 'not back on the alternate screen'
press 3 # it takes keys again
see_not '─ Workers ─'
press 1
see '─ Workers ─'
kill -STOP "$(workbench)" # nobody can catch that one: the shell writes on our screen
see 'Stopped (signal)'
press 'fg; echo "ended with" $?' C-j # the terminal is still raw
see_not 'Stopped (signal)'
see '─ Workers ─'
press q
at_prompt 0
pass 'suspended, and back'

# --- what is pasted, and Alt ---
start 'tilewalk watch 1'
see '─ Workers ─'
printf '3q' | mux load-buffer -
mux paste-buffer -p -t main
see 'pasted text is taken only where text is typed'
see '─ Workers ─'
press M-q M-3 # one key without a meaning each
press 3
see_not '─ Workers ─'
press /
printf 'outcome=ok' | mux load-buffer -
mux paste-buffer -p -t main
see '/outcome=ok'
press Escape
see_not '/outcome=ok'
press q
at_prompt 0
pass 'pastes are text, Alt is nothing'

# --- ended from outside ---
for signal in 'INT 130' 'TERM 143' 'HUP 129' 'SEGV 139' 'ABRT 134' 'QUIT 131'; do
    start 'tilewalk watch 1'
    see '─ Workers ─'
    kill -"${signal% *}" "$(workbench)"
    at_prompt "${signal#* }"
done
start 'tilewalk watch 1'
see '─ Workers ─'
press C-c
at_prompt 130
pass 'ended by signals'

# --- what others write to the terminal ---
start 'tilewalk watch 1'
see '─ Workers ─'
echo 'MESA: a warning from somewhere' >"/proc/$(workbench)/fd/2" || fail 'no descriptor 2'
press 7
see 'MESA: a warning from somewhere'
press 1
see_not 'MESA: a warning'
press q
at_prompt 0
pass 'noise goes to the log'

# --- types of terminals ---
for terminal in xterm-256color xterm screen screen-256color tmux-256color linux vt100 vt220 ansi rxvt; do
    infocmp "$terminal" >/dev/null 2>&1 || continue
    start "env TERM=$terminal tilewalk watch 1"
    see ' Workers '
    press 3
    see_not ' Workers '
    press q
    at_prompt 0
done
pass 'types of terminals'
start 'env TERM=dumb tilewalk watch 1'
see 'the workbench needs a terminal'
at_prompt 1
start 'env TERM=bogus tilewalk watch 1'
see 'TERM=bogus is not known here'
at_prompt 1
start 'env TERM=dumb tilewalk tune gemm --source synthetic:bowl --trials 3'
see 'session 2 done'
at_prompt 0
start 'env TERM=bogus tilewalk tune gemm --source synthetic:bowl --trials 3'
see 'lines instead of the workbench'
see 'session 3 done'
at_prompt 0
start 'tilewalk tune gemm --source synthetic:bowl --trials 3 --plain'
see 'session 4 done'
at_prompt 0
pass 'lines where there can be no workbench'

# --- colours ---
has_color() { mux capture-pane -p -e -t main | grep -q "$(printf '\033')\[[0-9;]*3[0-8]"; }
start 'env TERM=xterm-256color tilewalk watch 1'
see ' Workers '
within 'colours' has_color
press q
at_prompt 0
start 'env TERM=xterm-256color NO_COLOR=1 tilewalk watch 1'
see ' Workers '
has_color && fail 'colours in spite of NO_COLOR'
press q
at_prompt 0
start 'env TERM=xterm-256color tilewalk watch 1 --color never'
see ' Workers '
has_color && fail 'colours in spite of --color never'
press q
at_prompt 0
pass 'colours, and none'

# --- keys, the mouse, the clipboard ---
mux set-option -s set-clipboard on
copied() { mux show-buffer 2>/dev/null | grep -q 'threads'; }
start 'tilewalk watch 1'
see ' Workers '
press -l "$(printf '\033[99;9q')" # no key that anybody knows, and not q
press y
within 'the copied text' copied
press m
see 'mouse off'
press -l "$(printf '\033[<0;10;%dM' 36)" # is nothing then
press F3 # of terminfo: the map
see_not ' Workers '
press F2
see ' Workers '
press m
see 'mouse on'
column=$(shown | tail -n 1 | awk '{ print index($0, "3Tri") + 1 }')
press -l "$(printf '\033[M\040%b\104' "\\$(printf %o $((column + 32)))")"
see_not ' Workers '
press q
at_prompt 0
pass 'keys, the mouse, the clipboard'

# --- errors before the screen is up ---
start 'tilewalk watch 99'
see '99'
at_prompt 1
start 'tilewalk watch 1 --view trails'
see "did you mean 'trials'"
at_prompt 2
echo 'colour = never' >"$box/config/tilewalk/workbench.conf"
start 'tilewalk watch 1'
see 'workbench.conf:1'
at_prompt 1
rm "$box/config/tilewalk/workbench.conf"
start 'tilewalk tune nothing-like-this'
see "no file and no preset 'nothing-like-this'"
at_prompt 2
pass 'errors before the screen is up'

# --- alone ---
start 'tilewalk'
see 'Sessions'
see 'q Quit'
press q
at_prompt 0
start 'tilewalk watch --view log'
see 'Log'
press q
at_prompt 0
pass 'alone, and a view of choice'

# --- the end of a session is announced ---
mux set-option -g monitor-bell on
title() { mux display-message -p -t main '#{pane_title}'; }
titled() { case $(title) in *'done: '*GFLOPS*) ;; *) false ;; esac }
before=$(title)
start 'tilewalk tune gemm --source synthetic:rugged:delay_us=50000 --seed 2 --trials 20'
see 'Pause'
within 'the title of an ended session' titled
press q
at_prompt 0
title_is_back() { [ "$(title)" = "$before" ]; }
within "the terminal's own title" title_is_back
pass 'announced at the end'
