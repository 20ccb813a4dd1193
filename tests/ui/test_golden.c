// Golden screens: what scenes show (scenes.h), each where it looks like no other. What is at every
// size and in both sets of characters, tests of all frames hold.
//
// golden/SCENE-COLSxROWS-CHARSET.txt holds the scene's own part of the frame and, below a line of
// dashes, its styles. The head, the footer and what shows the time are cut off or masked there:
// golden/header.txt, footer.txt and clock.txt have them, once. TILEWALK_UPDATE_GOLDEN=1 writes them
// anew: look at the difference before it is committed.
#include "group.h"
#include "scenes.h"
#include "stage.h"

#include "base/file.h"
#include "base/mem.h"

#include <ctype.h>
#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// Of the scene `main` there are all. Others are at 120x36 as a rule; where a smaller size leaves
// panes or columns out, at it too; and in ASCII where other glyphs say the same.
static const struct {
    const char *scene, *size;
    enum charset charset;
} goldens[] = {
    {"main", "200x60", CHARSET_BRAILLE},
    {"main", "200x60", CHARSET_ASCII},
    {"main", "120x36", CHARSET_BRAILLE},
    {"main", "120x36", CHARSET_ASCII},
    {"main", "80x24", CHARSET_BRAILLE},
    {"main", "80x24", CHARSET_ASCII},
    {"main", "60x15", CHARSET_BRAILLE},
    {"main", "60x15", CHARSET_ASCII},
    {"main-moved", "120x36", CHARSET_BRAILLE},
    {"main-zoom", "120x36", CHARSET_BRAILLE},
    {"main-swapped", "120x36", CHARSET_BRAILLE}, // the population
    {"main-swapped", "80x24", CHARSET_BRAILLE},  // the carpet
    {"main-back", "120x36", CHARSET_BRAILLE},
    {"population-zoom", "200x60", CHARSET_BRAILLE}, // with its values
    {"main-overlay", "120x36", CHARSET_BRAILLE},
    {"main-overlay", "120x36", CHARSET_ASCII}, // curves of letters
    {"main-empty", "120x36", CHARSET_BRAILLE},
    {"map", "120x36", CHARSET_BRAILLE},
    {"map", "120x36", CHARSET_ASCII},  // shades
    {"map", "80x24", CHARSET_BRAILLE}, // narrow cells, and the panel is another one
    {"map", "60x15", CHARSET_BRAILLE}, // no panel
    {"map-moved", "120x36", CHARSET_BRAILLE},
    {"map-parallel", "120x36", CHARSET_BRAILLE},
    {"trials", "120x36", CHARSET_BRAILLE},
    {"trials", "80x24", CHARSET_BRAILLE}, // no shares of a trial's time
    {"trials-filter", "120x36", CHARSET_BRAILLE},
    {"trials-filter-wrong", "120x36", CHARSET_BRAILLE},
    {"network", "120x36", CHARSET_BRAILLE},
    {"network", "120x36", CHARSET_ASCII},  // a curve of letters
    {"network", "60x15", CHARSET_BRAILLE}, // the table alone
    {"sessions", "120x36", CHARSET_BRAILLE},
    {"sessions", "120x36", CHARSET_ASCII},  // curves of digits
    {"sessions", "80x24", CHARSET_BRAILLE}, // no curves
    {"sessions", "60x15", CHARSET_BRAILLE}, // two lines instead of a panel
    {"sessions-compare", "120x36", CHARSET_BRAILLE},
    {"sessions-compare", "80x24", CHARSET_BRAILLE}, // no list above
    {"sessions-none", "120x36", CHARSET_BRAILLE},
    {"space", "120x36", CHARSET_BRAILLE},
    {"space", "80x24", CHARSET_BRAILLE}, // no constraints
    {"space", "60x15", CHARSET_BRAILLE}, // no usage, and the file is a line
    {"log", "120x36", CHARSET_BRAILLE},
    {"fleet", "120x36", CHARSET_BRAILLE},
    {"fleet", "80x24", CHARSET_BRAILLE}, // no errors
    {"fleet-none", "120x36", CHARSET_BRAILLE},
    {"help", "120x36", CHARSET_BRAILLE},
    {"help", "80x24", CHARSET_BRAILLE}, // one column
    {"export", "120x36", CHARSET_BRAILLE},
    {"new", "120x36", CHARSET_BRAILLE},
    {"new", "60x15", CHARSET_BRAILLE}, // the fields alone
    {"new", "80x24", CHARSET_BRAILLE}, // less is hinted
    {"stop", "120x36", CHARSET_BRAILLE},
    {"prompt", "120x36", CHARSET_BRAILLE},
};

static const char *charset_name(enum charset charset)
{
    return charset == CHARSET_ASCII ? "ascii" : "braille";
}

// --- files ---

// Shows the first line that differs; true when none does.
static bool same(const char *path, const char *wanted, const char *got)
{
    for (int line = 1; *wanted || *got; line++) {
        size_t a = strcspn(wanted, "\n"), b = strcspn(got, "\n");
        if (a != b || memcmp(wanted, got, a)) {
            print_error("%s:%d:\n  wanted %.*s\n  got    %.*s\n", path, line, (int)a, wanted,
                        (int)b, got);
            return false;
        }
        wanted += a + (wanted[a] == '\n');
        got += b + (got[b] == '\n');
    }
    return true;
}

static bool check(const char *name, const char *got)
{
    struct err e;
    char *wanted;
    const char *folder = getenv("TILEWALK_GOLDEN");
    assert_non_null(folder);
    char *path = mem_printf("%s/%s.txt", folder, name);
    bool ok = true;
    if (getenv("TILEWALK_UPDATE_GOLDEN")) {
        assert_true(file_write(path, got, strlen(got), &e));
    } else if (!file_read(path, &wanted, NULL, &e)) {
        print_error("%s\n", e.text);
        ok = false;
    } else {
        ok = same(path, wanted, got);
        free(wanted);
    }
    free(path);
    return ok;
}

static void must_be_same(const char *name, struct str *got)
{
    bool ok = check(name, str_text(got));
    str_finish(got);
    if (!ok)
        fail_msg("%s differs (TILEWALK_UPDATE_GOLDEN=1 writes it anew)", name);
}

// --- the time ---

static bool is_digit(const struct screen *s, int row, int col)
{
    uint32_t glyph = col >= 0 && col < s->cols ? s->cell[row * s->cols + col].glyph : 0;
    return glyph >= '0' && glyph <= '9';
}

static bool is_glyph(const struct screen *s, int row, int col, uint32_t glyph)
{
    return col >= 0 && col < s->cols && s->cell[row * s->cols + col].glyph == glyph;
}

static bool is_clock(const struct screen *s, int row, int col)
{
    return is_digit(s, row, col) && is_digit(s, row, col + 1) && is_glyph(s, row, col + 2, ':') &&
           is_digit(s, row, col + 3) && is_digit(s, row, col + 4);
}

// Turns the digits of "2025-12-31 23:59:15" and "23:59" into zeros. Returns whether there were any.
static bool mask_clocks(struct screen *s, int row)
{
    bool found = false;
    for (int col = 0; col < s->cols; col++) {
        if (!is_clock(s, row, col))
            continue;
        int begin = col, end = col + 5;
        while (is_digit(s, row, begin - 1) || is_glyph(s, row, begin - 1, '-') ||
               (is_glyph(s, row, begin - 1, ' ') && is_digit(s, row, begin - 2)))
            begin--;
        while (is_digit(s, row, end) || is_glyph(s, row, end, ':'))
            end++;
        for (int i = begin; i < end; i++)
            if (is_digit(s, row, i))
                s->cell[row * s->cols + i].glyph = '0';
        found = true;
        col = end;
    }
    return found;
}

// --- the tests ---

static int take_shots(void **state)
{
    *state = shots_take();
    return 0;
}

static int free_shots(void **state)
{
    shots_free(*state);
    return 0;
}

static void add_row(struct str *out, const struct screen *s, int row, int rows)
{
    struct screen cut = screen_cut(s, row, 0, rows, s->cols);
    screen_add_text(&cut, out);
    screen_add_styles(&cut, out);
    screen_finish(&cut);
}

static void test_scenes(void **state)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        const struct shot *shot =
            shots_find(*state, goldens[i].scene, goldens[i].size, goldens[i].charset);
        const struct screen *p = &shot->part;
        struct screen masked = screen_cut(p, 0, 0, p->rows, p->cols);
        struct str text = {0};
        for (int row = 0; row < p->rows; row++)
            mask_clocks(&masked, row);
        screen_add_text(&masked, &text);
        str_add(&text, "----\n");
        screen_add_styles(&masked, &text);
        char *name =
            mem_printf("%s-%s-%s", shot->scene, shot->size, charset_name(goldens[i].charset));
        wrong += !check(name, str_text(&text));
        free(name);
        str_finish(&text);
        screen_finish(&masked);
    }
    if (wrong)
        fail_msg("%d screens differ (TILEWALK_UPDATE_GOLDEN=1 writes them anew)", wrong);
}

// With a session, without one, and without a database.
static void test_header(void **state)
{
    static const char *const scenes[] = {"main", "sessions", "main-empty"};
    const struct shots *shots = *state;
    struct str text = {0};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < shots->count; i++) {
            const struct shot *s = &shots->shot[i];
            if (!str_equal(s->scene, scenes[k]))
                continue;
            str_printf(&text, "== %s %s %s\n", s->scene, s->size, charset_name(s->screen.charset));
            add_row(&text, &s->screen, 0, 2);
        }
    must_be_same("header", &text);
}

// Of every scene, each once at a size.
static void test_footer(void **state)
{
    const struct shots *shots = *state;
    struct str text = {0};
    for (int i = 0; i < shots->count; i++) {
        const struct shot *s = &shots->shot[i];
        struct str footer = {0};
        add_row(&footer, &s->screen, s->screen.rows - 1, 1);
        bool is_main = str_equal(s->scene, "main");
        if (!s->is_over && (s->screen.charset != CHARSET_ASCII || is_main) &&
            !strstr(str_text(&text), str_text(&footer)))
            str_printf(&text, "== %s %s %s\n%s", s->scene, s->size, charset_name(s->screen.charset),
                       str_text(&footer));
        str_finish(&footer);
    }
    must_be_same("footer", &text);
}

// Every row that shows the time, at one size.
static void test_clock(void **state)
{
    const struct shots *shots = *state;
    struct str text = {0};
    for (int i = 0; i < shots->count; i++) {
        const struct shot *s = &shots->shot[i];
        if (!str_equal(s->size, "120x36") || s->screen.charset == CHARSET_ASCII || s->is_over)
            continue;
        struct screen masked = screen_cut(&s->screen, 0, 0, s->screen.rows, s->screen.cols);
        for (int row = 0; row < masked.rows; row++) {
            struct str line = {0};
            if (mask_clocks(&masked, row))
                add_row(&line, &s->screen, row, 1);
            if (!strstr(str_text(&text), str_text(&line)))
                str_printf(&text, "== %s\n%s", s->scene, str_text(&line));
            str_finish(&line);
        }
        screen_finish(&masked);
    }
    must_be_same("clock", &text);
}

// --- every scene, at every size, in both sets of characters ---

static void fail_at(const struct shot *s, int row, int col, const char *what)
{
    struct str text = {0};
    screen_add_text(&s->screen, &text);
    print_error("%s %s %s, row %d, column %d: %s\n%s", s->scene, s->size,
                charset_name(s->screen.charset), row, col, what, str_text(&text));
    str_finish(&text);
    fail_msg("a frame is wrong");
}

static void test_glyphs_are_whole(void **state)
{
    const struct shots *shots = *state;
    for (int i = 0; i < shots->count; i++) {
        const struct shot *s = &shots->shot[i];
        for (int at = 0; at < s->screen.rows * s->screen.cols; at++) {
            uint32_t glyph = s->screen.cell[at].glyph;
            int row = at / s->screen.cols, col = at % s->screen.cols;
            if (glyph == 0 && (col == 0 || s->screen.cell[at - 1].glyph < 0x1100))
                fail_at(s, row, col, "half a glyph");
            if ((glyph && glyph < ' ') || (glyph >= 127 && glyph < 0xa0) || glyph == 0xfffd)
                fail_at(s, row, col, "a control character");
            if (s->screen.charset == CHARSET_ASCII && glyph > '~')
                fail_at(s, row, col, "a glyph that ASCII lacks");
        }
    }
}

static bool is_frame(const struct shot *s, int row, int col, uint32_t glyph, uint32_t ascii)
{
    const struct screen *p = &s->part;
    if (row < 0 || col < 0 || row >= p->rows || col >= p->cols)
        return false;
    const struct cell *c = &p->cell[row * p->cols + col];
    return c->glyph == (p->charset == CHARSET_ASCII ? ascii : glyph) &&
           (c->style == STYLE_FRAME || c->style == STYLE_FOCUS);
}

// From an upper left corner: to the right, down on both sides, and the lower corners.
static bool box_closes(const struct shot *s, int row, int col)
{
    int right = col + 1, bottom = row + 1;
    while (right < s->part.cols && !is_frame(s, row, right, 0x2510, '+'))
        right++;
    while (is_frame(s, bottom, col, 0x2502, '|') && is_frame(s, bottom, right, 0x2502, '|'))
        bottom++;
    return bottom > row + 1 && is_frame(s, bottom, col, 0x2514, '+') &&
           is_frame(s, bottom, right, 0x2518, '+');
}

static int count_boxes(const struct shot *s)
{
    int boxes = 0;
    for (int at = 0; at < s->part.rows * s->part.cols; at++) {
        int row = at / s->part.cols, col = at % s->part.cols;
        if (!is_frame(s, row, col, 0x250c, '+') || !is_frame(s, row + 1, col, 0x2502, '|') ||
            !is_frame(s, row, col + 1, 0x2500, '-'))
            continue;
        if (!box_closes(s, row, col))
            fail_at(s, row, col, "a box does not close (counted from where the scene's part is)");
        boxes++;
    }
    return boxes;
}

static void test_boxes_close(void **state)
{
    const struct shots *shots = *state;
    int boxes = 0;
    for (int i = 0; i < shots->count; i++) {
        const struct shot *s = &shots->shot[i];
        int here = count_boxes(s);
        assert_int_equal(here, count_boxes(shots_find(shots, s->scene, s->size, CHARSET_ASCII)));
        boxes += here;
    }
    assert_true(boxes > shots->count); // a frame has one, as a rule
}

// A word of two characters or more, but not of the letters that curves are drawn with.
static bool is_word(const char *word, size_t length)
{
    return length > 1 && strspn(word, "ABCDEFGHIJKLM") < length;
}

static char *words_of(const struct screen *p)
{
    struct str out = {0};
    char word[256];
    size_t length = 0;
    for (int at = 0; at < p->rows * p->cols; at++) {
        uint32_t glyph = p->cell[at].glyph;
        if (glyph < 127 && isalnum((int)glyph) && length < sizeof word) {
            word[length++] = (char)glyph;
        } else {
            if (is_word(word, length))
                str_printf(&out, "%.*s ", (int)length, word);
            length = 0;
        }
    }
    return str_take(&out);
}

// In ASCII, a curve is drawn with letters, on an axis that has other numbers.
static bool has_curve(const char *scene)
{
    static const char *const scenes[] = {"main",         "main-moved", "main-overlay",
                                         "main-swapped", "main-back",  "network"};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        if (str_equal(scene, scenes[i]))
            return true;
    return false;
}

// What is said in ASCII is what is said otherwise.
static void test_ascii_says_the_same(void **state)
{
    const struct shots *shots = *state;
    int wrong = 0;
    for (int i = 0; i < shots->count; i++) {
        const struct shot *s = &shots->shot[i];
        if (has_curve(s->scene))
            continue;
        const struct shot *ascii = shots_find(shots, s->scene, s->size, CHARSET_ASCII);
        char *words = words_of(&s->part), *in_ascii = words_of(&ascii->part);
        if (!str_equal(words, in_ascii)) {
            size_t at = 0;
            while (words[at] == in_ascii[at])
                at++;
            print_error("%s %s: '%.40s', in ASCII '%.40s'\n", s->scene, s->size, words + at,
                        in_ascii + at);
            wrong++;
        }
        free(words);
        free(in_ascii);
    }
    assert_int_equal(wrong, 0);
}

// What a scene is for is seen at every size (the pane that main-moved moved to depends on it).
static void test_scenes_show_their_own(void **state)
{
    static const struct {
        const char *scene, *text;
    } own[] = {
        {"main", "43.69"},
        {"main-zoom", "#45"},
        {"population-zoom", "zoomed"},
        {"main-overlay", "33.37"},
        {"main-empty", "start"},
        {"map", "columns"},
        {"map-moved", "registers[1] down"},
        {"trials", "19.74"},
        {"trials-filter", "outcome=ok"},
        {"trials-filter-wrong", "'bogus'"},
        {"network", "393 us"},
        {"sessions", "2 marked"},
        {"sessions-compare", "35.51"},
        {"sessions-none", "tilewalk tune"},
        {"space", "4,8,1"},
        {"log", "43.69"},
        {"fleet", "refused"},
        {"fleet-none", "No machines"},
        {"help", "select the best"},
        {"export", "--verify"},
        {"new", "gemm"},
        {"stop", "tilewalk stop 1"},
        {"prompt", "pin"},
    };
    const struct shots *shots = *state;
    int wrong = 0;
    for (int i = 0; i < shots->count; i++) {
        const struct shot *s = &shots->shot[i];
        struct str text = {0};
        size_t k = 0;
        while (k < sizeof own / sizeof *own && !str_equal(own[k].scene, s->scene))
            k++;
        if (k == sizeof own / sizeof *own)
            continue;
        screen_add_text(&s->part, &text);
        if (!strstr(str_text(&text), own[k].text)) {
            print_error("%s %s: no %s\n%s", s->scene, s->size, own[k].text, str_text(&text));
            wrong++;
        }
        str_finish(&text);
    }
    assert_int_equal(wrong, 0);
}

TEST_GROUP(golden)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_footer),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_glyphs_are_whole),
        cmocka_unit_test(test_boxes_close),
        cmocka_unit_test(test_ascii_says_the_same),
        cmocka_unit_test(test_scenes_show_their_own),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, take_shots, free_shots);
}
