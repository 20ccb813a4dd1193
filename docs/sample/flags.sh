# Compiles flags.c with the flags that it gets, and runs it. What the compiler refuses is told as such.
here=$(dirname "$0")
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
if ! ${CC:-cc} "$@" "$here/flags.c" -o "$folder/flags" 2> "$folder/why"; then
    echo "compile: $(head -n 1 "$folder/why")"
    exit
fi
"$folder/flags"
