# Finds variables that outlive a call and change: awk -f statics.awk TABLE FILE...
# Each must stand in TABLE (statics.table), a line of file, name and reason; what stands there of a FILE must be found.

function found(name) {
    sub(/\[.*/, "", name)
    sub(/[ ,]*$/, "", name)
    sub(/.*[ *]/, "", name)
    if (!((FILENAME, name) in reason)) {
        print FILENAME ":" FNR ": " name " is static and changes (give it to whoever calls, or say in statics.table why not)"
        problems++
    }
    delete reason[FILENAME, name]
}

FILENAME == ARGV[1] {
    if (NF > 2 && !/^#/)
        reason[$1, $2] = 1
    next
}

FNR == 1 {
    names_a_structure = 0
    seen[FILENAME] = 1
}

names_a_structure && /^ *\} *[a-z]/ {
    names_a_structure = 0
    gsub(/^ *\} *|[;=].*/, "")
    found($0)
}

/^ *static / && !/ inline / {
    sub(/_Alignas\([^)]*\) /, "")
    sub(/ *[={;].*/, "")
    gsub(/\*const /, "const ")
    if (/^ *static [^(]*\(\*[a-z_]*\)\(/) { # a pointer to a function
        sub(/\)\(.*/, "")
        sub(/.*\(\*/, "")
        found($0)
        next
    }
    if (/\(/ || (/ const / && !/\*/)) # a function, or a constant
        next
    if (/(struct|enum|union)$/)
        names_a_structure = 1
    else
        found($0)
}

END {
    for (entry in reason) {
        split(entry, part, SUBSEP)
        if (!(part[1] in seen))
            continue
        print ARGV[1] ": " part[1] " has no " part[2] " any more"
        problems++
    }
    exit problems > 0
}
