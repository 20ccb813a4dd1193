// The syntax colours of kernels: the style of each byte of a line of GLSL or disassembled SPIR-V.
//
//     enum syntax_state state = SYNTAX_CODE;
//     for each line: state = syntax_scan_glsl(state, line, style);    style[i]: of line[i]
//
// The scanner tells words, numbers, strings, comments and preprocessor lines apart; it parses
// nothing. Text that is not GLSL is no error: every byte gets a style. Pure.
#ifndef TILEWALK_UI_SYNTAX_H
#define TILEWALK_UI_SYNTAX_H

#include <stdint.h>

// Where a line begins: block comments end on any later line, and so do preprocessor lines that end
// in a backslash.
enum syntax_state { SYNTAX_CODE, SYNTAX_COMMENT, SYNTAX_DIRECTIVE };

// Fills the first strlen(line) members of `style` with members of enum style. Returns the state of
// the next line.
enum syntax_state syntax_scan_glsl(enum syntax_state state, const char *line, uint8_t *style);
void syntax_scan_spirv(const char *line, uint8_t *style); // lines of SPIR-V have no state

#endif
