// SPDX-License-Identifier: MIT
#include "files.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define FILE_NAME "/test.krlog"

void path_make(char path[PATH_BYTES])
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, PATH_BYTES - sizeof(FILE_NAME), "%s/kr_log_XXXXXX", tmp != NULL ? tmp : "/tmp");
    assert_non_null(mkdtemp(path));
    strcat(path, FILE_NAME);
}

void path_remove(const char *path)
{
    char folder[PATH_BYTES];
    strcpy(folder, path);
    folder[strlen(path) - strlen(FILE_NAME)] = '\0';
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

uint8_t *file_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *content = malloc(*bytes + 1);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, *bytes, file), *bytes);
    fclose(file);
    return content;
}

void file_write(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

void file_set_byte(const char *path, size_t offset, uint8_t value)
{
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &value, 1, (off_t)offset), 1);
    close(fd);
}
