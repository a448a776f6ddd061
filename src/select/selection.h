// SPDX-License-Identifier: MIT
// Which dispatches are to be measured: by the kernel's name, by how often the kernel was launched before, by
// number. Decided in the profiled process, since only there the names are known in time.
#ifndef KR_SELECTION_H
#define KR_SELECTION_H

#include "kreplay/kreplay.h"

// Forms of a kernel's name, and their words on the command line.
#define KR_NAME_BASE_MAP(X)                                                                                  \
    X(FUNCTION, "function") /* the short form */                                                             \
    X(DEMANGLED, "demangled")                                                                                \
    X(MANGLED, "mangled")

enum kr_name_base {
#define X(name, word) KR_NAME_##name,
    KR_NAME_BASE_MAP(X)
#undef X
};

// As the options say it. A dispatch is measured if it passes all of them, in this order.
struct kr_selection_rules {
    const char
        *include; // POSIX extended regular expression, found somewhere in the demangled name; NULL = all
    const char *exclude;    // the same, of names that are left out; NULL = none
    const char *name;       // a whole name, or "regex:" and an expression; NULL = all
    enum kr_name_base base; // the form of the name that `name` is held against
    const char *iterations; // of each kernel, as kr_iterations_parse() reads them; NULL = all
    uint64_t most;          // of each kernel so many of the launches that pass the rules above; 0 = all
    uint64_t skip;          // so many of the dispatches that pass the rules above
    uint64_t count;         // measure so many; 0 = all
};

// __cxa_demangle of the C++ ABI, or NULL where the process has none: names are then taken as they are.
typedef char *(*kr_demangler)(const char *mangled, char *buffer, size_t *bytes, int *status);

struct kr_selection;

// On error *out is NULL and `error` says which rule cannot be read: KREPLAY_INVALID, KREPLAY_NO_MEMORY.
int kr_selection_create(const struct kr_selection_rules *rules, kr_demangler demangle,
                        struct kr_selection **out, char *error, size_t error_bytes);
void kr_selection_destroy(struct kr_selection *selection); // NULL is fine

// Whether the dispatch is to be measured. To be asked once for each dispatch of the program, since it counts
// them. Any thread.
bool kr_selection_wants(struct kr_selection *selection, const kreplay_dispatch *dispatch);

#endif
