// SPDX-License-Identifier: MIT
// Ready-made lists of counters, for those who do not know yet which they want.
#ifndef KR_SETS_H
#define KR_SETS_H

#define KR_COUNTER_SET_MAP(X)                                                                                \
    X(NONE, "none")                                                                                          \
    X(BASIC, "basic")                                                                                        \
    X(COMPUTE, "compute")                                                                                    \
    X(MEMORY, "memory")                                                                                      \
    X(FULL, "full")

enum kr_counter_set {
#define X(name, word) KR_SET_##name,
    KR_COUNTER_SET_MAP(X)
#undef X
};

// Names of counters of gfx90a, as kr_groups_parse() reads one group; NULL for KR_SET_NONE.
const char *kr_counter_set_names(enum kr_counter_set set);

#endif
