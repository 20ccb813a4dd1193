# links.awk PAGE... PAGE...: all pages twice. Each link of a page to a file, and to a heading of a page, has to lead there.

function folder_of(path) {
    return path ~ /\// ? substr(path, 1, match(path, /[^\/]*$/) - 1) : ""
}

# The path without `x/..`.
function plain(path,    part, n, i, kept, out) {
    n = split(path, part, "/")
    kept = 0
    for (i = 1; i <= n; i++)
        if (part[i] == "..")
            kept--
        else
            part[++kept] = part[i]
    for (i = 1; i <= kept; i++)
        out = out (i > 1 ? "/" : "") part[i]
    return out == "" ? "." : out
}

# The name by which links know a heading.
function anchor(text) {
    gsub(/\]\([^)]*\)/, "", text)
    gsub(/[][`*.,:;()'"!?\/+=<>&|%^~{}\\$#@]/, "", text)
    gsub(/ /, "-", text)
    return tolower(text)
}

function is_there(path) {
    if (!(path in there))
        there[path] = system("test -e '" path "'") == 0
    return there[path]
}

function complain(why) {
    print FILENAME ":" FNR ": " why
    problems++
}

function check_link(link,    part, path) {
    split(link, part, "#")
    path = part[1] == "" ? FILENAME : plain(folder_of(FILENAME) part[1])
    if (!is_there(path))
        complain("there is no " link)
    else if (part[2] != "" && path ~ /\.md$/ && !((path, part[2]) in heading))
        complain(path " has no heading " part[2])
}

FNR == 1 {
    fenced = 0
    second = (FILENAME in seen)
    seen[FILENAME]
}

/^```/ { fenced = !fenced }

!second && !fenced && /^#+ / { heading[FILENAME, anchor(substr($0, index($0, " ") + 1))] }

second && !fenced {
    rest = $0
    while (match(rest, /\]\([^) ]+\)/)) {
        link = substr(rest, RSTART + 2, RLENGTH - 3)
        rest = substr(rest, RSTART + RLENGTH)
        if (link !~ /^[a-z]+:/)
            check_link(link)
    }
}

END { exit problems > 0 }
