# complete.zsh LINE: the words that an interactive zsh completes at the end of LINE, one a line, with the completions in ./made.
zmodload zsh/zpty
zpty shell zsh -f -i
say() { zpty -w shell "$1"; }
say 'PS1= PS2= PROMPT_EOL_MARK=; autoload -Uz compinit; compinit -u -D; source ./made'
say 'compadd() { local -a hits; builtin compadd -A hits "$@"; local hit; for hit in $hits; do print -r -- "<$hit>"; done
    builtin compadd "$@"; }'
say 'finish() { print -r -- "<""END>"; }; zle -N finish; bindkey "^X" finish; print RE''ADY'
zpty -r shell out '*READY*'
zpty -w -n shell "$1"$'\t\x18' # completes, then the key that prints the mark
zpty -r shell out '*<END>*'
print -r -- $out | grep -ao '<[^<>"$]*>' | grep -v '<END>' | tr -d '<>'
