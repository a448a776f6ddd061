// SPDX-License-Identifier: MIT
// The same in C++: both languages agree.
#include <kreplay/kreplay.h>

#include "exercise.h"

#define AT(record, field, offset) static_assert(offsetof(record, field) == (offset), #record "." #field);
#define SIZE(record, bytes)       static_assert(sizeof(record) == (bytes) && alignof(record) == 8, #record);
#define VALUE(name, value)        static_assert(static_cast<int>(name) == (value), #name);
#include "layout.inc"

int main()
{
    return exercise();
}
