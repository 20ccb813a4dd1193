// The build that is running, so that results and machines can be told apart.
//
//     build_name()     "0.2.0 (1a2b3c4)"
//
// The commit is known to one file of the program alone (src/build_of_commit.c.in), so that a new
// commit links one program and compiles one file. Test programs, which do without that file, get
// the definition in build.c.
#ifndef TILEWALK_BASE_BUILD_H
#define TILEWALK_BASE_BUILD_H

enum { BUILD_SIZE = 64 }; // of a build's name where it is stored in a structure

// Returns the version, and in brackets the commit (with "-dirty" where files differ from it) or
// what the packager calls the build (meson's option `build`); only the version where neither is
// known. Any thread.
const char *build_name(void);

#endif
