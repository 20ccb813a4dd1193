#include "term.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/program.h"
#include "base/str.h"
#include "keys.h"
#include "signals.h"
#include "ui.h"

#include <curses.h>
#include <curses.h> // its SCREEN is a `struct screen`, too; we only hold a pointer
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termcap.h> // asks what a terminal can do, before there is a screen
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

// --- keys ---

static const struct {
    int curses;
    int32_t ours;
} codes[] = {
    {KEY_UP, KEY_IS_UP},           {KEY_DOWN, KEY_IS_DOWN},           {KEY_LEFT, KEY_IS_LEFT},
    {KEY_RIGHT, KEY_IS_RIGHT},     {KEY_HOME, KEY_IS_HOME},           {KEY_FIND, KEY_IS_HOME},
    {KEY_END, KEY_IS_END},         {KEY_SELECT, KEY_IS_END},          {KEY_PPAGE, KEY_IS_PAGE_UP},
    {KEY_NPAGE, KEY_IS_PAGE_DOWN}, {KEY_DC, KEY_IS_DELETE},           {KEY_BTAB, KEY_IS_BACK_TAB},
    {KEY_ENTER, KEY_IS_ENTER},     {KEY_BACKSPACE, KEY_IS_BACKSPACE},
};

enum { SEQUENCE_SIZE = 16 };

// Reads what follows ESC at once. A sequence that is not in terminfo, or Alt and a key, is one
// key without a meaning. Returns KEY_IS_ESC when nothing follows.
static int32_t key_of_escape(void)
{
    char text[SEQUENCE_SIZE] = "";
    size_t length = 0;
    wint_t c;
    if (get_wch(&c) == ERR)
        return KEY_IS_ESC;
    if (c != '[' && c != 'O')
        return KEY_IS_NONE;
    while (get_wch(&c) == OK) {
        if (length + 1 < sizeof text)
            text[length++] = (char)c;
        if (c >= 0x40 && c <= 0x7e)
            break;
    }
    if (str_equal(text, "200~"))
        return KEY_IS_PASTE;
    return str_equal(text, "201~") ? KEY_IS_PASTE_END : KEY_IS_NONE;
}

#define LONGEST_COPY 8192 // bytes, for most terminals

#define ESCAPE_MS 25 // an ESC that nothing follows for so long is a key

static struct {
    SCREEN *curses; // NULL: not open
    attr_t attributes[STYLE_COUNT];
    short pair[STYLE_COUNT];
    cchar_t *line; // room for one row
    struct cell *shown;
    int rows, cols; // of `shown`
    bool stale;     // `shown` is not what the terminal shows
    bool cursor;    // visible
    bool mouse;
    bool titled; // the terminal's title is ours, and its own is on its stack
    struct spawner *spawner;
} term;

// --- direct colour ("truecolor") ---
//
// Curses needs an entry of terminfo for it, which few systems have. Ours is the terminal's own
// entry with colours of 24 bits, set by the control sequences of ISO 8613-6 as all terminals write
// them that set COLORTERM. tic compiles it into the user's cache, once. Colours below 256 are the
// indexed ones (which take fewer bytes), all others are 0xRRGGBB. The palette is never changed.

enum { DIRECT_NAME_SIZE = 96, TIC_SECONDS = 5 };

// True when the environment says that the terminal shows such colours. Inside GNU screen it is
// inherited, and wrong.
static bool direct_color_is_offered(void)
{
    const char *kind = getenv("COLORTERM");
    bool is_screen = getenv("STY") && !getenv("TMUX");
    return !is_screen && (str_equal(kind, "truecolor") || str_equal(kind, "24bit"));
}

// Appends a capability that sets a colour; `place` is 3 for text, 4 for the background.
static void add_setter(struct str *out, const char *name, int place)
{
    str_printf(out,
               "\t%s=\\E[%%?%%p1%%{8}%%<%%t%d%%p1%%d%%e%%p1%%{256}%%<%%t%d8;5;%%p1%%d%%e%d8;2;"
               "%%p1%%{65536}%%/%%d;%%p1%%{256}%%/%%{255}%%&%%d;%%p1%%{255}%%&%%d%%;m,\n",
               name, place, place, place);
}

// The number in the name grows with each change of the entry.
static void write_entry(const char *name, const char *terminal, struct str *out)
{
    str_printf(out, "%s|%s with direct colour,\n", name, terminal);
    str_add(out, "\tRGB, ccc@, colors#0x1000000, pairs#0x7FFF,\n"
                 "\tinitc@, initp@, oc@, op=\\E[39;49m, setb@, setf@,\n");
    add_setter(out, "setaf", 3);
    add_setter(out, "setab", 4);
    str_printf(out, "\tuse=%s,\n", terminal);
}

// Runs tic. What it says is not shown: the caller sees what came of it.
static void compile(const char *source, const char *folder)
{
    static const char script[] = "exec tic -x -o \"$1\" \"$2\"";
    const char *const argv[] = {"/bin/sh", "-c", script, "sh", folder, source, NULL};
    struct str said = {0};
    struct err e;
    int status;
    program_run(argv, TIC_SECONDS, &said, &status, &e);
    str_finish(&said);
}

// Returns the folder of the compiled entry for a terminal type (heap), and its name; NULL: tic is
// missing or failed. Starts a process, which has to be before a sandbox is entered.
static char *direct_color_entry(const char *terminal, char name[DIRECT_NAME_SIZE])
{
    char *plain = path_plain_name(terminal);
    bool known = str_equal(plain, terminal) && strlen(terminal) < DIRECT_NAME_SIZE - 16;
    free(plain);
    if (!known)
        return NULL;
    snprintf(name, DIRECT_NAME_SIZE, "tilewalk1-%s", terminal);
    char *folder = path_user_cache("terminfo");
    char *compiled = mem_printf("%s/t/%s", folder, name);
    struct err e;
    if (!file_exists(compiled) && file_make_folders(folder, &e)) {
        struct str text = {0};
        char *source = mem_printf("%s/%s.ti", folder, name);
        write_entry(name, terminal, &text);
        if (file_write(source, str_text(&text), text.length, &e))
            compile(source, folder);
        free(source);
        str_finish(&text);
    }
    if (!file_exists(compiled)) {
        free(folder);
        folder = NULL;
    }
    free(compiled);
    return folder;
}

// --- on and off ---

static bool has(const char *capability)
{
    const char *text = tigetstr(capability);
    return text && text != (char *)-1;
}

bool ui_is_possible(struct err *why)
{
    const char *name = getenv("TERM");
    *why = (struct err){0};
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !name || !*name ||
        str_equal(name, "dumb"))
        return false;
    if (tgetent(NULL, name) != 1)
        return err_set(why, "the terminal type TERM=%s is not known here", name);
    return tgetstr("cm", NULL) || err_set(why, "a terminal of type TERM=%s has no cursor", name);
}

// Prepares the bytes that a crash sends: the same as endwin, but then nothing can be asked any
// more.
static void arm(void)
{
    static const char *const names[] = {"BD", "rmkx", "sgr0", "op", "cnorm", "rmcup"};
    struct str bytes = {0};
    if (term.mouse)
        str_add(&bytes, "\033[?1000l\033[?1002l\033[?1006l");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        // A capability without its paddings ("$<5>"), which only real vt100s ever needed.
        const char *name = names[i];
        for (const char *text = has(name) ? tigetstr(name) : ""; *text; text++) {
            const char *end = str_starts(text, "$<") ? strchr(text, '>') : NULL;
            if (end)
                text = end;
            else
                str_add_char(&bytes, *text);
        }
    }
    str_add(&bytes, "\r\n"); // where there is no other screen to leave
    signals_arm(str_text(&bytes), bytes.length);
    str_finish(&bytes);
}

// Makes the terminal mark pasted text, where it can, so that it is not taken for keys.
static void mark_pastes(bool on)
{
    const char *name = on ? "BE" : "BD";
    if (has(name))
        putp(tigetstr(name));
    fflush(stdout);
}

static void take_size(void)
{
    int rows, cols;
    if (os_terminal_size(STDOUT_FILENO, &rows, &cols) && (rows != LINES || cols != COLS))
        resizeterm(rows, cols);
    getmaxyx(stdscr, term.rows, term.cols);
    free(term.shown);
    free(term.line);
    term.shown = mem_zero((size_t)term.rows * (size_t)term.cols, sizeof *term.shown);
    term.line = mem_zero((size_t)term.cols + 1, sizeof *term.line);
    term.stale = true;
}

// Returns the pair of two colours. Styles with the same colours share one: a console has 63.
static short take_pair(int color, int ground, short *pairs)
{
    int fore, back;
    for (short i = 1; i <= *pairs; i++)
        if (extended_pair_content(i, &fore, &back) == OK && fore == color && back == ground)
            return i;
    init_extended_pair(++*pairs, color, ground);
    return *pairs;
}

static void take_styles(const struct look *look, bool has_own_colors)
{
    short pairs = 0;
    for (int i = 0; i < STYLE_COUNT; i++) {
        struct paint p = theme_paint(look, (enum style)i);
        attr_t a = A_NORMAL;
        a |= p.bold ? A_BOLD : 0;
        a |= p.dim ? A_DIM : 0;
        a |= p.reverse ? A_REVERSE : 0;
        a |= p.underline ? A_UNDERLINE : 0;
        term.attributes[i] = a;
        int ground = p.filled ? p.ground : has_own_colors ? -1 : COLOR_BLACK;
        term.pair[i] = p.color >= 0 && look->colors ? take_pair(p.color, ground, &pairs) : 0;
    }
}

// Opens curses on an entry of ours for direct colour, where the terminal is one that shows it, else
// on that of $TERM. `*direct`: it is ours.
static SCREEN *open_curses(const struct ui_config *c, bool *direct)
{
    const char *terminal = getenv("TERM"), *kept = getenv("TERMINFO");
    char name[DIRECT_NAME_SIZE], *folder = NULL;
    SCREEN *screen = NULL;
    int colors = terminal && tgetent(NULL, terminal) == 1 ? tgetnum("Co") : 0;
    bool offered = colors >= TRUE_COLORS || (colors >= 8 && direct_color_is_offered());
    if (offered && look_wants_color(c))
        folder = direct_color_entry(terminal, name);
    if (folder) {
        char *before = kept ? mem_strdup(kept) : NULL;
        setenv("TERMINFO", folder, 1);
        screen = newterm(name, stdout, stdin);
        if (before) // the editor gets the environment as it was
            setenv("TERMINFO", before, 1);
        else
            unsetenv("TERMINFO");
        free(before);
        free(folder);
    }
    *direct = screen != NULL;
    return screen ? screen : newterm(NULL, stdout, stdin);
}

bool term_open(const struct ui_config *c, struct spawner *s, struct look *look, struct err *e)
{
    if (!signals_begin(e))
        return false;
    term.spawner = s;
    use_env(FALSE);
    use_tioctl(TRUE);
    bool direct;
    term.curses = open_curses(c, &direct);
    if (!term.curses) {
        signals_restore_terminal();
        signals_end();
        return err_set(e, "curses cannot use this terminal");
    }
    arm();
    mem_on_exhausted(signals_emergency);
    bool colored = has_colors() && start_color() == OK;
    // Direct colour that is not ours has no indexed colours beyond those of the palette.
    *look = look_choose(c, !colored ? 0 : !direct && COLORS >= TRUE_COLORS ? 8 : COLORS);
    bool has_own_colors = colored && use_default_colors() == OK;
    take_styles(look, has_own_colors);
    cbreak();
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    // Beyond what curses asks for: Ctrl-Z, Ctrl-\, Ctrl-S and Ctrl-V are keys like others; Ctrl-C
    // still interrupts.
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, &raw) == 0) {
        raw.c_cc[VSUSP] = _POSIX_VDISABLE;
        raw.c_cc[VQUIT] = _POSIX_VDISABLE;
        raw.c_iflag &= ~(tcflag_t)IXON;
        raw.c_lflag &= ~(tcflag_t)IEXTEN;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
        def_prog_mode();
    }
    curs_set(0);
    take_size();
    mark_pastes(true);
    stderr_capture();
    return true;
}

void term_lend(void)
{
    mark_pastes(false);
    endwin();
    signals_restore_terminal();
    signals_arm("", 0);
    stderr_release();
}

void term_take_back(void)
{
    stderr_capture();
    arm();
    reset_prog_mode();
    take_size();
    refresh(); // ends what endwin began
    curs_set(term.cursor);
    mark_pastes(true);
}

// Sends a control sequence; not to old types of terminals, which would print it.
static void send_control(struct str *bytes)
{
    static const char *const old[] = {"vt", "linux", "ansi", "cons", "sun"};
    const char *terminal = getenv("TERM");
    bool known = term.curses && terminal;
    for (size_t i = 0; known && i < sizeof old / sizeof *old; i++)
        known = !str_starts(terminal, old[i]);
    if (known) {
        ssize_t ignored = write(STDOUT_FILENO, str_text(bytes), bytes->length);
        (void)ignored;
    }
    str_finish(bytes);
}

static void restore_title(void)
{
    struct str bytes = {0};
    str_add(&bytes, "\033[23;2t");
    if (term.titled)
        send_control(&bytes);
    term.titled = false;
    str_finish(&bytes);
}

void term_close(void)
{
    if (!term.curses)
        return;
    restore_title();
    term_lend();
    delscreen(term.curses);
    signals_end();
    free(term.shown);
    free(term.line);
    memset(&term, 0, sizeof term);
}

// --- frames ---

void term_size(int *rows, int *cols)
{
    *rows = term.rows;
    *cols = term.cols;
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
    return a->glyph == b->glyph && a->style == b->style && a->marked == b->marked;
}

// Hands the changed cells of a row to curses. False: none has changed.
static bool show_row(int row, const struct cell *cell, int cols)
{
    struct cell *shown = term.shown + row * term.cols;
    int first = 0, last = cols - 1, count = 0;
    while (!term.stale && first < cols && same_cell(&cell[first], &shown[first]))
        first++;
    while (!term.stale && last > first && same_cell(&cell[last], &shown[last]))
        last--;
    if (first >= cols)
        return false;
    memcpy(shown + first, cell + first, (size_t)(last - first + 1) * sizeof *cell);
    while (first > 0 && !cell[first].glyph) // a wide glyph is put as a whole
        first--;
    for (int col = first; col <= last; col++) {
        const struct cell *c = &cell[col];
        wchar_t text[2] = {(wchar_t)c->glyph, L'\0'};
        attr_t attributes = term.attributes[c->style];
        if (c->marked) // reversed, colours would become patches of background
            attributes = (attributes & (A_BOLD | A_UNDERLINE)) | A_REVERSE;
        if (c->glyph)
            setcchar(&term.line[count++], text, attributes, c->marked ? 0 : term.pair[c->style],
                     NULL);
    }
    mvadd_wchnstr(row, first, term.line, count);
    return true;
}

void term_show(const struct screen *s)
{
    if (!term.curses)
        return;
    int rows = s->rows < term.rows ? s->rows : term.rows;
    int cols = s->cols < term.cols ? s->cols : term.cols;
    bool changed = term.stale;
    for (int row = 0; row < rows; row++)
        changed |= show_row(row, s->cell + (ptrdiff_t)row * s->cols, cols);
    bool visible = s->cursor_row >= 0 && s->cursor_row < term.rows && s->cursor_col >= 0 &&
                   s->cursor_col < term.cols;
    if (visible != term.cursor) {
        curs_set(visible);
        changed = true;
    }
    leaveok(stdscr, !visible);
    term.cursor = visible;
    if (visible) {
        int row, col;
        getyx(stdscr, row, col);
        move(s->cursor_row, s->cursor_col);
        changed |= row != s->cursor_row || col != s->cursor_col;
    }
    term.stale = false;
    if (changed)
        refresh();
}

void term_redraw(void)
{
    clearok(curscr, TRUE);
    term.stale = true;
}

// --- input ---

int32_t term_key(int *row, int *col)
{
    wint_t c;
    MEVENT event;
    int32_t key = KEY_IS_NONE;
    for (int got; key == KEY_IS_NONE && term.curses && (got = get_wch(&c)) != ERR;) {
        if (got == KEY_CODE_YES && c == KEY_MOUSE && getmouse(&event) == OK) {
            *row = event.y;
            *col = event.x;
            key = event.bstate & BUTTON4_PRESSED   ? KEY_IS_UP // the wheel
                  : event.bstate & BUTTON5_PRESSED ? KEY_IS_DOWN
                  : event.bstate & BUTTON1_PRESSED ? KEY_IS_CLICK
                                                   : KEY_IS_NONE;
        } else if (got == KEY_CODE_YES) { // none of them: also KEY_RESIZE, of resizeterm
            if ((int)c >= KEY_F(1) && (int)c <= KEY_F(12))
                key = KEY_IS_F1 + (int)c - KEY_F(1);
            for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
                key = codes[i].curses == (int)c ? codes[i].ours : key;
        } else if (c == '\n') { // pasted
            key = KEY_IS_ENTER;
        } else {
            key = c == '\b' ? KEY_IS_BACKSPACE : c == KEY_IS_ESC ? key_of_escape() : (int32_t)c;
        }
    }
    return key;
}

void term_mouse(bool on)
{
    if (!term.curses || on == term.mouse)
        return;
    mouseinterval(0); // presses at once, no waiting for clicks
    mousemask(on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
    term.mouse = on;
    arm();
}

int term_fds(struct pollfd fds[3])
{
    int n = 0;
    fds[n++] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    fds[n++] = (struct pollfd){.fd = signals_fd(), .events = POLLIN};
    if (stderr_fd() >= 0)
        fds[n++] = (struct pollfd){.fd = stderr_fd(), .events = POLLIN};
    return n;
}

enum term_event term_take_event(void)
{
    switch (signals_next()) {
    case SIGINT: return TERM_INTERRUPT;
    case SIGHUP: return TERM_HANGUP;
    case SIGTERM: return TERM_TERMINATE;
    case SIGTSTP: term_suspend(); return TERM_CONTINUED;
    case SIGCONT: // after SIGSTOP, which cannot be caught
        term_lend();
        term_take_back();
        return TERM_CONTINUED;
    case SIGWINCH: take_size(); return TERM_RESIZED;
    default: return TERM_NONE;
    }
}

// --- suspension and clipboard ---

void term_suspend(void)
{
    term_lend();
    signals_stop(term.spawner);
    term_take_back();
}

void term_copy(const char *text)
{
    size_t length = strlen(text);
    struct str bytes = {0};
    if (length > LONGEST_COPY)
        return;
    str_add(&bytes, "\033]52;c;");
    str_add_base64(&bytes, text, length);
    str_add(&bytes, "\a");
    send_control(&bytes);
}

void term_announce(const char *text)
{
    struct str bytes = {0}, plain = {0};
    for (; *text; text++) // titles are made of what others wrote
        str_add_char(&plain, (unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
    str_add(&bytes, term.titled ? "" : "\033[22;2t");
    str_printf(&bytes, "\033]2;%s\a\033]9;%s\a\a", str_text(&plain), str_text(&plain));
    str_finish(&plain);
    send_control(&bytes);
    term.titled = true;
}
