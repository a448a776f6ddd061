// SPDX-License-Identifier: MIT
// Checks before the start: program, architectures, counters.
#include "cli/checks.h"

#include "counters/catalogue.h"
#include "kreplay/kreplay.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAIL(...) (snprintf(error, error_bytes, __VA_ARGS__), -1)

// ---- Architectures

// The driver's number is major * 10000 + minor * 100 + stepping; names write the last two in hexadecimal.
static unsigned node_version(const char *path)
{
    FILE *file = fopen(path, "re");
    unsigned version = 0;
    char key[64];
    unsigned long long value;
    while (file && fscanf(file, "%63s %llu", key, &value) == 2)
        if (strcmp(key, "gfx_target_version") == 0)
            version = (unsigned)value;
    if (file)
        fclose(file);
    return version;
}

static void add_arch(struct kr_arches *arches, unsigned version)
{
    char name[16];
    snprintf(name, sizeof(name), "gfx%u%x%x", version / 10000 % 1000, version / 100 % 100, version % 100);
    for (size_t i = 0; i < arches->count; i++)
        if (strcmp(arches->names[i], name) == 0)
            return;
    if (arches->count < KR_MAX_ARCHES)
        memcpy(arches->names[arches->count++], name, sizeof(name));
}

void kr_read_arches(const char *root, struct kr_arches *arches)
{
    *arches = (struct kr_arches){0};
    enum { MAX_NODES = 256 };
    for (int node = 0; node < MAX_NODES; node++) { // the driver numbers nodes without gaps
        char path[256];
        snprintf(path, sizeof(path), "%s/nodes/%d/properties", root, node);
        if (access(path, F_OK) != 0)
            return;
        unsigned version = node_version(path); // 0 for CPUs
        if (version)
            add_arch(arches, version);
    }
}

// ---- Program

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

int kr_find_program(const char *name, char **path, char *error, size_t error_bytes)
{
    *path = NULL;
    if (strchr(name, '/')) {
        if (access(name, F_OK) != 0)
            return FAIL("program %s not found", name);
        if (!is_file(name))
            return FAIL("program %s is not a file that can be run", name);
        if (access(name, X_OK) != 0)
            return FAIL("program %s cannot be run: %s", name, strerror(errno));
        *path = strdup(name);
        return *path ? 0 : FAIL("out of memory");
    }
    const char *list = getenv("PATH");
    if (!list)
        list = "/usr/bin:/bin";
    while (list && *name) {
        size_t length = strcspn(list, ":");
        if (asprintf(path, "%.*s%s%s", (int)length, list, length ? "/" : "", name) < 0) {
            *path = NULL;
            return FAIL("out of memory");
        }
        if (is_file(*path) && access(*path, X_OK) == 0)
            return 0;
        free(*path);
        *path = NULL;
        list = list[length] ? list + length + 1 : NULL;
    }
    return FAIL("program %s not found in PATH", name);
}

// ---- Counters

// Whether all counters of the group are known for the architecture.
static bool has_all(const struct kr_catalogue *catalogue, const struct kr_name_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (!kr_catalogue_counter(catalogue, group->names[i]))
            return false;
    return true;
}

static int check_group(const struct kr_name_group *group, const struct kr_arches *arches, char *error,
                       size_t error_bytes)
{
    bool known = false; // by one architecture, and fitting
    for (size_t i = 0; i < arches->count; i++) {
        const struct kr_catalogue *catalogue = kr_catalogue_find(arches->names[i]);
        if (!catalogue)
            continue;
        if (known && !has_all(catalogue, group))
            continue; // of several architectures, one that lacks a counter is left out
        if (kr_catalogue_check_group(catalogue, group->names, group->count, error, error_bytes) == 0) {
            known = true;
            continue;
        }
        if (has_all(catalogue, group))
            return -1; // it does not fit
    }
    return known ? 0 : -1; // the text is that of the last architecture asked
}

int kr_check_groups(const struct kr_groups *groups, const struct kr_arches *arches, char *error,
                    size_t error_bytes)
{
    bool any = false;
    for (size_t i = 0; i < arches->count; i++)
        any = any || kr_catalogue_find(arches->names[i]);
    if (!any)
        return FAIL("no counter catalogue for %s; there is one for %s",
                    arches->count ? arches->names[0] : "an unknown architecture", kr_catalogue_arches());
    for (size_t i = 0; i < groups->count; i++)
        if (check_group(&groups->groups[i], arches, error, error_bytes))
            return -1;
    return 0;
}

// Whether the list has a line that begins with the name.
static bool list_has(FILE *list, const char *name)
{
    char line[256];
    size_t length = strlen(name);
    rewind(list);
    while (fgets(line, sizeof(line), list))
        if (line[0] != '#' && strncmp(line, name, length) == 0 && strcspn(line, "\t \n") == length)
            return true;
    return false;
}

int kr_check_modelled(const struct kr_groups *groups, const char *path, char *error, size_t error_bytes)
{
    FILE *list = fopen(path, "re");
    if (!list)
        return FAIL("the software GPU is not there: %s: %s", path, strerror(errno));
    int status = 0;
    for (size_t g = 0; g < groups->count && !status; g++)
        for (size_t i = 0; i < groups->groups[g].count && !status; i++)
            if (!list_has(list, groups->groups[g].names[i]))
                status = FAIL(
                    "counter %s exists on gfx90a but is not modelled by the software GPU (those in %s are)",
                    groups->groups[g].names[i], path);
    fclose(list);
    return status;
}
