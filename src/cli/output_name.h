// SPDX-License-Identifier: MIT
// Where files go: placeholders, folders.
#ifndef KR_OUTPUT_NAME_H
#define KR_OUTPUT_NAME_H

#include <stddef.h>
#include <sys/types.h>

struct kr_output_place {
    const char *directory; // NULL = "."
    const char *file;      // NULL = "%hostname%/%pid%"
    char *const *program;  // argv of the program, NULL terminated; NULL = none
    pid_t pid;             // of the program
    unsigned pass;         // not 0: the files are in the folder pass_N of the directory
};

// "<directory>[/pass_N]/<file>" with its placeholders replaced (a file that begins with '/' brings its own directory); files are this + "_results.json" and so on.
// Placeholders are rocprofv3's: %name% or {name}, %h %p %j %r %s, %argN%, and %env{X}%, $ENV{X}, %q{X} for
// variables of the environment. What is none stays as it is. NULL when out of memory; the caller frees.
char *kr_output_prefix(const struct kr_output_place *place);

// Makes the folders in front of the last '/' of `prefix` and checks that a file can be made there. 0, or -1
// with a one-line text that names the folder and the cause.
int kr_output_prepare(const char *prefix, char *error, size_t error_bytes);

#endif
