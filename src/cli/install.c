// SPDX-License-Identifier: MIT
// Finding the installation.
#include "cli/install.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *kr_install_library(const char *name)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0)
        return NULL;
    self[length] = '\0';
    // Twice to the parent: from <prefix>/bin/kreplay to <prefix>.
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = '\0';
    }
    // The build tree has lib/, an installation what CMake calls the library folder, for example
    // lib/x86_64-linux-gnu.
    static const char *const folders[] = {"lib", KREPLAY_LIBDIR};
    char *path = NULL;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        free(path);
        if (asprintf(&path, "%s/%s/%s", self, folders[i], name) < 0)
            return NULL;
        if (access(path, R_OK) == 0)
            return path;
    }
    return path;
}
