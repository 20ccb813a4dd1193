# Screens with colours, as `tmux capture-pane -e` writes them, to one animated SVG:
#
#     awk -v rows=36 -v cols=120 -v step=1 -f svg.awk frame.000 frame.001 ... > film.svg
#
# Each file is a frame, shown for `step` seconds. A row that does not change from one frame to the next is written once.

BEGIN {
    cell_w = 8.4; cell_h = 17; margin = 10
    plain = "#d8d8d8"; paper = "#141414"
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

function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    gsub(/ /, "\302\240", text) # other blanks are run together
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
    }
}

# A run of characters of one look, `at` columns from the left.
function run(text, at,   front, behind, out) {
    if (text ~ /^ *$/ && !reverse && back == "")
        return ""
    front = fore
    behind = back
    if (reverse) { behind = fore == "" ? plain : fore; front = back == "" ? paper : back }
    if (behind != "")
        out = sprintf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>", margin + at * cell_w,
                      margin + row * cell_h, length(text) * cell_w, cell_h, behind)
    # Fonts draw what they lack in other widths: then the run is stretched into its cells.
    return out sprintf("<text x=\"%.1f\" y=\"%d\"%s%s%s%s%s>%s</text>", margin + at * cell_w, margin + row * cell_h + 13,
                       text ~ /^[ -~]*$/ ? "" : sprintf(" textLength=\"%.1f\"", length(text) * cell_w),
                       front == "" ? "" : " fill=\"" front "\"", bold ? " font-weight=\"bold\"" : "",
                       dim ? " opacity=\"0.6\"" : "", under ? " text-decoration=\"underline\"" : "", escaped(text))
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

FNR == 1 { frame = frames++; fore = back = ""; bold = dim = reverse = under = 0 }

{
    row = FNR - 1
    svg = row_svg($0)
    if (svg != shown[row]) {
        close_row(frame)
        shown[row] = svg
        since[row] = frame
    }
    if (row > last_row)
        last_row = row
}

# Writes down the row that was shown since since[row] until now.
function close_row(until) {
    if (shown[row] != "")
        film[++pieces] = since[row] " " until " " shown[row]
}

END {
    for (row = 0; row <= last_row; row++)
        close_row(frames)
    width = cols * cell_w + 2 * margin
    height = rows * cell_h + 2 * margin
    seconds = frames * step
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n", width, height, width, height
    printf "<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"%s\"/>\n", paper
    printf "<g font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\" fill=\"%s\">\n", plain
    for (i = 1; i <= pieces; i++) {
        split(film[i], part, " ")
        text = substr(film[i], length(part[1]) + length(part[2]) + 3)
        if (part[1] == 0 && part[2] == frames)
            printf "<g>%s</g>\n", text
        else {
            hidden = part[1] == 0 ? "" : " visibility=\"hidden\"" # who does not animate sees the first frame
            printf "<g%s><animate attributeName=\"visibility\" dur=\"%gs\" repeatCount=\"indefinite\" calcMode=\"discrete\"", hidden, seconds
            printf " values=\"hidden;visible;hidden\" keyTimes=\"0;%.4f;%.4f\"/>%s</g>\n", part[1] / frames, part[2] / frames, text
        }
    }
    print "</g>\n</svg>"
}
