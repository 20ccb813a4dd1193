// The only definition of this file: the linker takes it where a program has no other one.
#include "base/build.h"

const char *build_name(void)
{
    return TILEWALK_VERSION;
}
