// SPDX-License-Identifier: MIT
// Debug switches, KREPLAY_FAULT=name,name: each breaks one mechanism on purpose, so that the test of the
// promise which rests on it can be shown to fail. Never set outside tests.
#ifndef KR_FAULT_H
#define KR_FAULT_H

#include <stdint.h>

// X(name, text). The number is the bit.
#define KR_FAULT_MAP(X)                                                                                      \
    X(shadow, "the snapshot is not brought up to date")                                                      \
    X(compare, "comparisons find nothing")                                                                   \
    X(restore, "restores between passes do nothing")                                                         \
    X(finish, "the live result is not put back at the end")                                                  \
    X(complete, "the program's completion is given twice")                                                   \
    X(gate, "a window does not keep others out")                                                             \
    X(generation, "memory is written back without asking whether the allocation still lives")                \
    X(admit, "admission finds no objection")                                                                 \
    X(retry, "a failed copy is taken for done")                                                              \
    X(record, "dispatch records are not delivered")                                                          \
    X(bound, "waits have no end")                                                                            \
    X(output, "messages go to standard output")                                                              \
    X(times, "the program gets the times of a pass")                                                         \
    X(order, "the program's completion comes before the records")

enum kr_fault {
#define X(name, text) KR_FAULT_##name,
    KR_FAULT_MAP(X)
#undef X
        KR_FAULT_COUNT
};

// Bits of the names in `list` (comma separated, NULL = none). Unknown names are reported through `complain`.
uint32_t kr_fault_parse(const char *list, void (*complain)(void *arg, const char *name), void *arg);
const char *kr_fault_name(enum kr_fault fault);

#endif
