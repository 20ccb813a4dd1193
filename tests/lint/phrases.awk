# phrases.awk -v most=N FILE...: sentences that tests hold the program to, word by word: quoted texts of three and more words in
# statements that assert. More than N in all are too many: users rely on exit codes, JSON, stored rows and files, and each
# change of a message would change many tests. With -v list=1 it prints them.
function count_in(statement,    text, words) {
    if (statement !~ /(^|[^A-Za-z])[a-z_]*assert[a-z_]*/)
        return
    while (match(statement, /"([^"\\]|\\.)*"/)) {
        text = substr(statement, RSTART + 1, RLENGTH - 2)
        statement = substr(statement, RSTART + RLENGTH)
        gsub(/\\./, " ", text)
        if (split(text, words, /[ \t]+/) >= 3 && text ~ /[A-Za-z]+[,.:;)']* [^ ]*[A-Za-z]/) {
            found++
            if (list)
                print FILENAME ": " text
        }
    }
}

FNR == 1 {
    count_in(statement)
    statement = ""
}

{
    line = $0
    sub(/^[ \t]*\/\/.*/, "", line)
    if (line ~ /^#define/) # of a helper, which its callers give the words
        next
    statement = statement " " line
    if (line ~ /[;{}][ \t]*$/) {
        count_in(statement)
        statement = ""
    }
}

END {
    count_in(statement)
    if (list || found > most)
        printf "%d sentences are quoted in assertions, at most %d are wanted\n", found, most
    exit found > most
}
