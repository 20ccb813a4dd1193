// Makes the text of an SVG that cairo wrote smaller, by about half, for repositories.
#ifndef TILEWALK_REPORT_SVG_TEXT_H
#define TILEWALK_REPORT_SVG_TEXT_H

#include "base/str.h"

// Numbers keep one decimal, small ones, of which letters are made, two: cairo writes six. Level and
// upright strokes say only where they go to. Letters are outlines in it, so that there is no other
// text in it than numbers and names.
void svg_shorten(struct str *svg);

#endif
