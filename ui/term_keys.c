#include "term_keys.h"

#include "keys.h"

#include <curses.h>
#include <wchar.h>

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

static int32_t key_of_mouse(int *row, int *col)
{
    MEVENT event;
    if (getmouse(&event) != OK)
        return KEY_IS_NONE;
    if (event.bstate & BUTTON4_PRESSED) // the wheel
        return KEY_IS_UP;
    if (event.bstate & BUTTON5_PRESSED)
        return KEY_IS_DOWN;
    if (!(event.bstate & BUTTON1_PRESSED))
        return KEY_IS_NONE;
    *row = event.y;
    *col = event.x;
    return KEY_IS_CLICK;
}

static int32_t key_of_code(int code)
{
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return KEY_IS_F1 + code - KEY_F(1);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].curses == code)
            return codes[i].ours;
    return KEY_IS_NONE; // also KEY_RESIZE, which comes from resizeterm
}

static int32_t key_of_char(wint_t c)
{
    if (c == '\n')
        return KEY_IS_ENTER; // pasted
    return c == '\b' ? KEY_IS_BACKSPACE : (int32_t)c;
}

enum { SEQUENCE_SIZE = 16 };

// After ESC: what follows at once belongs to it. A sequence that terminfo does not know, or Alt and
// a key, is one key without a meaning, not many with one. KEY_IS_ESC when nothing follows.
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

int32_t keys_next(int *row, int *col)
{
    for (;;) {
        wint_t c;
        int got = get_wch(&c);
        if (got == ERR)
            return KEY_IS_NONE;
        int32_t key;
        if (got != KEY_CODE_YES)
            key = key_of_char(c);
        else
            key = c == KEY_MOUSE ? key_of_mouse(row, col) : key_of_code((int)c);
        if (key == KEY_IS_ESC && got == OK)
            key = key_of_escape();
        if (key != KEY_IS_NONE)
            return key;
    }
}

void keys_mouse(bool on)
{
    mouseinterval(0); // presses at once, no waiting for clicks
    mousemask(on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
}
