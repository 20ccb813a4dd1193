#include "space/element.h"

#include "space/half.h"

double element_get(const void *buffer, enum element e, int64_t index)
{
    switch (e) {
    case ELEMENT_F16: return (double)half_to_float(((const uint16_t *)buffer)[index]);
    case ELEMENT_I8: return ((const int8_t *)buffer)[index];
    case ELEMENT_I32: return ((const int32_t *)buffer)[index];
    case ELEMENT_F32:
    case ELEMENT_COUNT: break;
    }
    return (double)((const float *)buffer)[index];
}

void element_put(void *buffer, enum element e, int64_t index, double value)
{
    switch (e) {
    case ELEMENT_F32: ((float *)buffer)[index] = (float)value; break;
    case ELEMENT_F16: ((uint16_t *)buffer)[index] = half_from_float((float)value); break;
    case ELEMENT_I8: ((int8_t *)buffer)[index] = (int8_t)value; break;
    case ELEMENT_I32: ((int32_t *)buffer)[index] = (int32_t)value; break;
    case ELEMENT_COUNT: break;
    }
}
