// Sets of glyphs for terminals and for plain text.
//
//   braille  2 x 4 dots a cell, frames, shades and eighths of blocks; needs a font that has them
//   block    2 x 2 dots a cell ("▖▗▘▝"), frames, shades and eighths of blocks
//   ascii    letters, "+-|", ".:-=+*#": for any terminal and any locale
#ifndef TILEWALK_REPORT_CHARSET_H
#define TILEWALK_REPORT_CHARSET_H

enum charset { CHARSET_BRAILLE, CHARSET_BLOCK, CHARSET_ASCII };

#endif
