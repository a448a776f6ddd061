// SPDX-License-Identifier: MIT
// Folders and files of the log's tests.
#ifndef FILES_H
#define FILES_H

#include <stddef.h>
#include <stdint.h>

#define PATH_BYTES 256

// A path "<new temporary folder>/test.krlog" whose file does not exist yet; and its removal with the folder.
void path_make(char path[PATH_BYTES]);
void path_remove(const char *path);

uint8_t *file_read(const char *path, size_t *bytes); // free() it
void file_write(const char *path, const void *bytes, size_t count);
void file_set_byte(const char *path, size_t offset, uint8_t value);

#endif
