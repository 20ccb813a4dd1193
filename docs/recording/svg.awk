# A screen with colours, as `tmux capture-pane -e` writes it, to an SVG:
#
#     awk -v rows=36 -v cols=120 -f svg.awk screen > picture.svg

BEGIN {
    cell_w = 8.4; cell_h = 17; margin = 10
    plain = "#d8d8d8"; paper = "#141414"
    split("0 0 0 1 1 1 0 1", dot_x_of, " "); split("0 1 2 0 1 2 3 3", dot_y_of, " ")
    for (i = 1; i <= 8; i++) { dot_x[i - 1] = dot_x_of[i]; dot_y[i - 1] = dot_y_of[i] }
    for (i = 0; i < 256; i++)
        braille[sprintf("%c", 10240 + i)] = i
    n = split("▁▂▃▄▅▆▇█", part, "")
    for (i = 1; i <= n; i++) eighths[part[i]] = i
    n = split("▏▎▍▌▋▊▉", part, "")
    for (i = 1; i <= n; i++) lefts[part[i]] = i
    n = split("░▒▓", part, "")
    for (i = 1; i <= n; i++) shades[part[i]] = i / 4
    n = split("─lr│ud┌rd┐ld└ru┘lu├rud┤lud┬lrd┴lru┼lrud", part, /[a-z]+/, names)
    for (i = 1; i < n; i++) frames_of[part[i]] = names[i]
    split("000000 cd3131 0dbc79 e5e510 2472c8 bc3fbc 11a8cd e5e5e5 666666 f14c4c 23d18b f5f543 3b8eea d670d6 29b8db ffffff", base, " ")
}

function channel(n) {
    return n ? 55 + 40 * n : 0
}

function colour(n) {
    if (n < 16)
        return "#" base[n + 1]
    if (n >= 232)
        return sprintf("#%02x%02x%02x", 8 + 10 * (n - 232), 8 + 10 * (n - 232), 8 + 10 * (n - 232))
    n -= 16
    return sprintf("#%02x%02x%02x", channel(int(n / 36)), channel(int(n / 6) % 6), channel(n % 6))
}

# The colour of three channels, from part[i] on.
function rgb(part, i) {
    return sprintf("#%02x%02x%02x", part[i], part[i + 1], part[i + 2])
}

function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}

# Takes the parameters of one `ESC [ ... m`.
function set_attributes(codes,   part, n, i) {
    n = split(codes, part, ";")
    if (n == 0 || codes == "") { fore = back = ""; bold = dim = reverse = under = 0 }
    for (i = 1; i <= n; i++) {
        if (part[i] == 0) { fore = back = ""; bold = dim = reverse = under = 0 }
        else if (part[i] == 1) bold = 1
        else if (part[i] == 2) dim = 1
        else if (part[i] == 4) under = 1
        else if (part[i] == 7) reverse = 1
        else if (part[i] >= 30 && part[i] <= 37) fore = colour(part[i] - 30)
        else if (part[i] >= 90 && part[i] <= 97) fore = colour(part[i] - 82)
        else if (part[i] == 39) fore = ""
        else if (part[i] == 49) back = ""
        else if (part[i] >= 40 && part[i] <= 47) back = colour(part[i] - 40)
        else if (part[i] == 38 && part[i + 1] == 5) { fore = colour(part[i + 2]); i += 2 }
        else if (part[i] == 48 && part[i + 1] == 5) { back = colour(part[i + 2]); i += 2 }
        else if (part[i] == 38 && part[i + 1] == 2) { fore = rgb(part, i + 2); i += 4 }
        else if (part[i] == 48 && part[i + 1] == 2) { back = rgb(part, i + 2); i += 4 }
    }
}

# A rectangle as a piece of a path.
function box(x, y, w, h) {
    return sprintf("M%.1f %.1fh%.1fv%.1fh%.1fz", x, y, w, h, -w)
}

# What fonts lack, or draw in other widths, is drawn as a path: dots, blocks, shades, frames. "": it is text.
function shape(glyph, x, y,   code, out, i, sides) {
    if (glyph in braille) {
        code = braille[glyph]
        for (i = 0; i < 8; i++)
            if (and(code, lshift(1, i)))
                out = out box(x + 1.1 + dot_x[i] * cell_w / 2, y + 1.2 + dot_y[i] * cell_h / 4, 2, 2)
        return out == "" ? " " : out
    }
    if (glyph in eighths)
        return box(x, y + cell_h * (1 - eighths[glyph] / 8), cell_w, cell_h * eighths[glyph] / 8)
    if (glyph in lefts)
        return box(x, y, cell_w * lefts[glyph] / 8, cell_h)
    if (glyph in shades) {
        faint = shades[glyph]
        return box(x, y, cell_w, cell_h)
    }
    if (glyph in frames_of) {
        sides = frames_of[glyph] # left, right, up, down
        if (sides ~ /l/) out = out box(x, y + cell_h / 2, cell_w / 2 + 0.5, 1)
        if (sides ~ /r/) out = out box(x + cell_w / 2 - 0.5, y + cell_h / 2, cell_w / 2 + 0.5, 1)
        if (sides ~ /u/) out = out box(x + cell_w / 2 - 0.5, y, 1, cell_h / 2 + 1)
        if (sides ~ /d/) out = out box(x + cell_w / 2 - 0.5, y + cell_h / 2, 1, cell_h / 2)
        return out
    }
    return ""
}

# Words that one blank parts at most, where they begin: viewers run blanks together, and cut those at the ends.
function words(text, at,   out, length_of, start) {
    while (match(text, /[^ ]+( [^ ]+)*/)) {
        start = RSTART
        length_of = RLENGTH
        out = out sprintf("<text x=\"%.1f\" y=\"%d\"%s>%s</text>", margin + (at + start - 1) * cell_w, margin + row * cell_h + 13, look,
                          escaped(substr(text, start, length_of)))
        at += start + length_of - 1
        text = substr(text, start + length_of)
    }
    return out
}

# A run of characters of one look, `at` columns from the left.
function run(text, at,   behind, out, plain_text, i, glyph, drawn, path) {
    if (text ~ /^ *$/ && !reverse && back == "")
        return ""
    delete path
    ink = fore == "" ? plain : fore
    behind = back
    if (reverse) { behind = ink; ink = back == "" ? paper : back }
    if (behind != "")
        out = sprintf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>", margin + at * cell_w,
                      margin + row * cell_h, length(text) * cell_w, cell_h, behind)
    for (i = 1; i <= length(text); i++) {
        glyph = substr(text, i, 1)
        faint = 1
        drawn = glyph ~ /[ -~]/ ? "" : shape(glyph, margin + (at + i - 1) * cell_w, margin + row * cell_h)
        path[faint] = path[faint] (drawn == " " ? "" : drawn)
        plain_text = plain_text (drawn == "" ? glyph : " ")
    }
    look = (ink == plain ? "" : " fill=\"" ink "\"") (bold ? " font-weight=\"bold\"" : "") (dim ? " opacity=\"0.6\"" : "") \
        (under ? " text-decoration=\"underline\"" : "")
    for (i in path)
        if (path[i] != "")
            out = out sprintf("<path fill=\"%s\"%s d=\"%s\"/>", ink, i == 1 ? "" : " fill-opacity=\"" i "\"", path[i])
    return out words(plain_text, at)
}

function row_svg(line,   out, piece, n, i, text, end, at) {
    n = split(line, piece, "\033\\[")
    for (i = 1; i <= n; i++) {
        text = piece[i]
        if (i > 1) {
            end = match(text, /[A-Za-z]/)
            if (substr(text, end, 1) == "m")
                set_attributes(substr(text, 1, end - 1))
            text = substr(text, end + 1)
        }
        if (text != "") {
            out = out run(text, at)
            at += length(text)
        }
    }
    return out
}

{
    row = NR - 1
    pieces[row] = row_svg($0)
}

END {
    width = cols * cell_w + 2 * margin
    height = rows * cell_h + 2 * margin
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n", width, height, width, height
    printf "<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"%s\"/>\n", paper
    printf "<g font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\" fill=\"%s\">\n", plain
    for (row = 0; row < NR; row++)
        if (pieces[row] != "")
            printf "<g>%s</g>\n", pieces[row]
    print "</g>\n</svg>"
}
