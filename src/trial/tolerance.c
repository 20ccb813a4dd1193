#include "trial/operator_kind.h"

struct tolerance tolerance_of_store(enum element e)
{
    switch (e) {
    case ELEMENT_F16: return (struct tolerance){0x1p-24, 1.5 * 0x1p-10};
    case ELEMENT_F32: return (struct tolerance){0x1p-149, 1.5 * 0x1p-23};
    default: return (struct tolerance){0, 0};
    }
}
