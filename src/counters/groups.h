// SPDX-License-Identifier: MIT
// Counter groups as people write them: names separated by blanks or commas, groups by ';'. Knows nothing of
// any GPU.
#ifndef KR_GROUPS_H
#define KR_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

struct kr_name_group {
    const char **names; // in the order given, each once
    size_t count;       // at least 1
};

struct kr_groups {
    struct kr_name_group *groups;
    size_t count;
    void *storage; // everything that the groups point into
};

// Parses `text`; blank text gives no groups. On error nothing is left to free and `error` (one line) says
// what is wrong: KREPLAY_INVALID (empty group, not a counter name), KREPLAY_UNSUPPORTED (a qualifier such as
// ":device=0"), KREPLAY_NO_MEMORY.
int kr_groups_parse(const char *text, struct kr_groups *out, char *error, size_t error_bytes);
// The text that kr_groups_parse() reads; the caller frees it. NULL: out of memory.
char *kr_groups_text(const struct kr_name_group *groups, size_t count);
bool kr_name_group_has(const struct kr_name_group *group, const char *name);
bool kr_groups_have(const struct kr_groups *groups, const char *name); // any of them
// All groups again and again, `rounds` (at least 1) times in all. KREPLAY_NO_MEMORY: they are as they were.
int kr_groups_repeat(struct kr_groups *groups, size_t rounds);
void kr_groups_free(struct kr_groups *groups); // leaves it empty; an empty one is fine

#endif
