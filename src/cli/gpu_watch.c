// SPDX-License-Identifier: MIT
// Notices that a process of the run opened the GPU.
#include "cli/gpu_watch.h"

#include "tool/settings.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

void kr_gpu_watch_start(struct kr_gpu_watch *watch, const char *path, uint64_t run_id)
{
    *watch = (struct kr_gpu_watch){.path = path, .run_id = run_id, .fd = -1};
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0)
        return;
    if (inotify_add_watch(fd, path, IN_OPEN) < 0) { // not there: no GPU of this kind
        close(fd);
        return;
    }
    watch->fd = fd;
    watch->watched = true;
}

static bool is_of_run(const char *pid, uint64_t run_id)
{
    char path[300], wanted[64];
    snprintf(path, sizeof(path), "/proc/%s/environ", pid);
    snprintf(wanted, sizeof(wanted), "%s=%" PRIu64, KR_ENV_RUN_ID, run_id);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    char *entry = NULL;
    size_t room = 0;
    bool found = false;
    while (!found && getdelim(&entry, &room, '\0', file) > 0)
        found = strcmp(entry, wanted) == 0;
    free(entry);
    fclose(file);
    return found;
}

// Parent of a process, 0 when it cannot be told. The name in the second field of stat can hold anything, so
// the fields are counted from its last ')'.
static pid_t parent_of(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t bytes = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[bytes] = '\0';
    const char *end = strrchr(text, ')');
    long parent = 0;
    return end && sscanf(end + 1, " %*c %ld", &parent) == 1 ? (pid_t)parent : 0;
}

static bool descends_from(pid_t pid, pid_t root)
{
    while (root > 0 && pid > 1 && pid != root)
        pid = parent_of(pid);
    return root > 0 && pid == root;
}

static bool has_open(const char *pid, const char *path)
{
    char folder[300];
    struct stat wanted;
    snprintf(folder, sizeof(folder), "/proc/%s/fd", pid);
    DIR *entries = stat(path, &wanted) == 0 ? opendir(folder) : NULL;
    if (!entries)
        return false;
    bool found = false;
    struct dirent *entry;
    while (!found && (entry = readdir(entries))) {
        // The file, not its name: links may lead to it.
        struct stat opened;
        found = entry->d_name[0] != '.' && fstatat(dirfd(entries), entry->d_name, &opened, 0) == 0 &&
                opened.st_dev == wanted.st_dev && opened.st_ino == wanted.st_ino;
    }
    closedir(entries);
    return found;
}

static bool run_has_open(const struct kr_gpu_watch *watch)
{
    DIR *processes = opendir("/proc");
    if (!processes)
        return false;
    bool found = false;
    struct dirent *entry;
    while (!found && (entry = readdir(processes)))
        found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
                (is_of_run(entry->d_name, watch->run_id) ||
                 descends_from((pid_t)strtol(entry->d_name, NULL, 10), watch->root)) &&
                has_open(entry->d_name, watch->path);
    closedir(processes);
    return found;
}

pid_t kr_gpu_watch_survivor(uint64_t run_id)
{
    DIR *processes = opendir("/proc");
    pid_t found = 0;
    struct dirent *entry;
    while (processes && !found && (entry = readdir(processes)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_of_run(entry->d_name, run_id))
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    if (processes)
        closedir(processes);
    return found;
}

void kr_gpu_watch_read(struct kr_gpu_watch *watch)
{
    if (watch->fd < 0)
        return;
    _Alignas(struct inotify_event) char events[4096];
    bool opened = false;
    while (read(watch->fd, events, sizeof(events)) > 0)
        opened = true;
    if (opened && !watch->used)
        watch->used = run_has_open(watch);
}

void kr_gpu_watch_stop(struct kr_gpu_watch *watch)
{
    if (watch->fd >= 0)
        close(watch->fd);
    watch->fd = -1;
}
