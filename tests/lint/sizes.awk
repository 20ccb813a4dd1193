# Checks the sizes of C files: awk -f sizes.awk FILE...
# A file has at most 800 lines; a function none over 100 lines and nine in ten under 50, from brace to brace. In our layout
# a brace alone at the start of a line opens or closes a function and nothing else.

function report(place, text) {
    print place ": " text
    problems++
}

FNR == 1 { open_line = 0 }

FNR == 801 { report(FILENAME, "has more than 800 lines") }

/^[A-Za-z].*\(/ {
    name = $0
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
}

/^\{/ { open_line = FNR }

/^\}/ && open_line {
    length_in_lines = FNR - open_line + 1
    functions++
    if (length_in_lines >= 50) {
        long_ones++
        long_list = long_list "\n    " FILENAME ":" open_line ": " name " (" length_in_lines ")"
    }
    if (length_in_lines > 100)
        report(FILENAME ":" open_line, name " has " length_in_lines " lines")
    open_line = 0
}

END {
    if (long_ones > functions / 10)
        report("functions", long_ones " of " functions " have 50 lines or more:" long_list)
    exit problems > 0
}
