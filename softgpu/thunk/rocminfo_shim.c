// SPDX-License-Identifier: MIT
// Preloaded into rocminfo only. rocminfo asks lsmod (before release 6) or sysfs for the amdgpu module and opens /dev/kfd
// before it calls the runtime; on a machine with no GPU these fail and it stops. The wrappers answer for the software
// GPU.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((visibility("default"))) FILE *popen(const char *command, const char *type);
__attribute__((visibility("default"))) int open(const char *path, int flags, ...);
__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode);

FILE *popen(const char *command, const char *type)
{
    FILE *(*next)(const char *, const char *) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "popen");
    if (!next)
        return NULL;
    return next(strstr(command, "lsmod") ? "echo amdgpu" : command, type);
}

int open(const char *path, int flags, ...)
{
    int (*next)(const char *, int, ...) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "open");
    if (!next)
        return -1;
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    return next(strcmp(path, "/dev/kfd") ? path : "/dev/null", flags, mode);
}

// The stream of the C++ library opens its file by this, and wants a descriptor behind it.
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    if (!next)
        return NULL;
    if (strcmp(path, "/sys/module/amdgpu/initstate") != 0)
        return next(path, mode);
    static const char state[] = "live\n";
    int fd = memfd_create("initstate", MFD_CLOEXEC);
    if (fd < 0 || write(fd, state, sizeof(state) - 1) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    return fdopen(fd, mode);
}
