// A file of a script as it was read. Sessions store it and make the script from it again.
#ifndef TILEWALK_SCRIPT_TEXT_H
#define TILEWALK_SCRIPT_TEXT_H

struct script_text {
    const char *name; // unique: "gemm.lua" in the space file's folder, "lua/gemm.lua" if shipped
    const char *path; // where it was found, for messages
    const char *text;
};

#endif
