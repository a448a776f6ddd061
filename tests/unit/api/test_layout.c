// SPDX-License-Identifier: MIT
// The public header in C: its layout is what it was.
#include <kreplay/kreplay.h>

#include "exercise.h"

#define AT(record, field, offset) _Static_assert(offsetof(record, field) == (offset), #record "." #field);
#define SIZE(record, bytes)       _Static_assert(sizeof(record) == (bytes) && _Alignof(record) == 8, #record);
#define VALUE(name, value)        _Static_assert((name) == (value), #name);
#include "layout.inc"

int main(void)
{
    return exercise();
}
