// SPDX-License-Identifier: MIT
#include "counters/groups.h"
#include "counters/text.h"
#include "kreplay/kreplay.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_SEPARATOR ';'

static const char name_separators[] = " \t\r\n\v\f,";

// KREPLAY_OK when `name` looks like a counter's name, whatever GPU there is.
static int check_name(const char *name, struct kr_text error)
{
    const char *at = name;
    bool dots = strstr(name, "__") != NULL; // as in CUPTI's sm__cycles_active.avg
    while (isalnum((unsigned char)*at) || *at == '_' || (dots && *at == '.' && at != name))
        at++;
    if (*at == '\0' && !isdigit((unsigned char)*name))
        return KREPLAY_OK;
    if (*at == ':' && at != name) {
        kr_text_add(&error, "counter \"%s\": the qualifier \"%s\" is not supported yet", name, at);
        return KREPLAY_UNSUPPORTED;
    }
    kr_text_add(&error, "\"%s\" is not a counter name", name);
    return KREPLAY_INVALID;
}

bool kr_name_group_has(const struct kr_name_group *group, const char *name)
{
    for (size_t i = 0; i < group->count; i++)
        if (strcmp(group->names[i], name) == 0)
            return true;
    return false;
}

bool kr_groups_have(const struct kr_groups *groups, const char *name)
{
    for (size_t i = 0; i < groups->count; i++)
        if (kr_name_group_has(&groups->groups[i], name))
            return true;
    return false;
}

// Cuts `text` into names. group->names has room for all.
static int parse_group(char *text, struct kr_name_group *group, struct kr_text error)
{
    char *rest = NULL;
    for (char *name = strtok_r(text, name_separators, &rest); name != NULL;
         name = strtok_r(NULL, name_separators, &rest)) {
        int rc = check_name(name, error);
        if (rc != KREPLAY_OK)
            return rc;
        if (!kr_name_group_has(group, name))
            group->names[group->count++] = name;
    }
    return KREPLAY_OK;
}

int kr_groups_parse(const char *text, struct kr_groups *out, char *error, size_t error_bytes)
{
    struct kr_text message = {.at = error, .room = error_bytes};
    *out = (struct kr_groups){0};
    if (text[strspn(text, name_separators)] == '\0')
        return KREPLAY_OK;

    // One block of memory: the groups, then room for as many names as the text could hold, then the text cut
    // up.
    size_t length = strlen(text);
    size_t group_count = 1;
    for (const char *at = text; *at != '\0'; at++)
        group_count += *at == GROUP_SEPARATOR;
    size_t name_room = length / 2 + 1;
    char *storage = malloc(group_count * sizeof(*out->groups) + name_room * sizeof(char *) + length + 1);
    if (storage == NULL) {
        kr_text_add(&message, "out of memory");
        return KREPLAY_NO_MEMORY;
    }
    struct kr_name_group *groups = (struct kr_name_group *)storage;
    const char **names = (const char **)(groups + group_count);
    char *copy = (char *)(names + name_room);
    memcpy(copy, text, length + 1);

    for (size_t i = 0; i < group_count; i++) {
        char *next = strchr(copy, GROUP_SEPARATOR);
        if (next != NULL)
            *next++ = '\0';
        groups[i] = (struct kr_name_group){.names = names};
        int rc = parse_group(copy, &groups[i], message);
        if (rc == KREPLAY_OK && groups[i].count == 0) {
            kr_text_add(&message, "counter group %zu of %zu is empty", i + 1, group_count);
            rc = KREPLAY_INVALID;
        }
        if (rc != KREPLAY_OK) {
            free(storage);
            return rc;
        }
        names += groups[i].count;
        copy = next;
    }
    *out = (struct kr_groups){.groups = groups, .count = group_count, .storage = storage};
    return KREPLAY_OK;
}

char *kr_groups_text(const struct kr_name_group *groups, size_t count)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        return NULL;
    for (size_t g = 0; g < count; g++) {
        if (g > 0)
            putc(GROUP_SEPARATOR, stream);
        for (size_t i = 0; i < groups[g].count; i++)
            fprintf(stream, "%s%s", i == 0 ? "" : " ", groups[g].names[i]);
    }
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

int kr_groups_repeat(struct kr_groups *groups, size_t rounds)
{
    struct kr_groups repeated;
    struct kr_name_group *list = calloc(rounds * groups->count + 1, sizeof(*list));
    if (list == NULL)
        return KREPLAY_NO_MEMORY;
    for (size_t i = 0; i < rounds * groups->count; i++)
        list[i] = groups->groups[i % groups->count];
    char error[128], *text = kr_groups_text(list, rounds * groups->count);
    int rc = text != NULL ? kr_groups_parse(text, &repeated, error, sizeof(error)) : KREPLAY_NO_MEMORY;
    free(text);
    free(list);
    if (rc != KREPLAY_OK)
        return rc;
    kr_groups_free(groups);
    *groups = repeated;
    return KREPLAY_OK;
}

void kr_groups_free(struct kr_groups *groups)
{
    free(groups->storage);
    *groups = (struct kr_groups){0};
}
